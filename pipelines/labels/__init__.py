"""Sample fact units for people to label, and import their labels."""
