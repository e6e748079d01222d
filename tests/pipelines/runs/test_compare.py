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
from ufo.pipelines.reports.comparison import add_verdict, compare_models
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
    printed = ok("compare", folder, "old", "new", "--json").json
    assert printed["p"] == pytest.approx(expected.pvalue)
    assert [printed["low"], printed["high"]] == pytest.approx([interval.low, interval.high])
    means = [np.mean(before), np.mean(after), np.mean(after) - np.mean(before)]
    printed_means = [printed[name] for name in ("baseline_score", "run_score", "difference")]
    assert printed_means == pytest.approx(means)
    assert printed["n_questions"] == 6
    assert printed["n_responses"] == 0
    assert printed["only_baseline"] == 0
    assert printed["only_run"] == 0
    assert printed["worse"] is False
    # Exit 3 only where the drop is significant.
    for runs, level, code in (
        (("old", "new"), printed["p"] * 1.01, 3),
        (("old", "new"), printed["p"], 0),
        (("new", "old"), 0.9, 0),
        (("new", "old"), 1.5, 2),
    ):
        done = ufo("compare", folder, *runs, "--fail_if_worse", level)
        assert done.code == code
        assert ("Significantly worse" in done.err) == (code == 3)


@pytest.mark.parametrize(
    ("before", "after", "expected", "text"),
    [
        # Equal differences are as a sign test has them.
        (["ss"] * 5, ["sr"] * 5, {"p": 0.5**5, "low": None, "high": None},
         "0.500 lower than old over the 5 responses that both have, 0.500 against 1.000 (no "
         "interval, since all differences are equal; by a sign test one-sided p = 0.031)"),
        # One pair alone proves nothing.
        (["ss"], ["rr"], {"difference": -1, "p": None, "low": None, "high": None},
         "1.000 lower than old over the 1 response that both have, 0.000 against 1.000, too few "
         "pairs to say whether by chance"),
        (["ssr", "ns"], ["srs", "ns"], {"n_pairs": 2},
         "claims no longer supported: 1; supported now: 1"),
    ],
    ids=["equal differences", "one pair", "claims that turned both ways"],
)  # fmt: skip
def test_few_pairs_and_equal_ones(
    two: Callable[..., Any], before: list[str], after: list[str], expected: Any, text: str
) -> None:
    folder = two(before, after, question=" ")
    assert text in ok("compare", folder, "old", "new").out
    printed = ufo("compare", folder, "old", "new", "--json").json
    assert {name: printed[name] for name in expected} == expected
    # Without a question they pair by their ids; the claims that were lost come first.
    assert printed["n_questions"] == 0
    assert printed["n_responses"] == len(before)
    turned = [(row["before"], row["after"]) for row in printed["turned"]]
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
    printed = ufo("compare", tmp_path, "old", "new", "--json").json
    # d1: .75 in both; d2: .5, then 1; d3 has no pair.
    assert printed["n_pairs"] == 2
    assert printed["difference"] == 0.25
    assert printed["only_baseline"] == 0
    assert printed["only_run"] == 1


OF_SIX = "over the 6 questions that both have"


@pytest.mark.parametrize(
    ("after", "headline"),
    [
        pytest.param(
            ["ssss"] * 6,
            f"new scores 0.292 higher than old {OF_SIX}, 1.000 against 0.708 (",
            id="better",
        ),
        pytest.param(
            BEFORE,
            f"no significant difference between new and old {OF_SIX}, 0.708 against 0.708 (",
            id="the same",
        ),
        pytest.param(
            AFTER,
            f"new scores 0.250 lower than old {OF_SIX}, 0.458 against 0.708 (",
            id="worse",
        ),
    ],
)
def test_the_difference_is_told_in_words(
    two: Callable[..., Any], after: list[str], headline: str
) -> None:
    comparison = compare(str(two(BEFORE, after)), "old", "new")
    assert comparison["headline"].startswith(headline)
    assert comparison["decided"]
    may_be_chance = comparison["low"] is None or comparison["low"] <= 0 <= comparison["high"]
    assert ("no significant difference" in comparison["headline"]) == may_be_chance
    assert comparison["basis"] == "Paired by 6 questions"


