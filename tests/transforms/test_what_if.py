"""Verdicts under other rules equal those of a plain reading of the rules on the same rows."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results
from ufo.transforms.scores import Selection, VoteRules
from ufo.transforms.what_if import recomputed, scores_if

SOURCES = ("ref", "wiki", "web")
CATEGORIES = ("news", "blog", None)

rules = st.fixed_dictionaries(
    {
        "source_order": st.one_of(
            st.none(), st.permutations(SOURCES), st.permutations(SOURCES[1:]), st.just(["web"])
        ),
        "without_categories": st.one_of(st.none(), st.just(["blog"]), st.just(["other", "news"])),
        "only_categories": st.one_of(st.none(), st.just(["news"]), st.just(["other"])),
        "tie_rule": st.sampled_from([None, "factual", "not_factual"]),
    }
)


def naive(unit: list[Any], rule: dict[str, Any], mode: str, tie: str) -> dict[str, Any]:
    """Return {source: (label, votes for, votes against)} of one unit, given rows by source."""

    def kept(category: str | None) -> bool:
        category = category or "other"
        left_out = category in (rule["without_categories"] or ())
        return not left_out and category in (rule["only_categories"] or [category])

    order = list(rule["source_order"] or SOURCES)
    votes = {
        source: [letter for letter, category in unit[SOURCES.index(source)] if kept(category)]
        for source in order
    }
    counts = {source: (found.count("s"), found.count("r")) for source, found in votes.items()}

    def label(s: int, r: int) -> int | None:
        if s == r:
            return int((rule["tie_rule"] or tie) == "factual") if s else None
        return int(s > r)

    valid = [source for source in order if sum(counts[source])]
    pooled = tuple(map(sum, zip(*counts.values(), strict=True)))
    if mode == "single":
        return {source: (label(*n), *n) for source, n in counts.items()}
    if mode == "mv":
        return {"multi": (label(*pooled), *pooled)}
    if valid:
        return {valid[0]: (label(*counts[valid[0]]), *counts[valid[0]])}
    return {"none": (None, *pooled)}


def rows_with_categories(
    rows_of: Callable[..., Any], drawn: list[Any], tie: str
) -> dict[str, list[Any]]:
    """Return a run of one response; a unit has, by source, the (vote, category) of its passages."""
    votes = {
        "r": {
            f"u{n}": {
                source: "".join(letter for letter, _ in found) or "-"
                for source, found in zip(SOURCES, unit, strict=True)
            }
            for n, unit in enumerate(drawn)
        }
    }
    rows = rows_of(votes, SOURCES, "all", tie)
    categories = {
        f"{source}:r-u{n}-{rank}": category
        for n, unit in enumerate(drawn)
        for source, found in zip(SOURCES, unit, strict=True)
        for rank, (_, category) in enumerate(found)
    }
    rows["passages"] = [
        replace(row, source_category=categories[row.passage_id]) for row in rows["passages"]
    ]
    return rows


@pytest.fixture(name="runs", scope="module", params=["factual", "not_factual"])
def _runs(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    request: pytest.FixtureRequest,
) -> Iterator[tuple[Any, ...]]:
    draw = random.Random(17)
    drawn = [
        [
            [(draw.choice("srne"), draw.choice(CATEGORIES)) for _ in range(draw.randrange(4))]
            for _ in SOURCES
        ]
        for _ in range(150)
    ]
    folder = tmp_path_factory.mktemp("run")
    tie = request.param
    write_run(folder, rows_with_categories(rows_of, drawn, tie), mode="all", tie=tie)
    with open_results(folder) as results:
        yield results, drawn, tie


@settings(max_examples=10)
@given(rules)
def test_verdicts_and_scores_follow_the_rules(runs: tuple[Any, ...], rule: dict[str, Any]) -> None:
    results, drawn, tie = runs
    selection = Selection(
        without_categories=rule["without_categories"] or (),
        only_categories=rule["only_categories"],
    )
    for mode in ("seq", "mv", "single"):
        order = rule["source_order"] or SOURCES
        asked = VoteRules(order, mode, rule["tie_rule"] or tie, selection)
        got = {
            (row.unit_id, row.source): (row.label, row.n_supported, row.n_refuted)
            for _, found in recomputed(results, asked)
            for row in found.verdicts
        }
        assert got == {
            (f"u{n}", source): row
            for n, unit in enumerate(drawn)
            for source, row in naive(unit, rule, mode, tie).items()
        }
        if mode != "single":
            labels = [row[0] for row in got.values()]
            score = scores_if(results, asked)[0]
            assert (score["n_supported"], score["n_refuted"]) == (labels.count(1), labels.count(0))
            if score["n_judgements"] > score["n_unusable"] or not score["n_unusable"]:
                assert score["coverage"] == (len(drawn) - labels.count(None)) / len(drawn)


@pytest.fixture(name="labels")
def _labels(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> Callable[..., Any]:
    def labels(votes: Any, rules: VoteRules, mode: str = "all", **hosts: str) -> dict[str, Any]:
        rows = rows_of({"r": votes}, mode=mode)
        rows["passages"] = [
            replace(row, hostname=hosts.get(row.passage_id[-1])) for row in rows["passages"]
        ]
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        write_run(folder, rows, mode=mode)
        with open_results(folder) as results:
            return {
                row.source: (row.label, row.n_supported)
                for _, found in recomputed(results, rules)
                for row in found.verdicts
            }

    return labels


def test_passages_can_be_left_out_by_id_and_by_domain(labels: Callable[..., Any]) -> None:
    votes = {"u": {"ref": "sr", "wiki": "r"}}

    def without(**what: Any) -> VoteRules:
        return VoteRules(("ref", "wiki"), selection=Selection(**what))

    assert labels(votes, without(without_passages=["ref:r-u-1"])) == {"ref": (1, 1)}
    assert labels(votes, without(without_passages=["ref:r-u-0", "ref:r-u-1"])) == {"wiki": (0, 0)}
    hosts = {"0": "news.example.org", "1": "newsexample.org"}
    assert labels(votes, without(without_domains=["example.org"]), **hosts) == {"ref": (0, 0)}
    assert labels(votes, without(only_domains=["example.org"]), **hosts) == {"ref": (1, 1)}


@pytest.mark.parametrize(
    ("rules", "known"),
    [
        (VoteRules(("ref", "wiki")), True),
        (VoteRules(("ref",)), True),
        # wiki was not asked about u1, which ref had decided.
        (VoteRules(("wiki", "ref")), False),
        (VoteRules(("wiki",)), False),
        (VoteRules(("ref", "wiki"), "single"), False),
        (VoteRules(("ref", "wiki"), selection=Selection(without_categories=["other"])), False),
    ],
)
def test_seq_knows_what_it_asked(labels: Callable[..., Any], rules: VoteRules, known: bool) -> None:
    votes = {"u1": {"ref": "s"}, "u2": {"ref": "n", "wiki": "r"}, "u3": {"ref": "n", "wiki": "-"}}
    if known:
        assert labels(votes, rules, "seq")
        return
    with pytest.raises(UsageError, match="does not know every verdict"):
        labels(votes, rules, "seq")
