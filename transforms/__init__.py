"""The steps of the pipeline as plain functions, one file each; `ufo.transforms.beam` wraps them."""
