"""Verify by a cross-encoder: any sequence classifier in a folder or on a model hub.

It is run by onnxruntime where it has an ONNX file, else by transformers with torch (extra `hub`).

The model's family defines the input format and the meaning of the outputs. It is, in this order:

- the family that config.json names (`"ufo_family": "minicheck"`)
- a family whose word is in the model's name
- `nli`, whose outputs are read by their names in `id2label`, in any order

A model with two outputs decides whether a passage supports a claim. It cannot refute; its other
output is `noans`. One pair is computed at a time, on one thread, so that its probabilities do not
depend on other pairs (`ufo.schemas.model_files.OnnxModel`).
"""

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ufo.schemas import model_files
from ufo.schemas.dependencies import missing
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.sentences import segment
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


class Outputs(NamedTuple):
    """The index of each outcome in a model's outputs; `refuted` is None where there is none."""

    supported: int
    refuted: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models with the same input format.

    `template` is the text that such a model reads, with {passage}, {claim} and {eos} (the
    tokenizer's end-of-text token). Without a template the model reads a pair, the passage first.
    `outputs` has the meaning of the outputs by their number; if it is empty, their names say it.
    `tokens` has the longest input by type of model, where it is not the model's own length.
    """

    name: str
    template: str = ""
    outputs: Mapping[int, Outputs] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)


_SECOND_SUPPORTS: Final = {2: Outputs(1)}
_DEBERTA: Final = {"deberta-v2": 2048}
FAMILIES: Final = {
    # Williams et al. 2018 (MultiNLI) and models fitted on such data: premise, hypothesis.
    "nli": Family("nli"),
    # Tang et al. 2024, MiniCheck: minicheck/inference.py of Liyan06/MiniCheck.
    "minicheck": Family("minicheck", "{passage}{eos}{claim}", _SECOND_SUPPORTS, _DEBERTA),
    # Lei et al. 2025, FactCG: factcg/inference.py and utils.py of derenlei/FactCG.
    "factcg": Family(
        "factcg",
        "{passage}\n\nChoose your answer: based on the paragraph above can we conclude that "
        '"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ',
        _SECOND_SUPPORTS,
        _DEBERTA,
    ),
    # Vectara, HHEM-2.1-open: config.json and modeling_hhem_v2.py of
    # vectara/hallucination_evaluation_model. It is a T5 that classifies tokens; the first token's
    # scores count.
    "hhem": Family(
        "hhem",
        "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {passage}\n\n"
        "Hypothesis: {claim}",
        _SECOND_SUPPORTS,
    ),
    # Zha et al. 2023, AlignScore: generate_training_data.py and src/alignscore/ of
    # yuh-zha/AlignScore; its heads for three labels, two labels and a score.
    "alignscore": Family("alignscore", "", {3: Outputs(0, 2), 2: Outputs(1), 1: Outputs(0)}),
}
_KINDS: Final = ("ForSequenceClassification", "ForTokenClassification")
_MEANINGS: Final = {
    SUPPORTED: ("entail", "support", "consistent", "aligned"),
    REFUTED: ("contradict", "refute"),
}
"""The beginnings of the names that an entailment model gives to an outcome."""


def family_of(name: str, config: Mapping[str, Any]) -> Family:
    """Return the family of the model of that name.

    Raises:
        UsageError: config.json names an unknown family.
    """
    family_name = config.get("ufo_family")
    if family_name is not None:
        if family_name not in FAMILIES:
            raise UsageError(unknown_value("ufo_family", str(family_name), FAMILIES))
        return FAMILIES[family_name]
    if is_hhem(config):
        prompt = str(config.get("prompt") or "")
        own = prompt.replace("{text1}", "{passage}").replace("{text2}", "{claim}")
        return replace(FAMILIES["hhem"], template=own or FAMILIES["hhem"].template)
    words = f"{name} {config.get('_name_or_path', '')}".lower()
    known = (one for key, one in FAMILIES.items() if one.outputs and key in words)
    return next(known, FAMILIES["nli"])


def is_hhem(config: Mapping[str, Any]) -> bool:
    """Return whether a config.json is from HHEM-2, a model that comes with code to load it."""
    return str(config.get("model_type", "")).lower() == "hhemv2"


def outputs_of(name: str, family: Family, config: Mapping[str, Any]) -> Outputs:
    """Return the meaning of a model's outputs.

    Raises:
        UsageError: it is not a classifier of text pairs, or the names of its labels are unknown.
    """
    kinds = " ".join(map(str, config.get("architectures") or _KINDS))
    if not any(kind in kinds for kind in _KINDS):
        raise UsageError(
            f"the model {name!r} is a {kinds}; a verifier is a …{_KINDS[0]}, as the RoBERTa and "
            "DeBERTa models of a family are"
        )
    named = config.get("id2label") or {}
    count = int(config.get("num_labels") or 2)
    labels = [str(named[key]) for key in sorted(named, key=int)] or ["LABEL"] * count
    if len(labels) in family.outputs:
        return family.outputs[len(labels)]
    places = {_meaning(label): place for place, label in enumerate(labels)}
    if SUPPORTED in places and len(labels) in (2, 3) and len(places) == len(labels):
        return Outputs(places[SUPPORTED], places.get(REFUTED) if len(labels) == 3 else None)
    raise UsageError(
        f"the labels of the model {name!r} do not say what supports a claim: {', '.join(labels)}; "
        f'name its family in its config.json, as "ufo_family": {", ".join(FAMILIES)}; or its '
        "labels in id2label: entailment, neutral, contradiction"
    )


def probabilities(logits: Sequence[float], outputs: Outputs) -> Probabilities:
    """Return the probabilities of a model's outputs; a single output is a score from 0 to 1."""
    if len(logits) == 1:
        score = min(max(logits[0], 0.0), 1.0)
        return Probabilities(score, 0.0, 1.0 - score)
    most = max(logits)
    raised = [exp(logit - most) for logit in logits]
    total = sum(raised)
    supported = raised[outputs.supported] / total
    refuted = 0.0 if outputs.refuted is None else raised[outputs.refuted] / total
    return Probabilities(supported, refuted, max(0.0, 1.0 - supported - refuted))


def best(windows: Sequence[Probabilities]) -> Probabilities:
    """Return the deciding window of a passage.

    If any window is `supported`, it is the one most likely supported. Else, if any is `refuted`, it
    is the one most likely refuted. Else it is the one most likely supported. The first wins ties.
    """
    supporting = max(windows, key=lambda one: one.supported)
    if supporting.outcome == SUPPORTED:
        return supporting
    refuting = [one for one in windows if one.outcome == REFUTED]
    return max(refuting, key=lambda one: one.refuted, default=supporting)


def fill(template: str, **texts: str) -> str:
    """Return the template with each {name} replaced; braces in the texts are left as they are."""
    return re.sub(r"\{(\w+)\}", lambda gap: texts.get(gap[1], gap[0]), template)


def _meaning(label: str) -> str:
    word = re.sub(r"[^a-z]+", " ", label.lower()).strip()
    return next((of for of, starts in _MEANINGS.items() if word.startswith(starts)), word)


_EXTRA: Final = "hub"
_CONFIG: Final = "config.json"
_TOKENIZER: Final = "tokenizer.json"
_TOKENIZER_CONFIG: Final = "tokenizer_config.json"
_USUAL: Final = 512  # tokens, for models that only memory limits
_BEFORE_FIRST: Final = 2  # RoBERTa counts positions from its padding token, which is 1
_LIKE_ROBERTA: Final = ("camembert", "longformer", "mpnet")
_EOS: Final = {"deberta-v2": "[SEP]", "roberta": "</s>"}
_FOUNDATION: Final = "google/flan-t5-base"
_TRUSTED: Final = {"local_files_only": True, "trust_remote_code": False}

Logits = Callable[["Encoding"], list[float]]
"""Computes the outputs of one encoded pair."""


class HubVerifier(Verifier):
    """A cross-encoder in a folder, or of a model hub (`organisation/model[@revision]`).

    A passage that is too long for the model is cut at sentence ends, and the best window counts.
    """

    def __init__(self, model: str) -> None:
        self._given = model
        self.name = os.path.basename(os.path.abspath(model)) if os.path.isdir(model) else model
        self._reader: PairEncoder | None = None
        self._logits: Logits | None = None

    def unavailable(self) -> str | None:
        """Return an error message if files or packages are missing, or labels are unknown."""
        try:
            outputs_of(self.name, self._family, self._config)
            self._eos()
            whole = os.path.isfile(os.path.join(self._texts, _TOKENIZER))
        except UsageError as error:
            return error.message
        absent = missing("onnx") if self._onnx else missing(_EXTRA, ["torch", "transformers"])
        if not whole:
            absent = absent or missing(_EXTRA, ["transformers"])
        return f"it needs {absent}" if absent else None

    def open(self) -> None:
        """Load the model and its tokenizer."""
        self._outputs = outputs_of(self.name, self._family, self._config)
        self._logits = self._load()
        self._reader = PairEncoder(self._tokenizer(), self._family, self._tokens(), self._eos())

    def close(self) -> None:
        """Release the model."""
        self._logits = self._reader = None

    def fingerprint(self) -> str:
        """Return a checksum of the files that the outputs depend on."""
        weights = [self._onnx] if self._onnx else _files(self._folder, model_files.TENSORS)
        own = model_files.checksum(
            self._folder, [*_files(self._folder, model_files.TEXTS), *weights]
        )
        return f"{own}-{model_files.checksum(self._texts, _files(self._texts, model_files.TEXTS))}"

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order."""
        return [self._predict_one(pair) for pair in pairs]

    def _predict_one(self, pair: Pair) -> Probabilities:
        assert self._reader is not None
        assert self._logits is not None
        passage = f"{pair.title}. {pair.passage}" if pair.title else pair.passage
        outputs = [self._logits(window) for window in self._reader.read(pair.claim, passage)]
        return best([probabilities(one, self._outputs) for one in outputs])

    @cached_property
    def _folder(self) -> str:
        return model_files.model_folder(self._given, _EXTRA)

    @cached_property
    def _onnx(self) -> str | None:
        return model_files.onnx_file(self._folder)

    @cached_property
    def _config(self) -> Mapping[str, Any]:
        if not os.path.exists(os.path.join(self._folder, _CONFIG)):
            raise UsageError(
                f"the folder {self._folder!r} is not a verifier: it has neither {_CONFIG}, as a "
                "model has, nor verifier.json, as benchmarks/training/train.py writes it"
            )
        return _read_settings(self._folder, _CONFIG)

    @cached_property
    def _family(self) -> Family:
        return family_of(self._given, self._config)

    @cached_property
    def _texts(self) -> str:
        """The folder with the tokenizer: the model's, or for HHEM the folder of its base model."""
        if self._onnx or not is_hhem(self._config):
            return self._folder
        foundation = str(self._config.get("foundation") or _FOUNDATION)
        return model_files.model_folder(foundation, _EXTRA, weights=False)

    def _load(self) -> Logits:
        # RoBERTa's configuration has token types, but the model takes none.
        types = int(self._config.get("type_vocab_size") or 0) > 1
        types = types and "roberta" not in self._kind
        if self._onnx:
            return _by_onnx(self._onnx, types)
        return _by_torch(_model(self._folder, self._texts), types)

    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer  # of an extra, as transformers is

        path = os.path.join(self._texts, _TOKENIZER)
        if os.path.isfile(path):
            return Tokenizer.from_file(path)
        from transformers import AutoTokenizer  # slow to import

        tokenizer: Tokenizer = AutoTokenizer.from_pretrained(
            self._texts, **_TRUSTED
        ).backend_tokenizer
        return tokenizer

    @property
    def _kind(self) -> str:
        return str(self._config.get("model_type", ""))

    def _eos(self) -> str:
        """Return the tokenizer's end-of-text token, "" where the family's template has none."""
        if "{eos}" not in self._family.template:
            return ""
        stated = _read_settings(self._texts, _TOKENIZER_CONFIG).get("eos_token")
        token = (stated["content"] if isinstance(stated, dict) else stated) or _EOS.get(self._kind)
        if not token:
            raise UsageError(
                f"nothing says how a text ends for the model {self.name!r}: give eos_token in its "
                f"{_TOKENIZER_CONFIG}"
            )
        return str(token)

    def _tokens(self) -> int:
        """Return the model's input length in tokens."""
        config, lengths = self._config, self._family.tokens
        if self._kind in lengths and not config.get("position_biased_input", True):
            return lengths[self._kind]  # its positions are relative
        length = int(config.get("max_position_embeddings") or _USUAL)
        if "roberta" in self._kind or self._kind in _LIKE_ROBERTA:
            length -= _BEFORE_FIRST
        stated = _read_settings(self._texts, _TOKENIZER_CONFIG).get("model_max_length") or length
        return min(length, int(stated))


class PairEncoder:
    """An encoder of pairs as one or several inputs of up to `tokens` tokens."""

    def __init__(self, tokenizer: "Tokenizer", family: Family, tokens: int, eos: str) -> None:
        self._tokenizer = tokenizer
        self._template = family.template
        self._tokens = tokens
        self._eos = eos
        tokenizer.no_truncation()
        tokenizer.no_padding()
        added = tokenizer.get_added_tokens_decoder().values()
        self._special = [one.content for one in added if one.special and len(one.content) > 1]

    def read(self, claim: str, passage: str) -> list["Encoding"]:
        """Return the encoding of each window of the passage, with the claim."""
        claim, passage = self._plain(claim), self._plain(passage)
        whole = self._encode(passage, claim)
        if len(whole.ids) <= self._tokens:
            return [whole]
        most = self._tokens // 2
        ends = self._ends(claim)
        claim = claim if len(ends) <= most else claim[: ends[most - 1]]
        return [self._fit(window, claim) for window in self._windows(passage, claim)]

    def _windows(self, passage: str, claim: str) -> Iterator[str]:
        """Yield parts of the passage that end at a sentence's end, or within a long sentence."""
        room = max(self._tokens - len(self._encode("", claim).ids), 1)
        ends, sentences = self._ends(passage), [span.end for span in segment(passage)]
        start = first = 0
        while first + room < len(ends):
            last = ends[first + room - 1]
            known = bisect_right(sentences, last)
            end = sentences[known - 1] if known and sentences[known - 1] > start else last
            yield passage[start:end].strip()
            start, first = end, bisect_right(ends, end)
        yield passage[start:].strip()

    def _ends(self, text: str) -> list[int]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return [end for _, end in encoding.offsets]

    def _fit(self, window: str, claim: str) -> "Encoding":
        # A window may have more tokens alone than as a part of the passage.
        encoding = self._encode(window, claim)
        while len(encoding.ids) > self._tokens and window:
            window = window[: len(window) * self._tokens // len(encoding.ids) - 1]
            encoding = self._encode(window, claim)
        encoding.truncate(self._tokens)  # where the template alone is too long
        return encoding

    def _encode(self, passage: str, claim: str) -> "Encoding":
        if not self._template:
            return self._tokenizer.encode(passage, claim)
        text = fill(self._template, passage=passage, claim=claim, eos=self._eos)
        return self._tokenizer.encode(text)

    def _plain(self, text: str) -> str:
        """Return the text with a space in each special token, so that "</s>" does not end it."""
        for token in self._special:
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def _by_onnx(path: str, types: bool) -> Logits:
    model = model_files.OnnxModel(path)
    output = "logits" if "logits" in model.outputs else model.outputs[0]

    def logits(encoding: "Encoding") -> list[float]:
        of_text = encoding.type_ids if types else [0] * len(encoding.ids)
        return _first(model.run(encoding.ids, of_text, output))

    return logits


def _by_torch(model: Any, types: bool) -> Logits:
    import torch  # of an extra

    torch.set_num_threads(1)
    model.eval()

    def logits(encoding: "Encoding") -> list[float]:
        ids = torch.tensor([encoding.ids])
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if types:
            inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
        with torch.inference_mode():
            return _first(model(**inputs).logits[0])

    return logits


def _first(outputs: Any) -> list[float]:
    """Return the outputs for a text, or for its first token by a model of tokens (HHEM)."""
    return [float(logit) for logit in (outputs[0] if outputs.ndim == 2 else outputs)]


def _model(folder: str, texts: str) -> Any:
    """Return the model of transformers in a folder: any sequence classifier, or HHEM-2.1-open.

    HHEM is read without the code that comes with it: it is a T5 like its base model in `texts`.
    """
    # Of an extra.
    import transformers
    from safetensors.torch import load_file

    transformers.utils.logging.disable_progress_bar()  # many workers would each show one
    transformers.utils.logging.set_verbosity_error()
    if folder == texts:
        kind = transformers.AutoModelForSequenceClassification
        return kind.from_pretrained(folder, **_TRUSTED)
    config = transformers.AutoConfig.from_pretrained(texts, num_labels=2, **_TRUSTED)
    model = transformers.T5ForTokenClassification(config)
    weights = load_file(os.path.join(folder, "model.safetensors"))
    own = {name.removeprefix("t5."): weight for name, weight in weights.items()}
    # The file has tied weights only once.
    own["transformer.encoder.embed_tokens.weight"] = own["transformer.shared.weight"]
    model.load_state_dict(own)
    return model


def _read_settings(folder: str, name: str) -> Mapping[str, Any]:
    """Return the content of a JSON file in a folder, {} without that file.

    Raises:
        UsageError: it is not a JSON object.
    """
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path!r} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path!r} is not a JSON object")
    return content


def _files(folder: str, endings: tuple[str, ...]) -> list[str]:
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(endings)]
    return [path for path in paths if os.path.isfile(path)]
