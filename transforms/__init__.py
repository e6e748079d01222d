"""The steps: one file each, pure functions inside, Beam only at the edge."""
