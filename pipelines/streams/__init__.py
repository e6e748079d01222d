"""Files that go on arriving (`--streaming`): windows, each a run of its own."""
