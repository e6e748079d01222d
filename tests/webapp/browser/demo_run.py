"""A run with a response in every state that the page shows, and a hostile one."""

from dataclasses import replace
from typing import Any

from tests.conftest import Rows, rows_of
from ufo.schemas.records import Evidence, Failure, Passage, Sentence, Usage

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
_HOSTILE_ID = "hostile/<b>"
_CLAIMS = {
    "boils": (0, "Water boils at 100 °C."),
    "cheese": (1, "The Moon is made of cheese."),
    "nile": (2, "The Nile is in Africa."),
    "dragons": (3, "Dragons lived in Wales."),
    "melts": (4, "Gold melts at 10 °C."),
    "glows": (4, "Gold glows."),
    "evil": (0, HOSTILE),
}
_VOTES = {
    "boils": {"reference": "s"},
    "cheese": {"reference": "r"},
    "nile": {"reference": "-", "wiki": "sn"},
    "dragons": {"reference": "-", "wiki": "-"},
    "melts": {"reference": "e", "wiki": "-"},
    "glows": {"reference": "e", "wiki": "-"},
}
# What is said with the first judgement of a unit by a source, beside the outcome.
_SAID: dict[tuple[str, str], dict[str, Any]] = {
    ("cheese", "reference"): {"rationale": "It is rock."},
    ("nile", "wiki"): {"citation": QUOTE, "citation_found": True, "answer": "in Africa"}
    | {"rationale": "The passage says so.", "probability": 0.9, "request_id": "r1"},
    ("glows", "reference"): {"reason": "refused", "raw_verdict": "I cannot help with that."},
    ("evil", "wiki"): dict.fromkeys(("rationale", "citation", "model", "answer"), HOSTILE)
    | {"citation_found": True},
}
_NILE = {"text": LONG, "title": "Nile", "section": "Course", "source_category": "wiki"}
_NILE |= {"url": "https://en.wikipedia.org/wiki/Nile", "hostname": "en.wikipedia.org"}
_NILE |= {"published_at": "2024-05-06T00:00:00Z"}
_EVIL = dict.fromkeys(("title", "hostname", "source_category"), HOSTILE)
_EVIL |= {"text": f"{HOSTILE} and more", "url": "javascript:window.hacked=1"}


def demo_rows() -> Rows:
    """Return the rows of the run."""
    votes = {
        "alder-1": _VOTES | {"boils": {"reference": "srs"}},
        "birch-1": _VOTES,
        _HOSTILE_ID: {"evil": {"wiki": "s"}},
    }
    models = {"alder-1": "alder", "birch-1": "birch", _HOSTILE_ID: HOSTILE}
    rows = rows_of(votes, ("reference", "wiki"), models=models)
    texts = dict.fromkeys(votes, SENTENCES) | {_HOSTILE_ID: (HOSTILE,)}
    rows["responses"] = [
        replace(
            row,
            text=" ".join(texts[row.response_id]),
            question=HOSTILE if row.response_id == _HOSTILE_ID else QUESTION,
        )
        for row in rows["responses"]
    ]
    rows["sentences"] = []
    for name, sentences in texts.items():
        start = 0
        for index, text in enumerate(sentences):
            end = start + len(text)
            n_units = int(text != "I like tea.")
            rows["sentences"].append(Sentence(name, index, start, end, text, n_units, None))
            start = end + 1
    for at, unit in enumerate(rows["fact_units"]):
        index, claim = _CLAIMS[unit.unit_id]
        rows["fact_units"][at] = replace(unit, sentence_index=index, claim=claim, query=claim)
    rows["evidence"] = list(map(_evidence, rows["evidence"]))
    rows["passages"] = list(map(_passage, rows["passages"]))
    rows["failures"].append(Failure("verify", "melts", "ConnectError", "no connection", None))
    rows["usage"].append(
        Usage("r1", "verify", "wiki", "judge-7b", "alder-1", None, "ok", False, False, 0, 90, 9,
              0.2, 0.0021)
    )  # fmt: skip
    return rows


def _evidence(row: Evidence) -> Evidence:
    bare = replace(row, rationale=None, citation=None, citation_found=None, judge="llm")
    reply = {} if row.rank else _SAID.get((row.unit_id, row.source), {})
    return replace(bare, **{"model": "judge-7b", "prompt_version": "0123abcd", **reply})


def _passage(row: Passage) -> Passage:
    bare = replace(row, text=f"Passage of {row.passage_id}.", title=None, source_category=None)
    first = (row.passage_id or "").removesuffix("-0").rpartition("-")[2]
    columns: dict[str, Any] = {"nile": _NILE, "evil": _EVIL}.get(first, {})
    return replace(bare, **columns)