@pytest.mark.parametrize(
    ("p", "undecided", "worse"),
    [(None, "too few", None), (0.05, None, False), (0.049, None, True), (0.001, "too few", None)],
    ids=["unknown", "just as likely", "less likely", "not to be decided"],
)  # fmt: skip
def test_a_run_is_worse_below_the_level(
    p: float | None, undecided: str | None, worse: bool | None
) -> None:
    comparison = {"p": p, "undecided": undecided, "n_pairs": 9, "method": "t", "difference": -0.1}
    verdict = add_verdict(comparison, 0.05)
    assert (verdict["worse"], verdict["decided"]) == (worse, not undecided)


def test_runs_that_share_nothing_cannot_be_compared(tmp_path: Path) -> None:
    write_run(tmp_path, run_of(["s"], question="A"), "old")
    write_run(tmp_path, run_of(["s"], question="B"), "new")
    assert "share no question" in ends(2, "compare", tmp_path, "old", "new").err


@pytest.mark.parametrize(("older", "newer"), [("recalled", "new"), ("new", "recalled")])
def test_a_run_of_recall_has_no_score_to_compare(tmp_path: Path, older: str, newer: str) -> None:
    write_run(tmp_path, run_of(["s"]), "new")
    facts = tmp_path / "facts.json"
    facts.write_text('{"question": "?", "ground_truth": "A is B.", "answers": {"x": "A is B."}}')
    recall = ("recall", "--input", facts, "--output", tmp_path, "--judge", "offline")
    ok(*recall, "--run", "recalled")
    assert "is of 'ufo recall'" in ends(2, "compare", tmp_path, older, newer).err


# --- gates of ufo evaluate -----------------------------------------------------------------------


def test_a_baseline_that_is_none_is_reported_before_anything_is_evaluated(tmp_path: Path) -> None:
    words = evaluation(tmp_path, [{"response": "Oslo is in Norway."}])
    first = ends(2, *words, "--baseline", "a")
    assert "to begin, evaluate once without it and with --run a." in first.err
    ok(*words, "--run", "a")
    for flags, message in (
        (("--run", "b", "--baseline", "c"), "unknown run 'c'; allowed: a."),
        (("--run", "a", "--baseline", "a"), "is the baseline itself"),
        (("--fail_if_worse", 0.1), "--baseline, which is missing"),
    ):
        assert message in ends(2, *words, *flags).err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["run=a"]


# --- the questions that changed most, and two models of one run


def shown_of(folder: Path) -> list[tuple[Any, ...]]:
    """The questions that changed between two runs: their data sets, scores and responses."""
    questions = compare(str(folder), "old", "new")["questions"]
    names = ("question", "dataset", "score_a", "score_b", "response_a", "response_b")
    return [tuple(row[name] for name in names) for row in questions]


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
    ("model", "other", "difference"),
    [
        pytest.param("m", "n", 1 / 3 - 1, id="a lower one"),
        pytest.param("n", "m", 1 - 1 / 3, id="a higher one"),
    ],
)
def test_a_model_is_compared_with_another(
    tmp_path: Path, model: str, other: str, difference: float
) -> None:
    with models(tmp_path, same_questions=True) as results:
        comparison = compare_models(results, model, other)
    assert comparison["difference"] == pytest.approx(difference)
    assert comparison["low"] < difference < comparison["high"]
    assert comparison["score_b"] - comparison["score_a"] == pytest.approx(difference)
    assert comparison["basis"].startswith("Paired by 3 questions that both answered, in ")
    assert f"{other} scores 0.667 " in comparison["headline"]
    assert " over the 3 questions that both have, " in comparison["headline"]
    assert [row["question"] for row in comparison["questions"]] == ["Q1", "Q0", "Q2"]
    assert [row["difference"] for row in comparison["questions"]] == [
        pytest.approx(share * difference) for share in (1.5, 0.75, 0.75)
    ]


def test_models_without_a_question_in_common_are_compared_all_the_same(tmp_path: Path) -> None:
    with models(tmp_path, same_questions=False) as results:
        comparison = compare_models(results, "m", "n")
    assert comparison["basis"].startswith(
        "Over 6 responses; they answered no two questions in common"
    )
    assert " over the responses of each (3 of n, 3 of m), " in comparison["headline"]


