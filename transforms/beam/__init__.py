"""The Beam shell of the steps: life cycle, keys, side outputs. What a step does is one folder up."""

from transforms.beam import coders

coders.register()
