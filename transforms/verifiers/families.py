"""The families of cross-encoders: their input formats, and the meaning of their outputs.

A row of FAMILIES is one family with its source. A model belongs to the family that its config.json
names (`"ufo_family": "minicheck"`), else to one whose word is in its name, else to `nli`, whose
outputs are read by their names in `id2label`, in any order.

A model with two outputs decides whether a passage supports a claim; it cannot refute. Its other
output is `noans`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any, Final, NamedTuple

from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.verifiers.base import Probabilities


class Outputs(NamedTuple):
    """The index of each outcome in a model's outputs; `refuted` is None where there is none."""

    supported: int
    refuted: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """Models with the same input format.

    `template` is the one text that such a model reads, with {passage}, {claim} and {eos} (the
    tokenizer's end of a text); without one it reads a pair, the passage first. `outputs` by their
    number; empty: by their names. `tokens` is how long an input may be by type of model, where that
    is not the model's own length.
    """

    name: str
    source: str
    template: str = ""
    outputs: Mapping[int, Outputs] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)


_SUPPORTS_BY_SECOND: Final = {2: Outputs(1)}
NLI: Final = Family(
    "nli",
    "Williams et al. 2018 (MultiNLI) and models fitted on such data: premise, hypothesis",
)
HHEM: Final = Family(
    "hhem",
    "Vectara, HHEM-2.1-open: config.json and modeling_hhem_v2.py of vectara/"
    "hallucination_evaluation_model; the first token's scores of a T5 that classifies tokens",
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {passage}\n\n"
    "Hypothesis: {claim}",
    _SUPPORTS_BY_SECOND,
)
FAMILIES: Final = {
    family.name: family
    for family in (
        NLI,
        Family(
            "minicheck",
            "Tang et al. 2024, MiniCheck: minicheck/inference.py of Liyan06/MiniCheck",
            "{passage}{eos}{claim}",
            _SUPPORTS_BY_SECOND,
            {"deberta-v2": 2048},
        ),
        Family(
            "factcg",
            "Lei et al. 2025, FactCG: factcg/inference.py and utils.py of derenlei/FactCG",
            "{passage}\n\nChoose your answer: based on the paragraph above can we conclude that "
            '"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ',
            _SUPPORTS_BY_SECOND,
            {"deberta-v2": 2048},
        ),
        HHEM,
        Family(
            "alignscore",
            "Zha et al. 2023, AlignScore: generate_training_data.py and src/alignscore/ of "
            "yuh-zha/AlignScore; its heads for three labels, two labels and a score",
            "",
            {3: Outputs(0, 2), 2: Outputs(1), 1: Outputs(0)},
        ),
    )
}
_HHEM_TYPE: Final = "hhemv2"
_SUPPORTED: Final = frozenset(
    ("entailment", "entail", "entails", "supported", "supports", "support", "consistent", "aligned")
)
_REFUTED: Final = frozenset(
    ("contradiction", "contradict", "contradicts", "contradictory", "refuted", "refutes", "refute")
)
_SEQUENCE: Final = "ForSequenceClassification"


def family_of(name: str, config: Mapping[str, Any]) -> Family:
    """Return the family of the model of that name.

    Raises:
        UsageError: config.json names an unknown family.
    """
    said = config.get("ufo_family")
    if said is not None:
        if said not in FAMILIES:
            raise UsageError(unknown_value("ufo_family", str(said), FAMILIES))
        return FAMILIES[said]
    if is_hhem(config):
        prompt = str(config.get("prompt") or "")
        own = prompt.replace("{text1}", "{passage}").replace("{text2}", "{claim}")
        return replace(HHEM, template=own) if own else HHEM
    words = f"{name} {config.get('_name_or_path', '')}".lower()
    return next((one for key, one in FAMILIES.items() if one.outputs and key in words), NLI)


def is_hhem(config: Mapping[str, Any]) -> bool:
    """Return whether a config.json is that of HHEM-2, whose own code would load it."""
    return str(config.get("model_type", "")).lower() == _HHEM_TYPE


def outputs_of(name: str, family: Family, config: Mapping[str, Any]) -> Outputs:
    """Return the meaning of a model's outputs.

    Raises:
        UsageError: it is not a classifier of text pairs, or the names of its labels are unknown.
    """
    kinds = config.get("architectures") or []
    if kinds and family.name != HHEM.name and not any(_SEQUENCE in str(kind) for kind in kinds):
        raise UsageError(
            f"the model {name!r} is a {kinds[0]}; a verifier is a …{_SEQUENCE}, as the RoBERTa and "
            "DeBERTa models of a family are"
        )
    labels = _labels(config)
    if family.outputs:
        known = family.outputs.get(2 if family.name == HHEM.name else len(labels))
        if known is not None:
            return known
    found = {_meaning(label): place for place, label in enumerate(labels)}
    if "supported" in found and len(labels) in (2, 3) and len(found) == len(labels):
        return Outputs(found["supported"], found.get("refuted") if len(labels) == 3 else None)
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


def filled(template: str, **texts: str) -> str:
    """Return the template with each {name} replaced; braces in the texts are left as they are."""
    parts = re.split(r"\{(\w+)\}", template)
    return "".join(texts.get(part, part) if at % 2 else part for at, part in enumerate(parts))


def _labels(config: Mapping[str, Any]) -> list[str]:
    named = config.get("id2label") or {}
    if named:
        return [str(named[key]) for key in sorted(named, key=int)]
    return [f"LABEL_{place}" for place in range(int(config.get("num_labels") or 2))]


def _meaning(label: str) -> str:
    word = re.sub(r"[^a-z]+", " ", label.lower()).strip()
    if word in _SUPPORTED:
        return "supported"
    return "refuted" if word in _REFUTED else word
