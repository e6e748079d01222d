"""Verdicts under other rules equal those of a plain reading of the rules on the same rows."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import rows_of, write_run
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results, open_results
from ufo.transforms.scores import Selection, VoteRules
from ufo.transforms.what_if import recompute, scores_if

SOURCES = ("ref", "wiki", "web")
CATEGORIES = ("news", "blog", None)

RULES = st.builds(
    VoteRules,
    st.permutations(SOURCES) | st.permutations(SOURCES[1:]) | st.just(["web"]),
    st.sampled_from(["seq", "mv", "single"]),
    st.sampled_from(["factual", "not_factual"]),
    st.builds(
        Selection,
        without_categories=st.sampled_from([(), ["blog"], ["other", "news"]]),
        only_categories=st.sampled_from([None, ["news"], ["other"]]),
    ),
)


def naive(unit: list[Any], rule: VoteRules) -> dict[str, Any]:
    """Return {source: (label, votes for, votes against)} of one unit, given rows by source."""
    only, without = rule.selection.only_categories, rule.selection.without_categories

    def label(s: int, r: int) -> int | None:
        if s == r:
            return int(rule.tie == "factual") if s else None
        return int(s > r)

    counts = {}
    for source in rule.sources:
        rows = [(letter, category or "other") for letter, category in unit[SOURCES.index(source)]]
        letters = [letter for letter, of in rows if of not in without and of in (only or [of])]
        counts[source] = (letters.count("s"), letters.count("r"))
    valid = [source for source, n in counts.items() if sum(n)]
    pooled = tuple(map(sum, zip(*counts.values(), strict=True)))
    if rule.mode == "single":
        return {source: (label(*n), *n) for source, n in counts.items()}
    if rule.mode == "mv":
        return {"multi": (label(*pooled), *pooled)}
    if valid:
        return {valid[0]: (label(*counts[valid[0]]), *counts[valid[0]])}
    return {"none": (None, *pooled)}


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A run of one response; a unit has, by source, the (vote, category) of its passages."""
    draw = random.Random(17)

    def votes_drawn() -> list[tuple[str, str | None]]:
        return [(draw.choice("srne"), draw.choice(CATEGORIES)) for _ in range(draw.randrange(4))]

    drawn = [[votes_drawn() for _ in SOURCES] for _ in range(150)]
    votes: dict[str, Any] = {}
    categories = {}
    for n, unit in enumerate(drawn):
        for source, passages in zip(SOURCES, unit, strict=True):
            votes.setdefault(f"u{n}", {})[source] = "".join(vote for vote, _ in passages) or "-"
            for rank, (_, category) in enumerate(passages):
                categories[f"{source}:r-u{n}-{rank}"] = category
    rows = rows_of({"r": votes}, SOURCES, "all", "factual")
    rows["passages"] = [
        replace(row, source_category=categories[row.passage_id]) for row in rows["passages"]
    ]
    folder = write_run(tmp_path_factory.mktemp("run"), rows, mode="all", tie="factual").parent
    with open_results(folder) as results:
        yield results, drawn


@settings(max_examples=40)
@given(RULES)
def test_verdicts_and_scores_follow_the_rules(run: Any, rule: VoteRules) -> None:
    results, drawn = run
    got = {
        (row.unit_id, row.source): (row.label, row.n_supported, row.n_refuted)
        for _, scores in recompute(results, rule)
        for row in scores.verdicts
    }
    assert got == {
        (f"u{n}", source): row
        for n, unit in enumerate(drawn)
        for source, row in naive(unit, rule).items()
    }
    if rule.mode != "single":
        labels = [row[0] for row in got.values()]
        score = scores_if(results, rule)[0]
        assert score["n_supported"] == labels.count(1)
        assert score["n_refuted"] == labels.count(0)
        if score["n_judgements"] > score["n_unusable"] or not score["n_unusable"]:
            assert score["coverage"] == (len(drawn) - labels.count(None)) / len(drawn)


def test_seq_knows_what_it_asked(tmp_path: Path) -> None:
    votes = {"u1": {"ref": "s"}, "u2": {"ref": "n", "wiki": "r"}, "u3": {"ref": "n", "wiki": "-"}}
    write_run(tmp_path, rows_of({"r": votes}))
    with open_results(tmp_path) as results:
        for sources in (("ref", "wiki"), ("ref",)):
            ((_, scores),) = recompute(results, VoteRules(sources))
            assert len(scores.verdicts) == 3
        for rules in (
            # wiki was not asked about u1, which ref had decided.
            VoteRules(("wiki", "ref")),
            VoteRules(("wiki",)),
            VoteRules(("ref", "wiki"), "single"),
            VoteRules(("ref", "wiki"), selection=Selection(without_categories=["other"])),
        ):
            with pytest.raises(
                UsageError,
                match=r"does not know every verdict: in its mode 'seq' .* the order ref,wiki ",
            ):
                list(recompute(results, rules))


