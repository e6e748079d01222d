"""A run with a response in every state that the page shows, and a hostile one."""

from collections.abc import Sequence
from dataclasses import replace

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

_EVIDENCE = Evidence(
    response_id="alder-1",
    unit_id="",
    source="reference",
    passage_id=None,
    rank=None,
    retrieval_score=None,
    answer=None,
    outcome="noans",
    reason=None,
    label=None,
    raw_verdict=None,
    probability=None,
    rationale=None,
    citation=None,
    citation_found=None,
    judge="llm",
    model="judge-7b",
    prompt_version="0123abcd",
)


def _said(unit: str, source: str, outcome: str, n: int = 1, **more: object) -> Evidence:
    return replace(
        _EVIDENCE,
        unit_id=unit,
        source=source,
        outcome=outcome,
        passage_id=f"{source}:{unit}-{n}",
        rank=n,
        label={"supported": 1, "refuted": 0}.get(outcome),
        **more,  # type: ignore[arg-type]
    )


def _nothing(unit: str, source: str) -> Evidence:
    return replace(_EVIDENCE, unit_id=unit, source=source, reason="no_passages")


EVIDENCE = (
    _said("boils", "reference", "supported"),
    _said("boils", "reference", "refuted", 2),
    _said("boils", "reference", "supported", 3),
    _said("cheese", "reference", "refuted", rationale="It is rock."),
    _nothing("nile", "reference"),
    _said(
        "nile",
        "wiki",
        "supported",
        citation=QUOTE,
        citation_found=True,
        rationale="The passage says so.",
        answer="in Africa",
        probability=0.9,
        request_id="r1",
    ),
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
    _add_response(rows, "hostile/<b>", HOSTILE, [HOSTILE], HOSTILE)
    rows["fact_units"].append(FactUnit("hostile/<b>", "evil", 0, HOSTILE, HOSTILE, None))
    rows["evidence"].append(
        replace(
            _said("evil", "wiki", "supported"),
            response_id="hostile/<b>",
            rationale=HOSTILE,
            citation=HOSTILE,
            citation_found=True,
            model=HOSTILE,
            answer=HOSTILE,
        )
    )
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
