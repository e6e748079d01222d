"""Search the web, fetch its pages safely, and extract their text. Imports no Beam."""
