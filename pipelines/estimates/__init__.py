"""What a run will ask of its models (`--dry_run`): counted from the requests, none of them sent."""
