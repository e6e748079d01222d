"""Two runs against each other: the statistics, the claims that turned, and the gates."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ends, evaluation, ok, ufo
from ufo.pipelines.reports.comparison import compare_models, is_worse
from ufo.pipelines.runs.comparison import compare
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results, open_results


def run_of(scores: list[str], question: str = "Q {}") -> dict[str, list[Any]]:
    """Rows of a run in which response i has these units' votes."""
    votes = {
        f"r{i}": {f"u{i}-{j}": {"ref": vote} for j, vote in enumerate(units)}
        for i, units in enumerate(scores)
    }
    rows = rows_of(votes, sources=("ref",))
    rows["responses"] = [
        replace(row, question=question.format(i)) for i, row in enumerate(rows["responses"])
    ]
    return rows


@pytest.fixture(name="two")
def _two(tmp_path: Path) -> Callable[..., Any]:
    """Write two runs of letters by response, and return their folder."""

    def two(before: list[str], after: list[str], **how: str) -> Path:
        write_run(tmp_path, run_of(before, **how), "old", finished_at="2025-01-01T00:00:00Z")
        write_run(tmp_path, run_of(after, **how), "new", finished_at="2025-01-02T00:00:00Z")
        return tmp_path

    return two


# Four units a response: letters of what the reference says of each.
BEFORE = ["ssss", "sssr", "ssrr", "ssss", "srrr", "sssn"]
AFTER = ["ssrr", "ssrr", "ssrr", "sssr", "rrrr", "ssnn"]


def scores(run: list[str]) -> list[float]:
    return [units.count("s") / len(units) for units in run]


def test_the_test_is_scipys_paired_t_test(two: Callable[..., Any]) -> None:
    folder = two(BEFORE, AFTER)
    before, after = scores(BEFORE), scores(AFTER)
    expected = stats.ttest_rel(after, before, alternative="less")
    interval = stats.ttest_rel(after, before).confidence_interval()
    found = ok("compare", folder, "old", "new", "--json").json
    assert found["p"] == pytest.approx(expected.pvalue)
    assert [found["low"], found["high"]] == pytest.approx([interval.low, interval.high])
    means = [np.mean(before), np.mean(after), np.mean(after) - np.mean(before)]
    told = [found[name] for name in ("baseline_score", "run_score", "difference")]
    assert told == pytest.approx(means)
    assert found["n_questions"] == 6
    assert found["n_responses"] == 0
    assert found["only_baseline"] == 0
    assert found["only_run"] == 0
    assert found["worse"] is False
    # Exit 3 only where the drop is significant.
    for runs, level, code in (
        (("old", "new"), found["p"] * 1.01, 3),
        (("old", "new"), found["p"], 0),
        (("new", "old"), 0.9, 0),
        (("new", "old"), 1.5, 2),
    ):
        done = ufo("compare", folder, *runs, "--fail_if_worse", level)
        assert done.code == code
        assert ("Significantly worse" in done.err) == (code == 3)


@pytest.mark.parametrize(
    ("before", "after", "expected", "told"),
    [
        # Equal differences are as a sign test has them.
        (["ss"] * 5, ["sr"] * 5, {"p": 0.5**5, "low": -0.5, "high": -0.5}, "0.500 lower than old"),
        # One pair alone proves nothing.
        (["ss"], ["rr"], {"difference": -1, "p": None, "low": None, "high": None},
         "1.000 lower than old, 0.000 against 1.000, too few pairs"),
        (["ssr", "ns"], ["srs", "ns"], {"n_pairs": 2},
         "claims no longer supported: 1; supported now: 1"),
    ],
    ids=["equal differences", "one pair", "claims that turned both ways"],
)  # fmt: skip
def test_few_pairs_and_equal_ones(
    two: Callable[..., Any], before: list[str], after: list[str], expected: Any, told: str
) -> None:
    folder = two(before, after, question=" ")
    done = ufo("compare", folder, "old", "new", "--fail_if_worse", 0.5 if len(before) == 1 else 0)
    assert done.code == 0
    assert told in done.out
    found = ufo("compare", folder, "old", "new", "--json").json
    assert {name: found[name] for name in expected} == expected
    # Without a question they pair by their ids; the claims that were lost come first.
    assert found["n_questions"] == 0
    assert found["n_responses"] == len(before)
    turned = [(row["before"], row["after"]) for row in found["turned"]]
    assert turned == sorted(turned, key=lambda row: row[0] != "supported") != []


