"""Turn texts into vectors, by the embedder that `--embedder` names.

`openai[:MODEL]` asks an OpenAI-compatible `/v1/embeddings` endpoint; its key is `OPENAI_API_KEY`,
its address `OPENAI_BASE_URL`, and neither is stored in the index. A folder, or a name on a model
hub (`organisation/model[@revision]`), is run by onnxruntime where it has `model.onnx` or
`onnx/model.onnx` beside `tokenizer.json`, else by sentence-transformers, which needs an extra.
Token vectors are pooled by mean or first token (CLS), then normalised.
"""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ufo.schemas import model_files
from ufo.schemas.dependencies import need
from ufo.schemas.errors import IndexUnusable, RunError, UsageError
from ufo.schemas.text import quantity

Vectors = npt.NDArray[np.float32]


def unit_rows(vectors: npt.NDArray[Any]) -> Vectors:
    """Return the rows scaled to length 1; zero rows stay zero."""
    with np.errstate(all="ignore"):  # infinity becomes NaN, for which `vectors_of` looks
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Vectors = np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
    return scaled


OPENAI = "openai"
DEFAULT_MODEL = "text-embedding-3-small"

_BATCH = 64  # texts a request, or at once
_AT_ONCE = 8
_RETRIES = 5  # by the client, which respects `retry-after`
_EMPTY = " "  # endpoints refuse an empty text


