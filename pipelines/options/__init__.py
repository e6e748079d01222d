"""What a run may be told: flags, the configuration file, Beam's own options; checked here."""
