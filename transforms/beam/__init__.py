"""Run the steps of `transforms` on Beam: life cycle, keys, side outputs."""

from ufo.transforms.beam.files import register

register()
