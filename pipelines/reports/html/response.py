"""Show one response: its text, coloured by sentence, and what was found about each claim."""

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.reports.html.markup import Html, Row, data, folded, join, link, tag
from pipelines.reports.html.parts import many

MOST_EVIDENCE = 5  # judgements of a claim
_MOST_CLAIMS = 40
_LONGEST_TEXT = 12_000
_LONGEST_QUOTE = 400

# Name, symbol and class of each band, and what it means: never by colour alone.
BANDS = {
    "red": ("doubtful", "✗", "bad", "less than 30 % of its evidence supports it"),
    "orange": ("mixed", "≈", "mixed", "30 to 60 %"),
    "green": ("supported", "✓", "good", "60 % or more"),
    "grey": ("no evidence", "○", "none", "nothing was found to judge it by"),
}
_LABELS = {
    1: ("supported", "✓", "good"),
    0: ("refuted", "✗", "bad"),
    None: ("undecided", "?", "none"),
}
_OUTCOMES = {
    "supported": ("supports", "✓", "good"),
    "refuted": ("refutes", "✗", "bad"),
    "noans": ("does not answer", "?", "none"),
    "error": ("error", "⚠", "fault"),
}
_PEOPLE = {1: "true to people", 0: "false to people"}
_SENTENCES = {1: "factual to people", 0: "not factual to people"}


def legend() -> Html:
    """Return what the colours of sentences mean."""
    entries = [
        tag("li", badge(name, symbol, look), " ", means)
        for name, symbol, look, means in BANDS.values()
    ]
    return tag("ul", *entries, class_="legend", aria_label="What the colours mean")


def badge(name: str, symbol: str, look: str, more: str = "") -> Html:
    """Return a label with its symbol, in its colour."""
    return tag(
        "span", tag("span", symbol, aria_hidden="true"), f" {name}{more}", class_=f"badge {look}"
    )


def response_card(
    number: int,
    row: Row,
    sentences: Sequence[Row],
    claims: Sequence[Row],
    evidence: Sequence[Row],
) -> Html:
    """Return a response with its sentences, its claims and their evidence; `number` is its own on
    the page."""
    score = row["factuality_score"] if row["coverage"] else None
    facts = [
        f"score {score:.3f}" if score is not None else "no score",
        f"people {row['human_score']:.3f}" if row["human_score"] is not None else None,
        many(row["n_units"], "fact unit"),
        many(row["n_disagreements"], "disagreement") if row["n_disagreements"] else None,
        many(row["n_errors"], "error") if row["n_errors"] else None,
    ]
    of = [data(name, "bdi") for name in (row["model"], row["dataset"]) if name]
    meta = join([join(of, " · ") if of else None, join((f for f in facts if f), " · ")], " · ")
    by_unit: dict[str, list[Row]] = {}
    for one in evidence:
        by_unit.setdefault(one["unit_id"], []).append(one)
    return tag(
        "article",
        tag("h3", data(row["response_id"], "bdi")),
        tag("p", meta, class_="meta"),
        data(row["question"], "p", class_="question") if row["question"] else None,
        _text(number, row["text"] or "", sentences),
        folded(
            f"{many(len(claims), 'claim')} and the evidence",
            _claims(number, sentences, claims, by_unit),
        )
        if claims
        else None,
        class_="card wide",
        id=f"r{number}",
    )


def _text(number: int, whole: str, sentences: Sequence[Row]) -> Html:
    """Return the text with its sentences marked; offsets count code points, as Python does."""
    parts: list[object] = []
    place = 0
    end = min(len(whole), _LONGEST_TEXT)
    for row in sentences:
        if row["start"] is None or not place <= row["start"] < row["end"] <= end:
            continue
        parts += [whole[place : row["start"]], _sentence(number, row, whole)]
        place = row["end"]
    parts.append(whole[place:end])
    if end < len(whole):
        parts.append(tag("em", f" … {len(whole) - end:,} more characters"))
    return tag("div", *parts, class_="text", dir="auto")


