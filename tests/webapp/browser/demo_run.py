"""A run with a response in every state that the page shows, and a hostile one."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from ufo.schemas.records import Evidence, FactUnit, Failure, Passage, Response, Sentence, Usage
from ufo.schemas.tables import TABLES

SOURCES = ("reference", "wiki")
QUESTION = "What is so?"
SENTENCES = (
    "😀 Water boils at 100 °C at sea level.",
    "The Moon is made of cheese.",
    "The Nile is in Africa.",
    "Dragons lived in Wales.",
    "Gold melts at 10 °C and glows.",
    "I like tea.",
)
QUOTE = "The Nile is a river in Africa"
LONG = "A map of rivers was drawn long ago. " * 20 + f"{QUOTE}, and a long one. " + "More. " * 80
HOSTILE = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1">'

_NOTHING: dict[str, Any] = dict.fromkeys(field.name for field in fields(Evidence))
_EVIDENCE = Evidence(
    **_NOTHING
    | {"response_id": "alder-1", "unit_id": "", "source": "reference", "outcome": "noans"}
    | {"judge": "llm", "model": "judge-7b", "prompt_version": "0123abcd"}
)


def _said(unit: str, source: str, outcome: str, n: int = 1, **more: Any) -> Evidence:
    return replace(
        _EVIDENCE,
        unit_id=unit,
        source=source,
        outcome=outcome,
        passage_id=f"{source}:{unit}-{n}",
        rank=n,
        label={"supported": 1, "refuted": 0}.get(outcome),
        **more,
    )


def _nothing(unit: str, source: str) -> Evidence:
    return replace(_EVIDENCE, unit_id=unit, source=source, reason="no_passages")


_NILE: dict[str, Any] = {
    "citation": QUOTE,
    "citation_found": True,
    "rationale": "The passage says so.",
}
_NILE |= {"answer": "in Africa", "probability": 0.9, "request_id": "r1"}
EVIDENCE = (
    _said("boils", "reference", "supported"),
    _said("boils", "reference", "refuted", 2),
    _said("boils", "reference", "supported", 3),
    _said("cheese", "reference", "refuted", rationale="It is rock."),
    _nothing("nile", "reference"),
    _said("nile", "wiki", "supported", **_NILE),
    _said("nile", "wiki", "noans", 2),
    _nothing("dragons", "reference"),
    _nothing("dragons", "wiki"),
    _said("melts", "reference", "error", reason="transport"),
    _nothing("melts", "wiki"),
    _said("glows", "reference", "error", reason="refused", raw_verdict="I cannot help with that."),
    _nothing("glows", "wiki"),
)
_CLAIMS = {
    "boils": (0, "Water boils at 100 °C."),
    "cheese": (1, "The Moon is made of cheese."),
    "nile": (2, "The Nile is in Africa."),
    "dragons": (3, "Dragons lived in Wales."),
    "melts": (4, "Gold melts at 10 °C."),
    "glows": (4, "Gold glows."),
}


def demo_rows(rows: dict[str, list[object]]) -> dict[str, list[object]]:
    """Add the responses to the (empty) rows of a run."""
    rows = {table: list(rows.get(table, [])) for table in TABLES}
    for name in ("alder-1", "birch-1"):
        model = name.partition("-")[0]
        _add_response(rows, name, model, SENTENCES)
        for unit, (index, claim) in _CLAIMS.items():
            rows["fact_units"].append(FactUnit(name, unit, index, claim, f"Q: {claim}", None))
        kept = EVIDENCE if model == "alder" else EVIDENCE[:1] + EVIDENCE[3:]
        rows["evidence"] += [replace(row, response_id=name) for row in kept]
    rows["passages"] += [_passage(row) for row in EVIDENCE if row.passage_id]
    _add_hostile(rows)
    rows["failures"].append(Failure("verify", "melts", "ConnectError", "no connection", None))
    rows["usage"].append(
        Usage("r1", "verify", "wiki", "judge-7b", "alder-1", None, "ok", False, False, 0, 90, 9,
              0.2, 0.0021)
    )  # fmt: skip
    return rows


def _add_response(
    rows: dict[str, list[object]],
    name: str,
    model: str,
    sentences: Sequence[str],
    question: str = QUESTION,
) -> None:
    text = " ".join(sentences)
    rows["responses"].append(Response(name, model, "demo", question, None, text, 1, None, None))
    start = 0
    for index, sentence in enumerate(sentences):
        n_units = 0 if sentence == "I like tea." else 1
        end = start + len(sentence)
        rows["sentences"].append(Sentence(name, index, start, end, sentence, n_units, None))
        start = end + 1


def _passage(row: Evidence) -> Passage:
    assert row.passage_id
    passage = Passage(f"Passage of {row.passage_id}.", source=row.source, passage_id=row.passage_id)
    if row.passage_id != "wiki:nile-1":
        return passage
    return replace(
        passage,
        text=LONG,
        title="Nile",
        section="Course",
        url="https://en.wikipedia.org/wiki/Nile",
        hostname="en.wikipedia.org",
        source_category="wiki",
        published_at="2024-05-06T00:00:00Z",
    )


def _add_hostile(rows: dict[str, list[object]]) -> None:
    name = "hostile/<b>"
    _add_response(rows, name, HOSTILE, [HOSTILE], HOSTILE)
    rows["fact_units"].append(FactUnit(name, "evil", 0, HOSTILE, HOSTILE, None))
    texts: dict[str, Any] = dict.fromkeys(("rationale", "citation", "model", "answer"), HOSTILE)
    evil = _said("evil", "wiki", "supported", citation_found=True, **texts)
    rows["evidence"].append(replace(evil, response_id=name))
    rows["passages"].append(
        Passage(
            f"{HOSTILE} and more",
            title=HOSTILE,
            url="javascript:window.hacked=1",
            hostname=HOSTILE,
            source_category=HOSTILE,
            source="wiki",
            passage_id="wiki:evil-1",
        )
    )
