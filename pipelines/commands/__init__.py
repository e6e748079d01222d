"""What each command of `ufo` reads and prints, and the flags they share."""
