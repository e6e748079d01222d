"""Ask language models through one interface, `complete(request) → completion`, without Beam."""
