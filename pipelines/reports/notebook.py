"""What a notebook shows: a run, and one checked text, as HTML in the words of the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ufo.pipelines.reports.overview import contradicted, overview
from ufo.pipelines.reports.templates import environment
from ufo.schemas.records import REFUTED, Evidence, FactUnit, Passage, Sentence
from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    from ufo.schemas.results import Results

_SHOWN = 300


def evaluation_html(results: "Results") -> str:
    """Return the newest run's headline, its models ranked, who decided, and the worst claims."""
    found = overview(results)
    models = [
        (
            row["model"] or "–",
            *(_number(row["factuality_score"]), f"{_number(row['low'])} to {_number(row['high'])}"),
            *(_number(row["coverage"]), row["n_responses"]),
        )
        for row in sorted(found["models"], key=_rank)
    ]
    mode = main_mode(found["mode"])
    sources = [
        (
            "undecided" if row["source"] == "none" else row["source"],
            "–" if row["share"] is None else f"{row['share']:.0%}",
        )
        for row in found["contributions"]
        if row["mode"] == mode
    ]
    wrong = (
        (row["claim"], row["quote"], row["title"] or row["evidence_source"])
        for row in contradicted(results)
    )
    said = found["headline"], found["judged_by"]
    return _filled("evaluation", *said, models, sources, _quotes(wrong))


def check_html(
    text: str,
    said: str,
    judged_by: str,
    sentences: Sequence[Sentence],
    states: Mapping[int, str],
    wrong: Iterable[tuple[FactUnit, Evidence | None, Passage | None]],
) -> str:
    """Return a checked text, each sentence in its state, below the headline `said`."""
    quotes = _quotes(
        (
            unit.claim,
            (row.citation if row else None) or (passage.text[:_SHOWN] if passage else ""),
            (passage.title if passage else None) or (row.source if row else ""),
        )
        for unit, row, passage in wrong
    )
    return _filled("check", said, judged_by, list(_pieces(text, sentences, states)), quotes)


def refuting(
    unit_id: str, evidence: Iterable[Evidence], passages: Mapping[str, Passage]
) -> tuple[Evidence | None, Passage | None]:
    """Return the first evidence that contradicts a claim, and its passage."""
    row = next((e for e in evidence if e.unit_id == unit_id and e.outcome == REFUTED), None)
    return row, passages.get(row.passage_id or "") if row else None


def _filled(macro: str, *values: object) -> str:
    template = environment().get_template("notebook.html")
    return str(getattr(template.module, macro)(*values))


def _pieces(
    text: str, sentences: Sequence[Sentence], states: Mapping[int, str]
) -> Iterator[tuple[str, str | None]]:
    at = 0
    for one in sentences:
        yield text[at : one.start], None
        yield text[one.start : one.end], states[one.sentence_index]
        at = one.end
    yield text[at:], None


def _quotes(rows: Iterable[tuple[str, str, str]]) -> list[tuple[str, str]]:
    return [(f"✗ {claim}", f"“{quote}” ({source})") for claim, quote, source in rows]


def _rank(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["factuality_score"] is None, -(row["factuality_score"] or 0)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
