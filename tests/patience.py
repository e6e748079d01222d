"""How long a browser waits for what must come: a busy machine may take long, and no test decides by
time."""

PATIENCE = 120_000  # milliseconds
