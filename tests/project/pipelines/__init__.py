"""A project's own package, called like one of ufo."""