@pytest.mark.parametrize(
    ("headline", "votes"),
    [
        pytest.param("(no interval, since all differences are equal)",
                     {"a": "s", "b": "r", "c": "s", "d": "r"}, id="equal ones"),
        pytest.param("too few responses to say", {"a": "s", "b": "r"}, id="one response of each"),
    ],
)  # fmt: skip
def test_models_without_an_interval_are_told_why(
    tmp_path: Path, headline: str, votes: dict[str, str]
) -> None:
    models = {one: "mn"[n % 2] for n, one in enumerate(votes)}
    votes_of = {one: {f"u{one}": {"ref": vote}} for one, vote in votes.items()}
    write_run(tmp_path, rows_of(votes_of, models=models))
    with open_results(tmp_path) as results:
        assert headline in compare_models(results, "m", "n")["headline"]


def test_models_with_few_questions_in_common_are_not_decided(tmp_path: Path) -> None:
    """They share two of five questions of one of them."""
    questions = {f"r{n}": f"Q {n // 2}" for n in range(4)} | {f"x{n}": f"X {n}" for n in range(3)}
    votes = {one: {f"u{one}": {"ref": "s"}} for one in questions}
    models = {one: "mn"[n % 2] for n, one in enumerate(f"r{n}" for n in range(4))}
    models |= {f"x{n}": "m" for n in range(3)}
    write_run(tmp_path, rows_of(votes, models=models, questions=questions))
    with open_results(tmp_path) as results:
        comparison = compare_models(results, "m", "n")
    assert "over the 2 questions that both have (of 2 in n and 5 in m)" in comparison["headline"]
    assert comparison["notes"][0].startswith("cannot be decided: 2 of 5 questions are in both")


@pytest.mark.parametrize(
    ("model", "other", "message"),
    [
        pytest.param("m", "m", "'m' is compared with itself", id="itself"),
        pytest.param("m", "x", "unknown model 'x'; allowed: m, n", id="the second unknown"),
        pytest.param("x", "m", "unknown model 'x'; allowed: m, n", id="the first unknown"),
    ],
)
def test_models_that_cannot_be_compared(
    tmp_path: Path, model: str, other: str, message: str
) -> None:
    with models(tmp_path, True) as results, pytest.raises(UsageError, match=message):
        compare_models(results, model, other)


KNOWN, UNKNOWN = {"u": {"ref": "s"}}, {"u": {"ref": "n"}}


def test_the_coverage_is_of_the_questions_that_both_runs_have(tmp_path: Path) -> None:
    alone = dict.fromkeys("abcd", KNOWN)
    write_run(tmp_path, rows_of({"x": KNOWN, "y": KNOWN, "z": KNOWN}), "old")
    write_run(tmp_path, rows_of({"x": KNOWN, "y": UNKNOWN, "z": UNKNOWN, **alone}), "new")
    comparison = compare(str(tmp_path), "old", "new")
    assert comparison["run_coverage"] == pytest.approx(1 / 3)
    assert comparison["notes"][1:] == ["new: coverage 0.333 in what is compared"]


def test_a_side_of_which_nothing_was_known_is_not_compared(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"x": KNOWN}), "old")
    write_run(tmp_path, rows_of({"x": UNKNOWN, "y": KNOWN}), "new")
    with pytest.raises(UsageError, match="'new' has no score to compare: no source knew any"):
        compare(str(tmp_path), "old", "new")


# --- what cannot be decided


def write_asked(
    folder: Path, name: str, votes: dict[str, str], asked: dict[str, str] | None = None
) -> None:
    """Write a run in which each response has one claim with this vote, and its own question."""
    votes_of = {response: {f"{response}-u": {"ref": vote}} for response, vote in votes.items()}
    rows = rows_of(
        votes_of, sources=("ref",), questions=asked or {one: f"Q {one}" for one in votes}
    )
    write_run(folder, rows, name)


def numbered(first: int, last: int, vote: str) -> dict[str, str]:
    return {f"r{n}": vote for n in range(first, last)}


