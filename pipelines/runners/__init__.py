"""Where a run runs: in processes of this machine, or as a job of an engine."""
