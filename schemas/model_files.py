"""Load the files of a model, from a folder or from a model hub.

Only the needed files are fetched: the ONNX file if there is one, else the weights. Code that comes
with a model is never run.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from hashlib import file_digest, sha256
from typing import Any, Final

from ufo.schemas.dependencies import need
from ufo.schemas.errors import UsageError

TEXTS: Final = (".json", ".txt", ".model")
"""The extensions of settings and vocabularies."""
TENSORS: Final = (".safetensors", ".bin")
"""The extensions of weights."""
_ONNX: Final = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_WEIGHTS: Final = ("*.safetensors", "pytorch_model*.bin")  # the first that exists is used
_HUB_NAME: Final = re.compile(r"\w[\w.-]*/\w[\w.-]*(@\w[\w./-]*)?", re.ASCII)


def is_hub_name(name: str) -> bool:
    """Return whether the name is like `organisation/model` or `organisation/model@revision`."""
    return _HUB_NAME.fullmatch(name) is not None


def model_folder(name: str, extra: str, weights: bool = True) -> str:
    """Return the folder with a model's files: `name` itself, or a local copy from a model hub.

    Args:
        name: A folder, or a name on the hub (`organisation/model[@revision]`).
        extra: The optional dependency (`ufo-factuality[extra]`) that an error recommends.
        weights: Whether the weights are needed, or only the tokenizer and settings.

    Raises:
        UsageError: the model does not exist, or the hub cannot be reached.
    """
    if os.path.isdir(name):
        return name
    need(extra, f"there is no folder {name!r}; to fetch a model of that name", ["huggingface_hub"])
    # Slow to import, and needed for models of a hub alone.
    from huggingface_hub import snapshot_download

    repository, _, revision = name.partition("@")
    snapshot = partial(snapshot_download, repository, revision=revision or None)
    try:
        kept = snapshot(local_files_only=True)
        if os.path.isfile(os.path.join(kept, "config.json")) and (_has_model(kept) or not weights):
            return str(kept)
    except Exception:  # noqa: S110 - no local copy: it is fetched below
        pass
    try:
        texts = [f"*{ending}" for ending in TEXTS]
        if not weights:
            return str(snapshot(allow_patterns=texts))
        models = [*_ONNX, *(f"{path}_data" for path in _ONNX)]
        folder = str(snapshot(allow_patterns=texts + models))
        for pattern in _WEIGHTS:
            if not _has_model(folder):
                folder = snapshot(allow_patterns=[pattern])
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        raise UsageError(
            f"there is no folder {name!r}, and no model of that name could be fetched from the "
            f"model hub: {type(error).__name__}: {reason}. Without a network, copy the model's "
            "files into a folder and name that."
        ) from error
    return folder


def onnx_file(folder: str) -> str | None:
    """Return the path of the folder's ONNX file, None where it has none."""
    paths = (os.path.join(folder, name) for name in _ONNX)
    return next((path for path in paths if os.path.isfile(path)), None)


def checksum(folder: str, paths: Iterable[str]) -> str:
    """Return a checksum of these files' content and of their places in the folder."""
    whole = sha256()
    for path in sorted(paths):
        whole.update(f"{os.path.relpath(path, folder)} {digest(path)}\n".encode())
    return whole.hexdigest()


def digest(path: str) -> str:
    """Return a file's SHA-256; it is read again only where its size or time has changed."""
    stat = os.stat(path)
    return _digest(os.path.realpath(path), stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _digest(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _has_model(folder: str) -> bool:
    return onnx_file(folder) is not None or any(
        name.endswith(TENSORS) for name in os.listdir(folder)
    )


class OnnxModel:
    """An ONNX file of a text encoder, run by onnxruntime on one thread, one text at a time.

    On one thread a batch is not faster. A quantised model scales its numbers by all values of a
    batch, so the outputs for a text would depend on the other texts.
    """

    def __init__(self, path: str) -> None:
        self._session = onnx_session(path)
        self._inputs = [one.name for one in self._session.get_inputs()]
        unknown = set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise ValueError(f"{path} has unknown inputs: {', '.join(sorted(unknown))}")
        self.outputs = [one.name for one in self._session.get_outputs()]

    def run(self, ids: Sequence[int], types: Sequence[int], output: str) -> Any:
        """Return the named output, an array, for the tokens of one text."""
        columns = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
        import numpy as np  # slow to import, and not needed to judge by rules

        inputs = {name: np.array([columns[name]], dtype=np.int64) for name in self._inputs}
        return self._session.run([output], inputs)[0][0]


def onnx_session(path: str) -> Any:
    """Return the session of a model in an ONNX file, on one thread of the processor."""
    # Since 1.29 it sends telemetry by a thread, for which a forked child would wait for ever.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # heavy, and needed by few commands

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        path,
        options,
        providers=["CPUExecutionProvider"],
        # The fused kernel takes four times as long as the sum and the normalisation that it
        # replaces (onnxruntime 1.32, 60 x 384 numbers).
        disabled_optimizers=["SkipLayerNormFusion"],
    )