def test_questions_are_of_a_data_set_and_several_responses_are_one(tmp_path: Path) -> None:
    for name, votes, last in (
        ("old", ["ss", "sr", "rr", "ss"], "d2"),
        ("new", ["sr", "ss", "ss", "ss"], "d3"),
    ):
        rows = run_of(votes, question="Same?")
        rows["responses"] = [
            replace(row, dataset=dataset)
            for row, dataset in zip(rows["responses"], ["d1", "d1", "d2", last], strict=True)
        ]
        write_run(tmp_path, rows, name)
    found = ufo("compare", tmp_path, "old", "new", "--json").json
    # d1: .75 in both; d2: .5, then 1; d3 has no pair.
    assert found["n_pairs"] == 2
    assert found["difference"] == 0.25
    assert found["only_baseline"] == 0
    assert found["only_run"] == 1


@pytest.mark.parametrize(
    ("after", "said"),
    [
        pytest.param(
            ["ssss"] * 6, "new scores 0.292 higher than old, 1.000 against 0.708 (", id="better"
        ),
        pytest.param(
            BEFORE, "no difference between new and old, 0.708 against 0.708 (", id="the same"
        ),
        pytest.param(AFTER, "new scores 0.250 lower than old, 0.458 against 0.708 (", id="worse"),
    ],
)
def test_the_difference_is_told_in_words(
    two: Callable[..., Any], after: list[str], said: str
) -> None:
    found = compare(str(two(BEFORE, after)), "old", "new")
    assert found["headline"].startswith(said)
    may_be_chance = found["difference"] != 0 and found["low"] <= 0 <= found["high"]
    assert ("may be chance" in found["headline"]) == may_be_chance
    assert found["basis"] == "Paired by 6 questions"


@pytest.mark.parametrize(
    ("p", "worse"), [(None, False), (0.05, False), (0.049, True)],
    ids=["unknown", "just as likely", "less likely"],
)  # fmt: skip
def test_a_run_is_worse_below_the_level(p: float | None, worse: bool) -> None:
    assert is_worse({"p": p}, 0.05) == worse


def test_runs_that_share_nothing_cannot_be_compared(tmp_path: Path) -> None:
    write_run(tmp_path, run_of(["s"], question="A"), "old")
    write_run(tmp_path, run_of(["s"], question="B"), "new")
    assert "share no question" in ends(2, "compare", tmp_path, "old", "new").err


# --- gates of ufo evaluate -----------------------------------------------------------------------


def test_a_baseline_that_is_none_is_reported_before_anything_is_evaluated(tmp_path: Path) -> None:
    words = evaluation(tmp_path, [{"response": "Oslo is in Norway."}])
    first = ends(2, *words, "--baseline", "a")
    assert "to begin, evaluate once without it and with --run a." in first.err
    ok(*words, "--run", "a")
    for flags, said in (
        (("--run", "b", "--baseline", "c"), "unknown run 'c'; allowed: a."),
        (("--run", "a", "--baseline", "a"), "is the baseline itself"),
        (("--fail_if_worse", 0.1), "--baseline, which is missing"),
    ):
        assert said in ends(2, *words, *flags).err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run=a"]


# --- the questions that changed most, and two models of one run


def shown_of(folder: Path) -> list[tuple[Any, ...]]:
    """The questions that changed between two runs: their data sets, scores and responses."""
    found = compare(str(folder), "old", "new")["questions"]
    names = ("question", "dataset", "score_a", "score_b", "response_a", "response_b")
    return [tuple(row[name] for name in names) for row in found]


def test_questions_that_changed_come_in_the_order_of_their_change(tmp_path: Path) -> None:
    """The same ones, those of one run alone and those without a score are none; nor are those that
    only another mode turns."""
    before = {"a": "s", "b": "ss", "same": "s", "old": "s", "e": "s"}
    after = {"A": "e", "a": "r", "b": "sr", "same": "s", "new": "r", "e": "e"}
    for name, run in (("old", before), ("new", after)):
        votes = {
            response: {f"{response}{n}": {"ref": vote} for n, vote in enumerate(units)}
            for response, units in run.items()
        }
        if name == "new":
            votes["same"]["same0"]["wiki"] = "rr"
        datasets, questions = {"A": "d1", "a": "d1", "b": "d2"}, {"A": "What of a?"}
        rows = rows_of(votes, mode="all", datasets=datasets, questions=questions)
        write_run(tmp_path, rows, name, mode="all")
    assert shown_of(tmp_path) == [
        ("What of a?", "d1", 1.0, 0.0, "a", "a"),
        ("What of b?", "d2", 1.0, 0.5, "b", "b"),
    ]


