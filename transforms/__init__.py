"""The steps of the pipeline as plain functions, one file each; `transforms.beam` wraps them."""
