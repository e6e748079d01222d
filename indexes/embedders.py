"""The seam of embedders: texts to unit vectors, and which embedder made the vectors of an index.

`lsa` is fitted to the passages when the index is built and needs nothing from outside;
`openai[:MODEL]` asks an OpenAI-compatible endpoint; anything else is the folder of a
sentence-transformers model. Another kind is another file and one line in `make_embedder`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from schemas.errors import IndexUnusable, UsageError

LSA = "lsa"
OPENAI = "openai"

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Texts to vectors. Vectors of one index come from one `name`, `version` and `dimension`."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, of length 1; a zero row for a text that says nothing to it."""
        ...


def unit_rows(vectors: npt.NDArray[Any]) -> Vectors:
    """Return the rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
    return scaled


def checked_name(name: str) -> str:
    """Return the name under which an embedder is known; UsageError where there is none such."""
    kind, _, model = name.partition(":")
    if kind == LSA and not model:
        return LSA
    if kind == OPENAI:
        from indexes.embed_api import DEFAULT_MODEL

        return f"{OPENAI}:{model or DEFAULT_MODEL}"
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path.resolve())
    raise UsageError(
        f"unknown embedder {name!r}; allowed: {LSA}, {OPENAI}, {OPENAI}:MODEL, or the folder of a "
        "sentence-transformers model"
    )


def make_embedder(name: str, folder: Path, *, fit: bool = False) -> Embedder:
    """Return the embedder of that (checked) name; `fit` fits one that learns to the texts."""
    if name == LSA:
        from indexes.lsa import Lsa, fit_lsa

        if fit:
            fit_lsa(folder)
        return Lsa(folder)
    kind, _, model = name.partition(":")
    if kind == OPENAI:
        from indexes.embed_api import ApiEmbedder

        return ApiEmbedder(model)
    from indexes.embed_local import LocalEmbedder

    return LocalEmbedder(Path(name))


def file_of(name: str) -> str | None:
    """Return the name of the file in the index folder that an embedder was fitted into."""
    return "lsa.npz" if name == LSA else None


def embedder_of(folder: Path, manifest: dict[str, Any], wanted: str | None) -> Embedder:
    """Return the embedder that made the vectors of an index, ready for queries.

    Raises IndexUnusable where the index has no vectors, where `wanted` is another embedder, and
    where what is installed under that name is not what made them.
    """
    made = manifest.get("embedder")
    rebuild = "build the index again with `ufo index build --embedder …`"
    if not made:
        raise IndexUnusable(f"{folder} has no vectors: use --retriever bm25, or {rebuild}")
    name = str(made["name"])
    if wanted is not None and checked_name(wanted) != name:
        raise IndexUnusable(
            f"the vectors of {folder} were made by the embedder {name!r}, not {wanted!r}; leave "
            f"--embedder out, or {rebuild}"
        )
    try:
        embedder = make_embedder(name, folder)
    except UsageError as error:
        raise IndexUnusable(f"{folder} was made by the embedder {name!r}: {error}") from error
    check_same(embedder, made)
    return embedder


def check_same(embedder: Embedder, made: dict[str, Any]) -> None:
    """Raise IndexUnusable unless `embedder` is the one that `made` describes.

    An endpoint tells its version with its first answer: until then it is "", its dimension 0.
    """
    for what, now in (("version", embedder.version), ("dimension", embedder.dimension)):
        if now and now != made[what]:
            raise IndexUnusable(
                f"the embedder {embedder.name!r} is not the one that made the vectors: its {what} "
                f"is {now!r}, theirs {made[what]!r}; build the index again with `ufo index build`"
            )


def description(embedder: Embedder) -> dict[str, Any]:
    """Return what the manifest says of the embedder."""
    return {
        "name": embedder.name,
        "version": embedder.version,
        "dimension": embedder.dimension,
    }
