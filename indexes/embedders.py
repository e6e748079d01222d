"""Create embedders by the name given to `--embedder`.

`openai[:MODEL]` asks an OpenAI-compatible `/v1/embeddings` endpoint. A folder, or a name on a model
hub (`organisation/model[@revision]`), is run by onnxruntime where it has an ONNX file, else by
sentence-transformers. Another kind is another file and a branch in `make_embedder`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from ufo.indexes.embed_api import DEFAULT_MODEL, OPENAI, ApiEmbedder
from ufo.indexes.embed_local import EXTRA, LocalEmbedder, OnnxEmbedder
from ufo.indexes.vectors import Vectors
from ufo.schemas.errors import IndexUnusable, UsageError
from ufo.schemas.models import folder_of, is_hub_name, onnx_file

ALLOWED: Final = (
    "openai or openai:MODEL (a /v1/embeddings endpoint), the folder of an ONNX or "
    "sentence-transformers model, or such a model's name on a model hub, for example "
    "sentence-transformers/all-MiniLM-L6-v2"
)
_REBUILD: Final = f"build the index again with `ufo index build --embedder …`: {ALLOWED}"


class Embedder(Protocol):
    """A model that maps texts to vectors; an index has vectors of one `name` and `version`."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an array (n, dimension) with a row of length 1 for each text; rows may be zero."""
        ...


def checked_name(name: str) -> str:
    """Return the full name of an embedder, without access to a model hub.

    Raises:
        UsageError: the name is not one of an embedder.
    """
    kind, _, model = name.partition(":")
    if kind == OPENAI:
        return f"{OPENAI}:{model or DEFAULT_MODEL}"
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path.resolve())
    if is_hub_name(name):
        return name
    raise UsageError(f"unknown embedder {name!r}; allowed: {ALLOWED}")


def make_embedder(name: str) -> Embedder:
    """Load the embedder of a name that `checked_name` returned.

    Raises:
        UsageError: a key, a package or a model is missing; the message says which.
    """
    kind, _, model = name.partition(":")
    if kind == OPENAI:
        return ApiEmbedder(model)
    folder = folder_of(name, EXTRA)
    onnx = onnx_file(folder)
    if onnx is not None:
        return OnnxEmbedder(name, Path(folder), onnx)
    return LocalEmbedder(name, Path(folder))


def embedder_of(folder: Path, manifest: Mapping[str, Any], wanted: str | None) -> Embedder:
    """Return the embedder of an index's vectors; `wanted` must be the same model if given.

    Raises:
        IndexUnusable: the index has no vectors, or they are of another embedder or of one that
            cannot be used here.
    """
    made = manifest.get("embedder")
    if not made:
        raise IndexUnusable(f"{folder} has no vectors: use --retriever bm25, or {_REBUILD}")
    name = str(made["name"])
    chosen = name if wanted is None else checked_name(wanted)
    if chosen != name and f"{OPENAI}:" in (name + chosen):
        raise IndexUnusable(_another(folder, name, chosen))
    try:
        embedder = make_embedder(chosen)
    except UsageError as error:
        raise IndexUnusable(
            f"the vectors of {folder} were made by the embedder {name!r}: {error}"
        ) from error
    # The version of a local model is a checksum, so its folder may differ from the build's. The
    # version of an endpoint is "" and its dimension 0 until its first reply.
    for what, now in (("version", embedder.version), ("dimension", embedder.dimension)):
        if now and now != made[what]:
            raise IndexUnusable(
                f"{_another(folder, name, chosen)} (its {what} is {now!r}, theirs {made[what]!r})"
            )
    return embedder


def _another(folder: Path, name: str, chosen: str) -> str:
    if name == chosen:
        return f"the embedder {name!r} has changed since it made vectors of {folder}; {_REBUILD}"
    return (
        f"the vectors of {folder} were made by the embedder {name!r}, not {chosen!r}; leave "
        f"--embedder out, or {_REBUILD}"
    )


def description(embedder: Embedder) -> dict[str, Any]:
    """Return the manifest's entry for an embedder."""
    return {
        "name": embedder.name,
        "version": embedder.version,
        "dimension": embedder.dimension,
    }