def _sentence(number: int, row: Row, whole: str) -> Html:
    shown = whole[row["start"] : row["end"]]
    if not row["n_units"]:
        return Html(tag("span", shown))
    name, symbol, look, _ = BANDS[row["band"]]
    value = "" if row["credibility"] is None else f" {row['credibility']:.2f}"
    mark = tag(
        "a",
        f"{symbol} {name}{value}",
        class_=f"mark {look}",
        href=f"#r{number}s{row['sentence_index']}",
        title=f"The evidence of sentence {row['sentence_index'] + 1}",
    )
    return join([tag("span", shown, class_=f"sentence {look}"), "\u2060", mark])


def _claims(
    number: int,
    sentences: Sequence[Row],
    claims: Sequence[Row],
    evidence: Mapping[str, Sequence[Row]],
) -> Html:
    by_index = {row["sentence_index"]: row for row in sentences}
    parts: list[Html] = []
    last: Any = object()
    for row in claims[:_MOST_CLAIMS]:
        index = row["sentence_index"]
        if index != last:
            last = index
            parts.append(_sentence_head(number, by_index.get(index)))
        parts.append(_claim(row, evidence.get(row["unit_id"], ())))
    if len(claims) > _MOST_CLAIMS:
        parts.append(
            tag("p", f"{_MOST_CLAIMS} of {len(claims):,} claims are shown.", class_="meta")
        )
    return join(parts)


def _sentence_head(number: int, row: Row | None) -> Html:
    if row is None:
        return tag("h4", "Claims without a place in the text")
    name, symbol, look, _ = BANDS[row["band"]]
    value = "" if row["credibility"] is None else f" {row['credibility']:.2f}"
    people = row["human_label"]
    return tag(
        "h4",
        badge(name, symbol, look, value),
        " ",
        data(_short(row["text"], 160), "q"),
        tag("span", f" · {_SENTENCES[people]}", class_="meta") if people is not None else None,
        id=f"r{number}s{row['sentence_index']}",
    )


def _claim(row: Row, evidence: Sequence[Row]) -> Html:
    notes = [
        None if row["source"] in ("none", "multi") else f"by {row['source']}",
        f"{row['n_supported']} for, {row['n_refuted']} against",
        "a tie" if row["tied"] else None,
        "decided past an error" if row["past_error"] else None,
        _PEOPLE.get(row["human_label"]),
    ]
    total = evidence[0]["n"] if evidence else 0
    more = f"{len(evidence)} of {total} judgements are shown." if total > len(evidence) else None
    return folded(
        join(
            [
                badge(*_LABELS[row["label"]]),
                " ",
                data(row["claim"], "span"),
                tag("span", " · ".join(note for note in notes if note), class_="meta"),
            ]
        ),
        tag("p", "Query: ", data(row["query"], "q"), class_="meta") if row["query"] else None,
        tag("ul", *(_judgement(one) for one in evidence), class_="evidence"),
        tag("p", more, class_="meta") if more else None,
        class_="claim",
    )


def _judgement(row: Row) -> Html:
    name, symbol, look = _OUTCOMES[row["outcome"]]
    reason = f": {row['reason'].replace('_', ' ')}" if row["reason"] else ""
    quote = row["citation"] or row["text"]
    where = row["title"] or row["url"]
    missing = row["citation"] and row["citation_found"] is False
    return tag(
        "li",
        badge(name, symbol, look, reason),
        " ",
        data(row["source"], "bdi"),
        join([" · ", link(row["url"], _short(where, 160))]) if where else None,
        f" · {row['source_category'].replace('_', ' ')}" if row["source_category"] else None,
        data(_short(quote, _LONGEST_QUOTE), "blockquote") if quote else None,
        tag("p", "This citation is not in the passage.", class_="meta") if missing else None,
        data(_short(row["rationale"], _LONGEST_QUOTE), "p", class_="why")
        if row["rationale"]
        else None,
    )


def _short(shown: str, longest: int) -> str:
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"
