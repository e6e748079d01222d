"""The Beam shell of the steps: life cycle, keys, side outputs. What they do is one folder up."""

from transforms.beam import coders

coders.register()
