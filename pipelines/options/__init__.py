"""The options of a run: flags, the configuration file and Beam's own options, checked."""
