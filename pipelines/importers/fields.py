"""Import data sets whose objects are one text with the references to check it against.

What differs between them is how their fields are called and which values mean true: `FORMATS` says
that of each. One whose text is a claim has the claim as its only one, with the label.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from ufo.pipelines.importers.reading import LEFT_OUT, NEITHER, Record, response_text, text_of
from ufo.transforms.values import Unusable, structure_of

_YES_NO: Final = {"1": True, "0": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Fields:
    """The field names of a format; of several names the first that exists counts.

    `labels` are true, false, a share between, or None (people could not say) by the text of the
    value. `inside` is the field of each reference where references are objects.
    """

    title: str
    text: tuple[str, ...]
    references: tuple[str, ...]
    label: tuple[str, ...]
    labels: Mapping[str, float | bool | None] = field(default_factory=lambda: _YES_NO)
    is_claim: bool = True
    inside: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)


_FEVER: Final = {"supports": True, "refutes": False, "not enough info": None}
FORMATS: Final = {
    "llm_aggrefact": Fields(
        "LLM-AggreFact (Tang et al. 2024)",
        ("claim",),
        ("doc",),
        ("label",),
        others={"dataset": "dataset"},
    ),
    "aggrefact": Fields(
        "AggreFact (Tang et al. 2023)",
        ("summary",),
        ("doc",),
        ("label",),
        is_claim=False,
        others={"model_name": "model", "dataset": "dataset"},
    ),
    "wice": Fields(
        "WiCE (Kamoi et al. 2023)",
        ("claim",),
        ("evidence",),
        ("label",),
        {"supported": True, "not_supported": False, "partially_supported": 0.5},
    ),
    "begin": Fields(
        "BEGIN (Dziri et al. 2022)",
        ("response",),
        ("knowledge",),
        ("begin_label",),
        {"fully attributable": True, "not fully attributable": False, "generic": None},
        is_claim=False,
        others={"model_name": "model", "message": "question"},
    ),
    "fool_me_twice": Fields(
        "Fool Me Twice (Eisenschlos et al. 2021)",
        ("text",),
        ("gold_evidence",),
        ("label",),
        _FEVER,
        inside="text",
    ),
    "fever": Fields(
        "FEVER-like pairs: FEVER-Symmetric, VitaminC and others",
        ("claim",),
        ("evidence",),
        ("gold_label", "label"),
        _FEVER,
    ),
}


def by_fields(name: str, fields: Fields, raw: Record, file: Path, number: int) -> Record:
    """Return the record of an object; a label that is neither true nor false is left out."""
    at = _first(raw, fields.text)
    text = response_text(raw, at)
    left_out: list[str] = []
    label = _label(fields, raw)
    references = _references(fields, raw)
    if not references:
        left_out.append("evidence without a text")
    record: Record = {
        "id": f"{name}-{file.stem}-{number}",
        "dataset": name,
        "response": text,
        "reference_answers": references,
        **{ours: str(raw[theirs]) for theirs, ours in fields.others.items() if raw.get(theirs)},
    }
    if raw.get("id") is not None:
        record["metadata"] = {"id": raw["id"]}
    if isinstance(label, (bool, float)):
        record["label"] = label
    if not isinstance(label, bool):
        left_out.append(NEITHER)
    if fields.is_claim:
        claim: Record = {"claim": text}
        record["claims"] = [claim | {"label": label} if isinstance(label, bool) else claim]
    return record | {LEFT_OUT: left_out}


def importer_of(name: str) -> "partial[Record]":
    """Return the importer of one of FORMATS."""
    return partial(by_fields, name, FORMATS[name])


def _first(raw: Record, names: tuple[str, ...]) -> str:
    return next((name for name in names if raw.get(name) is not None), names[-1])


def _label(fields: Fields, raw: Record) -> float | bool | None:
    value = raw.get(_first(raw, fields.label))
    word = str(int(value)) if isinstance(value, (bool, float)) else str(value).strip().lower()
    if value is not None and word not in fields.labels:
        raise Unusable(f"expected a label of {', '.join(fields.labels)}, found {value!r:.80}")
    return fields.labels.get(word)


def _references(fields: Fields, raw: Record) -> list[str]:
    """Return the references of an object: one text, or a list whose items are sentences of
    one, unless they are objects. FEVER itself gives numbers of sentences, and no text."""
    value = structure_of(raw.get(_first(raw, fields.references)))
    items = value if isinstance(value, list) else [value]
    inside = fields.inside
    if inside is not None:
        texts = [text_of(item, inside) for item in items if isinstance(item, dict)]
        return [text for text in texts if text.strip()]
    text = "\n".join(item for item in items if isinstance(item, str))
    return [text] if text.strip() else []
