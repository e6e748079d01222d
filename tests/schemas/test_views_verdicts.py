"""The verdicts of runs equal those of a naive reading of the rules, and views count them."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.schemas.results import open_results

SOURCES = ("wiki", "ref", "ünï 🛸")
COLUMNS = (
    "response_id, unit_id, mode, source, label, n_supported, n_refuted, n_noans, n_error, tied, "
    "past_error"
)


def naive(
    response_id: str, unit_id: str, by_source: dict[str, str], mode: str, tie: str
) -> list[Any]:
    """Return the verdict rows of one unit; `by_source` maps a source to its letters, in order."""

    def row(
        kind: str, source: str, letters: str, past_error: bool = False, errors: int = 0
    ) -> tuple[Any, ...]:
        s, r, e = (letters.count(letter) for letter in "sre")
        label = None if s + r == 0 else int(s > r or (s == r and tie == "factual"))
        tied = s == r and s > 0
        rest = len(letters) - s - r - e
        return (response_id, unit_id, kind, source, label, s, r, rest, e + errors, tied, past_error)

    everything = "".join(by_source.values())
    if mode == "all":
        return [
            found
            for one in ("seq", "mv", "single")
            for found in naive(response_id, unit_id, by_source, one, tie)
        ]
    if mode == "mv":
        return [row("mv", "multi", everything)]
    if mode == "single":
        return [row("single", source, letters) for source, letters in by_source.items()]
    past_error = False
    errors = 0
    for source, letters in by_source.items():
        if "s" in letters or "r" in letters:
            return [row("seq", source, letters, past_error, errors)]
        errors += letters.count("e")
        past_error = past_error or set(letters) == {"e"}
    return [row("seq", "none", everything, past_error)]


def asked(draw_votes: tuple[str, ...], mode: str) -> dict[str, str]:
    """Return what a run of that mode would have asked of the sources, by letters."""
    if mode == "single":
        return {SOURCES[0]: draw_votes[0]}
    if mode != "seq":
        return dict(zip(SOURCES, draw_votes, strict=True))
    found = {}
    for source, letters in zip(SOURCES, draw_votes, strict=True):
        found[source] = letters
        if "s" in letters or "r" in letters:
            break
    return found


letters = st.text("srne-", min_size=1, max_size=4)
units = st.lists(st.tuples(letters, letters, letters), max_size=12)
runs = st.tuples(
    st.sampled_from(["seq", "mv", "single", "all"]),
    st.sampled_from(["factual", "not_factual"]),
    st.lists(units, max_size=3),
)


@settings(max_examples=8)
@given(st.lists(runs, min_size=1, max_size=4))
def test_verdicts_are_those_of_the_rules(
    rows_of: Callable[..., Any], write_run: Callable[..., Path], drawn: list[Any]
) -> None:
    expected = []
    with tempfile.TemporaryDirectory() as folder:
        for n, (mode, tie, responses) in enumerate(drawn):
            votes = {
                f"r{i}": {f"u{j}": asked(found, mode) for j, found in enumerate(found_units)}
                for i, found_units in enumerate(responses)
            }
            sources = SOURCES[:1] if mode == "single" else SOURCES
            rows = rows_of(votes, sources, mode, tie)
            write_run(Path(folder), rows, f"n{n}", mode=mode, tie=tie, parts=2)
            expected += [
                (f"n{n}", *row)
                for response_id, by_unit in votes.items()
                for unit_id, by_source in by_unit.items()
                for row in naive(response_id, unit_id, by_source, mode, tie)
            ]
        with open_results(folder, all_runs=True) as results:
            found = results.query(f"SELECT run, {COLUMNS} FROM verdicts").to_pylist()
    assert sorted((tuple(row.values()) for row in found), key=repr) == sorted(expected, key=repr)


def test_responses_without_a_score_are_counted_apart(
    ask: Callable[..., Any], rows_of: Callable[..., Any]
) -> None:
    votes = {
        "fine": {"a": {"ref": "s"}},
        "silent": {},
        "failed": {"b": {"ref": "e"}},
        "foreign": {"c": {"ref": "n"}, "d": {"ref": "n"}},
    }
    rows = rows_of(votes, ("ref",))
    rows["evidence"] = [
        replace(row, reason="unsupported_language") if row.response_id == "foreign" else row
        for row in rows["evidence"]
    ]
    found = ask(rows)
    sql = "SELECT response_id, no_score, factuality_score, low FROM scores ORDER BY ALL"
    assert [row[:3] for row in found(sql)] == [
        ("failed", "nothing usable", None),
        ("fine", None, 1.0),
        ("foreign", "unsupported language", None),
        ("silent", "no claim", None),
    ]
    counts = "n_responses, n_without_units, n_unjudged, n_unsupported, factuality_score"
    assert found(f"SELECT {counts} FROM scores_by_run") == [(4, 1, 1, 1, 1.0)]
