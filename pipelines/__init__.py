"""The commands: Beam pipelines, their options, and the command line."""
