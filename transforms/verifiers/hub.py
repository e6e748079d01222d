"""The verifier by a cross-encoder: any sequence classifier in a folder or on a model hub.

It is run by onnxruntime where it has an ONNX file, else by transformers (extra `hub`). Its family
(`ufo.transforms.verifiers.families`) defines the input format and the meaning of the outputs.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from tokenizers import Tokenizer

from ufo.schemas.errors import UsageError
from ufo.schemas.extras import missing
from ufo.schemas.models import folder_of, onnx_file
from ufo.transforms.verifiers.base import Pair, Probabilities, Verifier
from ufo.transforms.verifiers.engines import Engine, OnnxEngine
from ufo.transforms.verifiers.families import (
    HHEM,
    Family,
    family_of,
    is_hhem,
    outputs_of,
    probabilities,
)
from ufo.transforms.verifiers.folders import (
    EXTRA,
    checksum,
    config_of,
    said_of_tokenizer,
)
from ufo.transforms.verifiers.windows import Reader, best

_USUAL: Final = 512  # tokens, of what is limited by nothing but memory
_BEFORE_FIRST: Final = 2  # RoBERTa counts positions from its padding token, which is 1
_LIKE_ROBERTA: Final = ("camembert", "longformer", "mpnet")
_EOS: Final = {"deberta-v2": "[SEP]", "roberta": "</s>"}
_FOUNDATION: Final = "google/flan-t5-base"


class HubVerifier(Verifier):
    """A cross-encoder in a folder, or of a model hub (`organisation/model[@revision]`).

    A passage that is too long for the model is cut at sentence ends, and the best window counts.
    """

    def __init__(self, model: str) -> None:
        self._given = model
        self.name = os.path.basename(os.path.abspath(model)) if os.path.isdir(model) else model
        self._reader: Reader | None = None
        self._engine: Engine | None = None

    def unavailable(self) -> str | None:
        """Return an error message if files or packages are missing, or labels are unknown."""
        try:
            outputs_of(self.name, self._family, self._config)
            self._eos()
            needs = self._needs()
        except UsageError as error:
            return error.message
        absent = missing(EXTRA, needs)
        return f"it needs {absent}" if absent else None

    def open(self) -> None:
        """Load the model and its tokenizer."""
        self._outputs = outputs_of(self.name, self._family, self._config)
        self._engine = self._computed()
        self._reader = Reader(self._tokenizer(), self._family, self._tokens(), self._eos())

    def close(self) -> None:
        """Release the model."""
        self._engine = self._reader = None

    def fingerprint(self) -> str:
        """Return a checksum of the model's files."""
        own = checksum(self._folder)
        return (
            own if self._texts == self._folder else f"{own}-{checksum(self._texts, weights=False)}"
        )

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order."""
        return [self._predicted(pair) for pair in pairs]

    def _predicted(self, pair: Pair) -> Probabilities:
        assert self._reader is not None
        assert self._engine is not None
        passage = f"{pair.title}. {pair.passage}" if pair.title else pair.passage
        windows = self._reader.read(pair.claim, passage)
        return best(
            [probabilities(self._engine.logits(window), self._outputs) for window in windows]
        )

    @cached_property
    def _folder(self) -> str:
        return folder_of(self._given, EXTRA)

    @cached_property
    def _config(self) -> dict[str, Any]:
        return config_of(self._folder)

    @cached_property
    def _family(self) -> Family:
        return family_of(self._given, self._config)

    @cached_property
    def _texts(self) -> str:
        """The folder with the tokenizer: HHEM's is its foundation's."""
        if not self._of_own_code():
            return self._folder
        foundation = str(self._config.get("foundation") or _FOUNDATION)
        return folder_of(foundation, EXTRA, weights=False)

    def _of_own_code(self) -> bool:
        return is_hhem(self._config) and onnx_file(self._folder) is None

    def _needs(self) -> list[str]:
        texts = os.path.join(self._texts, "tokenizer.json")
        if onnx_file(self._folder) is None:
            return ["tokenizers", "torch", "transformers"]
        more = [] if os.path.isfile(texts) else ["transformers"]
        return ["tokenizers", "onnxruntime", *more]

    def _computed(self) -> Engine:
        onnx = onnx_file(self._folder)
        if onnx:
            return OnnxEngine(onnx, self._config)
        from ufo.transforms.verifiers.torch_engines import HhemEngine, TorchEngine

        if self._of_own_code():
            return HhemEngine(self._folder, self._texts)
        return TorchEngine(self._folder, self._config)

    def _tokenizer(self) -> Tokenizer:
        path = os.path.join(self._texts, "tokenizer.json")
        if os.path.isfile(path):
            return Tokenizer.from_file(path)
        from transformers import AutoTokenizer

        made: Tokenizer = AutoTokenizer.from_pretrained(
            self._texts, local_files_only=True, trust_remote_code=False
        ).backend_tokenizer
        return made

    def _eos(self) -> str:
        """Return the tokenizer's end-of-text token, "" where the family's template has none."""
        if "{eos}" not in self._family.template:
            return ""
        said = said_of_tokenizer(self._texts).get("eos_token")
        said = said["content"] if isinstance(said, dict) else said
        found = said or _EOS.get(str(self._config.get("model_type", "")))
        if not found:
            raise UsageError(
                f"nothing says how a text ends for the model {self.name!r}: give eos_token in its "
                "tokenizer_config.json"
            )
        return str(found)

    def _tokens(self) -> int:
        """Return the model's input length in tokens."""
        config, family = self._config, self._family
        kind = str(config.get("model_type", ""))
        if kind in family.tokens and not config.get("position_biased_input", True):
            return family.tokens[kind]  # its positions are relative
        length = int(config.get("max_position_embeddings") or _USUAL)
        if "roberta" in kind or kind in _LIKE_ROBERTA:
            length -= _BEFORE_FIRST
        said = said_of_tokenizer(self._texts).get("model_max_length") or length
        return min(length, int(said), _USUAL if family.name == HHEM.name else length)
