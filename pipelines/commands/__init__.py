"""Define the commands of `ufo`: their arguments, their output and their exit codes."""