HALF_SCORED = numbered(0, 4, "s") | numbered(4, 10, "e")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        pytest.param(numbered(0, 68, "s"), numbered(0, 2, "s") | numbered(100, 166, "r"),
                     "2 of 68 questions are in both with a score, less than --least_shared 0.5",
                     id="two questions in common"),
        pytest.param(numbered(0, 10, "s"), numbered(0, 4, "s"), "4 of 10 questions are in both",
                     id="the newer one has fewer"),
        pytest.param(numbered(0, 4, "s"), numbered(0, 10, "s"), "4 of 10 questions are in both",
                     id="the older one has fewer"),
        pytest.param(numbered(0, 10, "s"), HALF_SCORED, "4 of 10 questions are in both",
                     id="most of the newer one has no score"),
        pytest.param(HALF_SCORED, numbered(0, 10, "s"), "4 of 10 questions are in both",
                     id="most of the older one has no score"),
        pytest.param(numbered(0, 1, "s"), numbered(0, 1, "r"),
                     "1 of 1 question is in both with a score, and a test takes 2", id="one pair"),
        pytest.param(numbered(0, 5, "s"), numbered(5, 10, "r"),
                     "share no question and no response with a score, so there is nothing to "
                     "compare: 0 of 5 questions are in both", id="none in common"),
        pytest.param(numbered(0, 5, "s"), numbered(0, 5, "e"), "run 'new' has no score",
                     id="the newer one has no score"),
        pytest.param(numbered(0, 5, "e"), numbered(0, 5, "s"), "run 'old' has no score",
                     id="the older one has no score"),
        pytest.param(numbered(0, 5, "s"), numbered(0, 5, "n"), "no source knew any of 5 claims",
                     id="the newer one knows nothing"),
    ],
)  # fmt: skip
def test_a_gate_that_cannot_decide_does_not_pass(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], reason: str
) -> None:
    write_asked(tmp_path, "old", before)
    write_asked(tmp_path, "new", after)
    gate = ("compare", tmp_path, "old", "new", "--fail_if_worse", 0.05)
    message = ends(3, *gate).err
    assert "Whether it is worse cannot be decided: " in message
    assert reason in message
    assert "Significantly worse" not in message
    printed = ends(3, *gate, "--json").json
    assert printed["decided"] is False
    assert reason in printed["undecided"]
    assert not printed["worse"]


def test_what_cannot_be_decided_is_shown_all_the_same(tmp_path: Path) -> None:
    write_asked(tmp_path, "old", numbered(0, 68, "s"))
    write_asked(tmp_path, "new", numbered(0, 2, "s") | numbered(100, 150, "r"))
    lines = ok("compare", tmp_path, "old", "new").out.splitlines()
    assert lines[0] == (
        "no significant difference between new and old over the 2 questions that both have (of 52 "
        "in new and 68 in old), 1.000 against 1.000 (no interval, since all differences are equal; "
        "by a sign test one-sided p = 1)"
    )
    assert lines[1] == "Paired by 2 questions; 116 without a pair left out"
    assert lines[2].startswith("cannot be decided: 2 of 68 questions are in both with a score")


@pytest.mark.parametrize(
    ("share", "code"),
    [
        pytest.param(0.4, 3, id="enough, and a drop"),
        pytest.param(0.41, 3, id="too little"),
        pytest.param(0, 3, id="any, and a drop"),
        pytest.param(1.1, 2, id="more than all"),
        pytest.param(-0.1, 2, id="less than none"),
        pytest.param("nan", 2, id="no number"),
    ],
)
def test_an_option_accepts_less_in_common(tmp_path: Path, share: object, code: int) -> None:
    write_asked(tmp_path, "old", numbered(0, 20, "s"))
    write_asked(tmp_path, "new", numbered(0, 8, "r"))
    gate = ("compare", tmp_path, "old", "new", "--fail_if_worse", 0.05, "--least_shared", share)
    message = ends(code, *gate).err
    assert ("Significantly worse" in message) == (share in (0.4, 0))
    assert ("cannot be decided" in message) == (share == 0.41)


def test_no_drop_passes_where_less_in_common_is_accepted(tmp_path: Path) -> None:
    write_asked(tmp_path, "old", numbered(0, 20, "s"))
    write_asked(tmp_path, "new", numbered(0, 8, "s"))
    gate = ("compare", tmp_path, "old", "new", "--fail_if_worse", 0.05, "--json")
    printed = ok(*gate, "--least_shared", 0.4).json
    assert (printed["decided"], printed["undecided"], printed["worse"]) == (True, None, False)
    assert (printed["shared_a"], printed["shared_b"]) == (0.4, 1.0)
    assert (printed["n_baseline"], printed["n_run"], printed["n_pairs"]) == (20, 8, 8)