def test_twenty_questions_that_changed_are_shown(two: Callable[..., Any]) -> None:
    folder = two(["s"] * 21, ["r"] * 21)
    assert len(shown_of(folder)) == 20
    shown = ok("compare", folder, "old", "new").out
    assert shown.count("Claim u") == 20
    assert shown.endswith("\nThe first 20 of 21. All of them: --json.\n")


def models(folder: Path, same_questions: bool) -> Results:
    votes = {"a": "ss", "b": "sr", "c": "ss", "d": "rr", "e": "ss", "f": "rs"}
    questions = {one: f"Q{n // 2 if same_questions else n}" for n, one in enumerate(votes)}
    votes["no model"] = "s"
    rows = rows_of(
        {one: {f"{one}{n}": {"ref": x} for n, x in enumerate(said)} for one, said in votes.items()},
        models={one: "mn"[n % 2] for n, one in enumerate(questions)},
        questions=questions,
    )
    write_run(folder, rows)
    return open_results(folder)


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        pytest.param("m", "n", 1 / 3 - 1, id="a lower one"),
        pytest.param("n", "m", 1 - 1 / 3, id="a higher one"),
    ],
)
def test_a_model_is_compared_with_another(
    tmp_path: Path, one: str, other: str, difference: float
) -> None:
    with models(tmp_path, same_questions=True) as results:
        found = compare_models(results, one, other)
    assert found["difference"] == pytest.approx(difference)
    assert found["low"] < difference < found["high"]
    assert found["score_b"] - found["score_a"] == pytest.approx(difference)
    assert found["basis"].startswith("Paired by 3 questions that both answered, in ")
    assert f"{other} scores 0.667 " in found["headline"]
    assert [row["question"] for row in found["questions"]] == ["Q1", "Q0", "Q2"]
    assert [row["difference"] for row in found["questions"]] == [
        pytest.approx(share * difference) for share in (1.5, 0.75, 0.75)
    ]


def test_models_without_a_question_in_common_are_compared_all_the_same(tmp_path: Path) -> None:
    with models(tmp_path, same_questions=False) as results:
        found = compare_models(results, "m", "n")
    assert found["basis"].startswith("Over 6 responses; they answered no two questions in common")


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        pytest.param("m", "m", "'m' is compared with itself", id="itself"),
        pytest.param("m", "x", "unknown model 'x'; allowed: m, n", id="the second unknown"),
        pytest.param("x", "m", "unknown model 'x'; allowed: m, n", id="the first unknown"),
    ],
)
def test_models_that_cannot_be_compared(tmp_path: Path, one: str, other: str, said: str) -> None:
    with models(tmp_path, True) as results, pytest.raises(UsageError, match=said):
        compare_models(results, one, other)


KNOWN, UNKNOWN = {"u": {"ref": "s"}}, {"u": {"ref": "n"}}


def test_the_coverage_is_of_the_questions_that_both_runs_have(tmp_path: Path) -> None:
    alone = dict.fromkeys("abcd", KNOWN)
    write_run(tmp_path, rows_of({"x": KNOWN, "y": KNOWN, "z": KNOWN}), "old")
    write_run(tmp_path, rows_of({"x": KNOWN, "y": UNKNOWN, "z": UNKNOWN, **alone}), "new")
    found = compare(str(tmp_path), "old", "new")
    assert found["run_coverage"] == pytest.approx(1 / 3)
    assert found["notes"] == ["new: coverage 0.333"]


def test_a_side_of_which_nothing_was_known_is_not_compared(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"x": KNOWN}), "old")
    write_run(tmp_path, rows_of({"x": UNKNOWN, "y": KNOWN}), "new")
    with pytest.raises(UsageError, match="'new' has no score to compare: no source knew any"):
        compare(str(tmp_path), "old", "new")