class ApiEmbedder:
    """An Embedder that asks an endpoint; `version` and `dimension` are set by its first reply."""

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self._model = model
        self.name = f"{OPENAI}:{model}"
        self.version = ""
        self.dimension = 0
        if not os.environ.get("OPENAI_API_KEY"):
            raise UsageError(
                f"the embedder {self.name!r} needs a key; set OPENAI_API_KEY (any text for a "
                "server that needs none), and OPENAI_BASE_URL for your own server"
            )
        need("llm", f"the embedder {self.name}")
        import openai  # takes a second

        self._api_error = openai.OpenAIError
        self._client = openai.OpenAI(max_retries=_RETRIES)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`.

        Raises:
            RunError: the endpoint fails, or its replies are inconsistent.
        """
        batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.dimension), np.float32)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return np.concatenate(list(pool.map(self._ask, batches)))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str]) -> Vectors:
        client = self._client
        try:
            reply = client.embeddings.create(
                model=self._model,
                input=[text if text.strip() else _EMPTY for text in texts],
                encoding_format="float",
            )
        except self._api_error as error:
            raise RunError(
                f"the embedder {self.name!r} at {client.base_url} failed: {error}"
            ) from None
        rows = sorted(reply.data, key=lambda row: row.index)
        sizes = {len(row.embedding) for row in rows}
        if len(rows) != len(texts) or len(sizes) != 1:
            problem = (
                f"answered {quantity(len(texts), 'text')} with {quantity(len(rows), 'vector')} of "
                f"the dimensions {sorted(sizes)}; one vector a text is needed, all of one dimension"
            )
            raise RunError(f"the embedder {self.name!r} at {client.base_url} {problem}")
        version, dimension = str(reply.model or self._model), sizes.pop()
        if self.version and (version, dimension) != (self.version, self.dimension):
            raise RunError(
                f"the embedder {self.name!r} at {client.base_url} changed its model between "
                f"requests: {version!r} of {quantity(dimension, 'dimension')} after "
                f"{self.version!r} of {self.dimension}; run the command again"
            )
        self.version, self.dimension = version, dimension
        return unit_rows(np.array([row.embedding for row in rows], np.float32))


EXTRA = "hub"
_KNOWN_MODULES = ("Transformer", "Pooling", "Normalize")
_CLS, _MEAN = "cls", "mean"
_OLD_NAMES = {"pooling_mode_cls_token": _CLS, "pooling_mode_mean_tokens": _MEAN}
_USUAL_TOKENS = 512
_WHOLE = "sentence_embedding"  # the name of an output that is already pooled


class OnnxEmbedder:
    """An Embedder by an ONNX file; `version` is a hash of settings, vocabulary and model."""

    def __init__(self, name: str, folder: Path, onnx: str) -> None:
        need("onnx", f"the embedder {name}")
        from tokenizers import Tokenizer  # of the extra

        try:
            self._pooling = _pooling_of(folder)
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(_tokens_of(folder))
            self._model = model_files.OnnxModel(onnx)
            outputs = self._model.outputs
            self._output = _WHOLE if _WHOLE in outputs else outputs[0]
            self.dimension = len(self._vector(""))
        except UsageError:
            raise
        # Both libraries raise plain Exception for an invalid file.
        except Exception as error:
            raise UsageError(f"{folder} cannot be used as an embedder: {error}") from error
        self.name = name
        self.version = _version(folder, model_files.TEXTS, onnx)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        # onnxruntime releases the GIL while it computes.
        with ThreadPoolExecutor(min(len(texts), os.cpu_count() or 1)) as threads:
            return unit_rows(np.stack(list(threads.map(self._vector, texts))))

    def _vector(self, text: str) -> Vectors:
        encoding = self._tokenizer.encode(text)
        vectors: Vectors = self._model.run(encoding.ids, encoding.type_ids, self._output)
        if vectors.ndim == 1:
            return vectors
        pooled: Vectors = vectors[0] if self._pooling == _CLS else vectors.mean(axis=0)
        return pooled


class LocalEmbedder:
    """An Embedder by sentence-transformers; `version` hashes settings, vocabulary and weights."""

    def __init__(self, name: str, folder: Path) -> None:
        packages = ("sentence_transformers", "transformers")
        need(EXTRA, f"the embedder {name} has no ONNX file and", packages)
        # Of an extra.
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # each process would show one while it loads weights
        try:
            # A folder without a model is an error, not a download.
            self._model: Any = SentenceTransformer(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageError(f"{folder} is not a sentence-transformers model: {error}") from None
        self.name = name
        self.version = _version(folder, (*model_files.TEXTS, *model_files.TENSORS))
        self.dimension = int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ufo.indexes.embedders.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(
            self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        )


def _version(folder: Path, suffixes: Sequence[str], *more: str) -> str:
    """Return a hash of the content of a model's files, since training leaves their sizes equal."""
    files = (str(path) for path in folder.rglob("*") if path.is_file() and path.suffix in suffixes)
    return model_files.checksum(str(folder), [*files, *more])[:16]


def _pooling_of(folder: Path) -> str:
    """Return the pooling of token vectors, cls or mean; mean where no settings name it."""
    modules = _settings(folder / "modules.json") or []
    for module in modules:
        kind = str(module["type"]).rpartition(".")[2]
        if kind not in _KNOWN_MODULES:
            raise UsageError(
                f"{folder} has a module {kind!r} that its ONNX file does not hold; copy the model "
                "with its weights and without the ONNX file into a folder, and name that: it is "
                "then run by sentence-transformers"
            )
        if kind == "Pooling":
            settings = _settings(folder / module["path"] / "config.json") or {}
            named = settings.get("pooling_mode") or [
                _OLD_NAMES.get(name, name)
                for name, used in settings.items()
                if name.startswith("pooling_mode_") and used
            ]
            modes = [named] if isinstance(named, str) else list(named)
            if modes not in ([_CLS], [_MEAN]):
                raise UsageError(f"{folder} pools by {modes}; known are {_CLS} and {_MEAN}")
            return str(modes[0])
    return _MEAN


def _tokens_of(folder: Path) -> int:
    """Return the number of tokens after which a text is truncated."""
    limits = (
        (_settings(folder / "sentence_bert_config.json") or {}).get("max_seq_length"),
        (_settings(folder / "config.json") or {}).get("max_position_embeddings"),
    )
    return min([int(limit) for limit in limits if limit] or [_USUAL_TOKENS])


def _settings(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


ALLOWED: Final = (
    "openai or openai:MODEL (a /v1/embeddings endpoint), the folder of an ONNX or "
    "sentence-transformers model, or such a model's name on a model hub, for example "
    "sentence-transformers/all-MiniLM-L6-v2"
)
_REBUILD: Final = f"build the index again with `ufo index build --embedder …`: {ALLOWED}"


class Embedder(Protocol):
    """A model that maps texts to vectors; an index has vectors of one `name` and `version`."""

    name: str
    version: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an array (n, dimension) with a row of length 1 for each text; rows may be zero."""
        ...


def vectors_of(embedder: Embedder, texts: Sequence[str], dimension: int = 0) -> Vectors:
    """Return an embedder's vectors of texts, after a check that they can be used.

    `dimension` is that of the vectors to compare them with; 0 for the embedder's own.

    Raises:
        RunError: there is not one vector a text, of this dimension and of finite numbers.
    """
    problem = ""
    try:
        vectors = np.asarray(embedder.embed(texts), np.float32)
    except (TypeError, ValueError) as error:  # for example vectors of several lengths
        raise RunError(_faulty(embedder, f"failed: {error}")) from error
    wanted = dimension or embedder.dimension
    if vectors.ndim != 2 or len(vectors) != len(texts):
        of_texts = quantity(len(texts), "text")
        problem = f"made an array of {vectors.shape} of {of_texts}, not one vector a text"
    elif wanted and len(vectors) and vectors.shape[1] != wanted:
        problem = (
            f"made vectors of {quantity(vectors.shape[1], 'dimension')}, and {wanted} are needed"
        )
    elif not np.isfinite(vectors).all():
        problem = "made vectors with NaN or infinity"
    if problem:
        raise RunError(_faulty(embedder, problem))
    return vectors


def _faulty(embedder: Embedder, problem: str) -> str:
    return (
        f"the embedder {embedder.name!r} {problem}; check its model or endpoint, or build the "
        "index with another --embedder"
    )


def checked_name(name: str) -> str:
    """Return the full name of an embedder, without access to a model hub.

    Raises:
        UsageError: the name is not an embedder's.
    """
    kind, _, model = name.partition(":")
    if kind == OPENAI:
        return f"{OPENAI}:{model or DEFAULT_MODEL}"
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path.resolve())
    if model_files.is_hub_name(name):
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
    folder = model_files.model_folder(name, EXTRA)
    onnx = model_files.onnx_file(folder)
    if onnx is not None:
        return OnnxEmbedder(name, Path(folder), onnx)
    return LocalEmbedder(name, Path(folder))


def embedder_of(folder: Path, manifest: Mapping[str, Any], wanted: str | None) -> Embedder:
    """Return the embedder of an index's vectors; `wanted` must be the same model if given.

    Raises:
        IndexUnusable: the index has no vectors, they are from another embedder, or their embedder
            cannot be used here.
    """
    described = manifest.get("embedder")
    if not described:
        raise IndexUnusable(f"{folder} has no vectors: use --retriever bm25, or {_REBUILD}")
    name = str(described["name"])
    chosen = name if wanted is None else checked_name(wanted)
    if chosen != name and f"{OPENAI}:" in (name + chosen):
        raise IndexUnusable(_another(folder, name, chosen))
    try:
        embedder = make_embedder(chosen)
    except UsageError as error:
        raise IndexUnusable(
            f"the vectors of {folder} were made by the embedder {name!r}: {error}"
        ) from error
    check_same(folder, described, embedder)
    return embedder


def check_same(folder: Path, described: Mapping[str, Any], embedder: Embedder) -> None:
    """Check that an embedder is the one that made an index's vectors, `described` in its manifest.

    Raises:
        IndexUnusable: it is another, or has changed.
    """
    # The version of a local model is a checksum, so its folder may differ from the build's. The
    # version of an endpoint is "" and its dimension 0 until its first reply.
    for what, now in (("version", embedder.version), ("dimension", embedder.dimension)):
        if now and now != described[what]:
            raise IndexUnusable(
                f"{_another(folder, str(described['name']), embedder.name)} (its {what} is "
                f"{now!r}, theirs {described[what]!r})"
            )


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