@pytest.mark.parametrize(
    ("n", "level", "message"),
    [
        pytest.param(2, 0.05, "all 2 pairs drop by 0.500, and a sign test at p < 0.05 takes 5",
                     id="two"),
        pytest.param(4, 0.05, "all 4 pairs drop by 0.500, and a sign test at p < 0.05 takes 5",
                     id="four"),
        pytest.param(5, 0.05, "Significantly worse", id="five"),
        pytest.param(5, 0.01, "takes 7 pairs", id="five, at a stricter level"),
        pytest.param(2, 0.25, "takes 3 pairs", id="just as likely as the level"),
        pytest.param(2, 0.26, "Significantly worse", id="two, at a looser level"),
    ],
)  # fmt: skip
def test_equal_drops_are_significant_or_cannot_be_decided(
    two: Callable[..., Any], n: int, level: float, message: str
) -> None:
    gate = ("compare", two(["ss"] * n, ["sr"] * n), "old", "new", "--fail_if_worse", level)
    assert message in ends(3, *gate).err
    printed = ends(3, *gate, "--json").json
    assert printed["worse"] == (True if message.startswith("Sign") else None)
    assert printed["decided"] == message.startswith("Sign")


@pytest.mark.parametrize("after", ["ss", "sr"], ids=["better", "the same"])
def test_a_few_equal_differences_pass_unless_they_are_drops(
    two: Callable[..., Any], after: str
) -> None:
    ok("compare", two(["sr"] * 2, [after] * 2), "old", "new", "--fail_if_worse", 0.05)


def test_a_half_in_common_is_enough(tmp_path: Path) -> None:
    write_asked(tmp_path, "old", numbered(0, 10, "s"))
    write_asked(tmp_path, "new", numbered(5, 15, "s"))
    ok("compare", tmp_path, "old", "new", "--fail_if_worse", 0.05)


BLANK = [f"r{n}" for n in range(6)]


def test_responses_without_a_question_are_counted_as_responses(tmp_path: Path) -> None:
    write_asked(tmp_path, "old", numbered(0, 6, "s"), dict.fromkeys(BLANK, " "))
    write_asked(tmp_path, "new", numbered(0, 2, "s"), dict.fromkeys(BLANK, " "))
    message = ends(3, "compare", tmp_path, "old", "new", "--fail_if_worse", 0.05).err
    assert "2 of 6 responses are in both with a score" in message


def test_questions_and_responses_without_one_are_counted_together(tmp_path: Path) -> None:
    asked = {"r0": "Q 0", **dict.fromkeys(BLANK[1:], " ")}
    write_asked(tmp_path, "old", numbered(0, 6, "s"), asked)
    write_asked(tmp_path, "new", numbered(0, 2, "s"), asked)
    message = ends(3, "compare", tmp_path, "old", "new", "--fail_if_worse", 0.05).err
    assert "2 of 6 questions and responses are in both with a score" in message


def test_why_a_comparison_has_another_score_than_the_report_is_told(tmp_path: Path) -> None:
    """A run's score is the mean of its responses; a question with two of them is paired once."""
    twice = {"r0": "Q 0", "r1": "Q 0", "r2": "Q 2"}
    for name in ("old", "new"):
        write_asked(tmp_path, name, {"r0": "s", "r1": "s", "r2": "r"}, twice)
    comparison = compare(str(tmp_path), "old", "new")
    assert "0.500 against 0.500" in comparison["headline"]
    assert comparison["basis"].startswith(
        "Paired by 2 questions; a question counts once, by the mean"
    )


def test_a_missing_baseline_is_an_error_of_use_under_a_gate_too(tmp_path: Path) -> None:
    write_asked(tmp_path, "new", numbered(0, 2, "s"))
    gate = ("compare", tmp_path, "old", "new", "--fail_if_worse", 0.05)
    assert "unknown run 'old'" in ends(2, *gate).err
