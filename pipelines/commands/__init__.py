"""What each command of `ufo` reads and prints, and how it begins and ends."""
