"""The families of cross-encoders: their input formats, and the meaning of their outputs.

A row of the table is one family, below its source. A model belongs to the family that its
config.json names (`"ufo_family": "minicheck"`), else to one whose word is in its name, else to
`nli`, whose outputs are read by their names in `id2label`, in any order.

A model with two outputs decides whether a passage supports a claim; it cannot refute. Its other
output is `noans`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any, Final, NamedTuple

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import REFUTED, SUPPORTED
from ufo.transforms.verifiers.verifier import Probabilities


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
    template: str = ""
    outputs: Mapping[int, Outputs] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)


_SECOND_SUPPORTS: Final = {2: Outputs(1)}
_DEBERTA: Final = {"deberta-v2": 2048}
_ALL: Final = (
    # Williams et al. 2018 (MultiNLI) and models fitted on such data: premise, hypothesis.
    Family("nli"),
    # Tang et al. 2024, MiniCheck: minicheck/inference.py of Liyan06/MiniCheck.
    Family("minicheck", "{passage}{eos}{claim}", _SECOND_SUPPORTS, _DEBERTA),
    # Lei et al. 2025, FactCG: factcg/inference.py and utils.py of derenlei/FactCG.
    Family(
        "factcg",
        "{passage}\n\nChoose your answer: based on the paragraph above can we conclude that "
        '"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ',
        _SECOND_SUPPORTS,
        _DEBERTA,
    ),
    # Vectara, HHEM-2.1-open: config.json and modeling_hhem_v2.py of
    # vectara/hallucination_evaluation_model; the first token's scores of a T5 that classifies them.
    Family(
        "hhem",
        "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {passage}\n\n"
        "Hypothesis: {claim}",
        _SECOND_SUPPORTS,
    ),
    # Zha et al. 2023, AlignScore: generate_training_data.py and src/alignscore/ of
    # yuh-zha/AlignScore; its heads for three labels, two labels and a score.
    Family("alignscore", "", {3: Outputs(0, 2), 2: Outputs(1), 1: Outputs(0)}),
)
FAMILIES: Final = {family.name: family for family in _ALL}
_KINDS: Final = ("ForSequenceClassification", "ForTokenClassification")
_MEANINGS: Final = {
    SUPPORTED: ("entail", "support", "consistent", "aligned"),
    REFUTED: ("contradict", "refute"),
}
"""How the names of labels of an entailment model begin."""


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
        return replace(FAMILIES["hhem"], template=own or FAMILIES["hhem"].template)
    words = f"{name} {config.get('_name_or_path', '')}".lower()
    known = (one for key, one in FAMILIES.items() if one.outputs and key in words)
    return next(known, FAMILIES["nli"])


def is_hhem(config: Mapping[str, Any]) -> bool:
    """Return whether a config.json is that of HHEM-2, whose own code would load it."""
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
    found = {_meaning(label): place for place, label in enumerate(labels)}
    if SUPPORTED in found and len(labels) in (2, 3) and len(found) == len(labels):
        return Outputs(found[SUPPORTED], found.get(REFUTED) if len(labels) == 3 else None)
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

    If any is `supported`, the one with the highest probability of that; else, if any is `refuted`,
    the one with the highest probability of that; else the one most likely supported. The first
    wins ties.
    """
    supporting = max(windows, key=lambda one: one.supported)
    if supporting.outcome == SUPPORTED:
        return supporting
    refuting = [one for one in windows if one.outcome == REFUTED]
    return max(refuting, key=lambda one: one.refuted, default=supporting)


def filled(template: str, **texts: str) -> str:
    """Return the template with each {name} replaced; braces in the texts are left as they are."""
    return re.sub(r"\{(\w+)\}", lambda gap: texts.get(gap[1], gap[0]), template)


def _meaning(label: str) -> str:
    word = re.sub(r"[^a-z]+", " ", label.lower()).strip()
    return next((of for of, starts in _MEANINGS.items() if word.startswith(starts)), word)
