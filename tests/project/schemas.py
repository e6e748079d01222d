"""A project's own module, called like a package of ufo."""

TABLES = ("answers",)
