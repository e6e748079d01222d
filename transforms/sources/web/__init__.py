"""The web: searching it, fetching its pages safely, and taking their text. Knows no Beam."""
