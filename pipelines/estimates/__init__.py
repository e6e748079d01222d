"""What a run will cost (`--dry_run`): its steps gone through without asking anyone."""