VOTES = {
    "r1": {"u1": {"ref": "s", "wiki": "r"}, "u2": {"ref": "s", "wiki": "s"}},
    "r2": {"u3": {"ref": "r", "wiki": "s"}, "u4": {"ref": "e", "wiki": "n"}},
}


@pytest.fixture(name="levels", scope="module")
def _levels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """A run of two responses of two models, the second without a data set."""
    rows = rows_of(VOTES, mode="all", models={"r1": "m", "r2": "n"}, datasets={"r1": "d"})
    folder = write_run(tmp_path_factory.mktemp("run"), rows, mode="all").parent
    with open_results(folder) as results:
        yield results


def test_scores_are_by_run_model_data_set_and_response(levels: Results) -> None:
    rows = scores_if(levels, VoteRules(("wiki",)))
    assert [(row["level"], row["name"], row["n_responses"], row["n_units"]) for row in rows] == [
        ("run", "r1", 2, 4),
        ("model", "m", 1, 2),
        ("model", "n", 1, 2),
        ("dataset", "d", 1, 2),
        ("dataset", None, 1, 2),  # a name that is not known comes last
        ("response", "r1", 1, 2),
        ("response", "r2", 1, 2),
    ]


def test_a_score_is_compared_with_the_run_s_own_in_the_same_mode(levels: Results) -> None:
    before = scores_if(levels, VoteRules(("ref", "wiki")))[0]
    assert before["before"] == before["factuality_score"] == 0.5  # (1 + 0) / 2
    assert before["difference"] == 0.0
    after = scores_if(levels, VoteRules(("wiki", "ref")))[0]
    assert after["factuality_score"] == 0.5  # (1/2 + 1/2) / 2
    majority = scores_if(levels, VoteRules(("ref", "wiki"), "mv", "factual"))[0]
    assert majority["factuality_score"] == 0.75  # (1 + 1/2) / 2
    assert majority["before"] == 0.25  # by the run's ties: (1/2 + 0) / 2
    assert majority["difference"] == 0.5


def test_scores_have_the_counts_of_their_units_and_judgements(levels: Results) -> None:
    row = scores_if(levels, VoteRules(("ref",)))[0]
    assert row["n_supported"] == 2
    assert row["n_refuted"] == 1
    assert row["n_judgements"] == 4
    assert row["n_unusable"] == 1
    assert row["decided_score"] == 0.5  # (2/2 + 0/1) / 2
    assert row["coverage"] == 0.75  # (2/2 + 1/2) / 2
    assert row["mode"] == "seq"
    assert row["source"] is None


def test_each_source_alone_is_compared_with_itself(levels: Results) -> None:
    ref, wiki = scores_if(levels, VoteRules(("ref", "wiki"), "single"))[:2]
    assert ref["source"] == "ref"
    assert ref["before"] == ref["factuality_score"] == 0.5
    assert wiki["source"] == "wiki"
    assert wiki["before"] == wiki["factuality_score"] == 0.5


def test_where_nothing_counts_the_score_is_zero(levels: Results) -> None:
    selection = Selection(only_categories=["news"])
    row = scores_if(levels, VoteRules(("ref", "wiki"), selection=selection))[0]
    assert row["factuality_score"] == 0.0
    assert row["difference"] == -0.5
    assert row["decided_score"] is None
    assert row["before"] == 0.5
    assert row["coverage"] == 0.0
    assert row["n_units"] == 4
    assert row["n_judgements"] == 0


def test_both_means_are_over_responses_with_a_score_under_both_rules(tmp_path: Path) -> None:
    votes = {"a": {"u": {"ref": "s", "wiki": "s"}}, "b": {"u": {"ref": "e", "wiki": "r"}}}
    write_run(tmp_path, rows_of(votes, mode="all"), mode="all")
    with open_results(tmp_path) as results:
        row = scores_if(results, VoteRules(["ref"]))[0]
    names = ("n_responses", "n_compared", "factuality_score", "before", "difference")
    assert [row[name] for name in names] == [2, 1, 1.0, 1.0, 0.0]
    assert row["before_coverage"] == 1.0
