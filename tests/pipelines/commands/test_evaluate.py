"""What `ufo evaluate` says of a run at its end, to people and to programs, and its exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.llm_server import LlmServer
from tests.pipelines.conftest import TWO, Outcome, ends, evaluation, ok
from tests.pipelines.llm_runs import at
from tests.transforms.judges.stated import STATED

ENGLISH = {"id": "c", "response": "Oslo is large.", "reference_answers": "Oslo is large."}
RUSSIAN = {"id": "d", "response": "Осло находится в Норвегии.", "reference_answers": "Осло."}
NO_CLAIM = {"id": "e", "response": "Hm.", "claims": []}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evaluate")


@pytest.fixture(scope="module")
def again(folder: Path) -> Callable[..., Outcome]:
    """Two responses of which one is supported, and a line that is none, are evaluated once; then
    the command says the same with other flags."""
    words = evaluation(folder, [*TWO, "broken"], "--run", "one", "--judge", "offline")
    ok(*words)
    return lambda code, *flags: ends(code, *words, "--if_finished", "skip", *flags)


def test_people_are_told_the_size_the_score_the_failures_and_the_place(
    again: Callable[..., Outcome], folder: Path
) -> None:
    done = again(0)
    assert "Run one is finished; left as it is (--if_finished skip)." in done.err
    lines = done.out.splitlines()
    assert lines[0] == "run one: 2 responses, 2 claims"
    assert lines[1] == "1 of 2 claims supported, 1 not found"
    assert lines[2] == HALF
    assert lines[3].startswith("A first look; for findings use a model. With reference texts ")
    assert lines[4:] == [
        "1 failure, each with its reason in the table `failures`",
        f"results in {folder}/out/run=one",
    ]


def test_programs_are_told_the_same(again: Callable[..., Outcome], folder: Path) -> None:
    printed = again(0, "--json").json
    assert printed.pop("judged_by").startswith("Verifier overlap (a first look")
    assert printed.pop("trust").startswith("A first look")
    assert printed.pop("seconds") >= 0
    (view,) = ok("report", folder / "out", "scores_by_run", "--json").json
    scores = view.keys() - {"run", "mode", "source", "interval_method"}
    assert {name: printed.pop(name) for name in scores} == {name: view[name] for name in scores}
    assert printed == {
        "run": "one",
        "headline": "1 of 2 claims supported, 1 not found",
        "mode": "seq",
        "sources": ["reference"],
        "responses": 2,
        "units": 2,
        "failures": 1,
        "score_in_words": HALF,
        "left_out": "",
        "n_without_claim": 0,
        "n_not_extracted": 0,
        "n_abstained": 0,
        "requests": 0,
        "tokens": 0,
        "cost_usd": 0,
        "problem": None,
        "path": f"{folder}/out/run=one",
        "below": False,
        "error_share": 0.0,
    }


HALF = "factuality score 0.500 (0.002 to 0.998), coverage 0.500"


@pytest.mark.parametrize(
    ("limit", "code", "message"),
    [
        pytest.param(0.5, 0, "", id="at the limit"),
        pytest.param(0.501, 3, f"Below --fail_under 0.501: {HALF}\n", id="below the limit"),
    ],
)
def test_a_score_below_the_limit_is_exit_code_3(
    again: Callable[..., Outcome], limit: float, code: int, message: str
) -> None:
    assert again(code, "--fail_under", limit).err.endswith(message)
    assert again(code, "--fail_under", limit, "--json").json["below"] == bool(code)


@pytest.mark.parametrize(
    ("records", "code", "message", "share"),
    [
        pytest.param([NO_CLAIM], 3, "Below --fail_under 0.0: no score: there is no claim\n", 0.0,
                     id="no claim"),
        pytest.param([RUSSIAN], 1, "1 of 1 judgement was unusable; try --judge llm", 1.0,
                     id="nothing usable"),
        pytest.param([ENGLISH, RUSSIAN], 0, "1 of 2 judgements was unusable; try --judge llm", 0.5,
                     id="half of it usable"),
    ],
)  # fmt: skip
def test_without_a_score_or_with_judgements_that_are_unusable(
    tmp_path: Path, records: list[Any], code: int, message: str, share: float
) -> None:
    words = evaluation(tmp_path, records, "--fail_under", 0, "--judge", "offline", "--json")
    done = ends(code, *words)
    assert message in done.err
    assert done.json["error_share"] == share
    assert done.json["factuality_score"] == (1.0 if code == 0 else None)
    assert (done.json["problem"] or "")[:20] == (message[:20] if share else "")


@pytest.mark.parametrize(
    ("price", "text"),
    [
        pytest.param({"other": {"input": 1, "output": 1}}, "cost unknown", id="no price"),
        pytest.param({"offline-judge": {"input": 0, "output": 0}}, "$0.0000", id="a price"),
    ],
)
def test_requests_are_counted_with_their_cost(
    tmp_path: Path, llm_server: LlmServer, price: Any, text: str
) -> None:
    (tmp_path / "prices.yaml").write_text(json.dumps(price))
    flags = at(llm_server, "--prices", tmp_path / "prices.yaml")
    lines = ok(*evaluation(tmp_path, TWO, *flags)).out.splitlines()
    (line,) = (line for line in lines if "requests, " in line)
    answered = [one for one in llm_server.chats if one.status == 200]
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in answered)
    assert line == f"{len(llm_server.chats)} requests, {tokens:,} tokens, {text}"


# --- beside another run


def six(supported: int) -> list[Any]:
    """Six responses of one claim each; the references of so many say it."""
    texts = [*["Claim u."] * supported, *["Rome is large."] * (6 - supported)]
    record = {"response": "Claim u.", "claims": [{"claim": "Claim u."}]}
    return [
        {**record, "id": f"r{n}", "question": f"What of r{n}?", "reference_answers": text}
        for n, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """Six claims, of which one is supported, are evaluated once; then the command compares them
    with a run in which all are supported, or refuted."""
    folder = tmp_path_factory.mktemp("beside")
    for baseline, outcome in (("supported", "s"), ("refuted", "r")):
        votes = {f"r{n}": {"u": {"ref": outcome}} for n in range(6)}
        write_run(folder / "out", rows_of(votes), baseline)
    words = evaluation(folder, six(1), "--run", "new", "--judge", "offline")
    ok(*words)
    return lambda code, *flags: ends(code, *words, "--if_finished", "skip", "--json", *flags)


WORSE = "Significantly worse than --baseline supported: p < "


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        pytest.param(("supported",), 3, f"{WORSE}0.05\n", id="worse at the usual level"),
        pytest.param(("supported", "--fail_if_worse", 0.01), 3, f"{WORSE}0.01\n",
                     id="worse at another level"),
        pytest.param(("supported", "--fail_if_worse", 0.001), 0, "", id="not at a stricter one"),
        pytest.param(("refuted",), 0, "", id="better"),
    ],
)  # fmt: skip
def test_a_run_that_is_worse_than_its_baseline_is_exit_code_3(
    beside: Callable[..., Outcome], flags: tuple[object, ...], code: int, message: str
) -> None:
    done = beside(code, "--baseline", *flags)
    assert done.json["worse"] == bool(code)
    assert done.json["comparison"]["n_questions"] == 6
    assert done.err.endswith(message)
    assert (WORSE in done.err) == bool(code)


def test_people_are_told_how_a_run_differs_from_its_baseline(tmp_path: Path) -> None:
    ok(*evaluation(tmp_path, six(6), "--run", "base", "--judge", "offline"))
    words = evaluation(tmp_path, six(1), "--run", "new", "--judge", "offline")
    *_, difference, note, lost, each = ends(3, *words, "--baseline", "base").out.splitlines()
    assert difference.startswith(
        "new scores 0.833 lower than base over the 6 questions that both have, 0.167 against 1.000 "
        "(95 %"
    )
    assert difference.endswith(", one-sided p = 0.0021). Paired by 6 questions")
    assert note == "new: coverage 0.167 in what is compared"
    assert lost == "claims no longer supported: 5; supported now: 0"
    assert each == f"each of them: ufo compare {tmp_path}/out base new"


def test_a_run_that_shares_nothing_with_its_baseline_is_finished_all_the_same(
    tmp_path: Path,
) -> None:
    write_run(tmp_path / "out", rows_of({"other": {"u": {"ref": "s"}}}), "base")
    words = evaluation(tmp_path, [ENGLISH], "--run", "new", "--baseline", "base")
    done = ends(3, *words, "--judge", "offline")
    assert "results in" in done.out
    assert "Whether it is worse cannot be decided: runs 'base' and 'new' share no que" in done.err
    assert (tmp_path / "out" / "run=new" / "manifest.json").exists()
    printed = ends(3, *words, "--judge", "offline", "--if_finished", "skip", "--json").json
    assert (printed["comparison"], printed["decided"], printed["worse"]) == (None, False, None)
    assert "share no question" in printed["undecided"]


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        pytest.param((), 3, "cannot be decided: 2 of 6 questions are in both", id="a third"),
        pytest.param(("--fail_if_worse", 1), 3, "cannot be decided: 2 of 6 questions are in both",
                     id="a third, at any level"),
        pytest.param(("--least_shared", 0.3), 0, "", id="where that is accepted"),
    ],
)  # fmt: skip
def test_a_gate_on_too_few_questions_does_not_pass(
    tmp_path: Path, flags: tuple[object, ...], code: int, message: str
) -> None:
    ok(*evaluation(tmp_path, six(6)[:2], "--run", "base", "--judge", "offline"))
    words = evaluation(tmp_path, six(6), "--run", "new", "--judge", "offline", "--baseline", "base")
    done = ends(code, *words, *flags, "--json")
    assert message in done.err
    assert done.json["decided"] == (code == 0)
    assert not done.json["worse"]
    assert done.json["comparison"]["n_pairs"] == 2


@pytest.mark.parametrize(
    ("score", "records"),
    [
        pytest.param(0.0, six(0), id="no source knew anything"),
        pytest.param(0.0, [NO_CLAIM], id="there is no claim"),
        pytest.param(1.0, [NO_CLAIM], id="there is no claim, for the highest limit"),
    ],
)
def test_a_run_without_a_score_is_below_every_limit(
    tmp_path: Path, score: float, records: list[Any]
) -> None:
    words = evaluation(tmp_path, records, "--run", "new", "--judge", "offline")
    message = ends(3, *words, "--fail_under", score).err
    assert f"Below --fail_under {score}: no score: " in message


@pytest.mark.parametrize("flag", ["--fail_if_worse", "--least_shared"])
def test_a_gate_needs_a_baseline(tmp_path: Path, flag: str) -> None:
    message = ends(2, *evaluation(tmp_path, six(1), "--judge", "offline"), flag, 0.5).err
    assert "--baseline, which is missing" in message


ABSTAINING = [
    ENGLISH,
    {"id": "f", "response": "I don't know.", "reference_answers": "Oslo is large."},
    {"id": "g", "response": "Not found in the provided context."},
    NO_CLAIM,
]


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """One response of four has a claim, and two of the others abstain."""
    folder = tmp_path_factory.mktemp("silent")
    words = evaluation(folder, ABSTAINING, "--run", "one", "--judge", "offline")
    ok(*words)
    return lambda code, *flags: ends(code, *words, "--if_finished", "skip", *flags)


def test_people_are_told_how_many_responses_have_no_claim(silent: Callable[..., Outcome]) -> None:
    lines = silent(0).out.splitlines()
    assert lines[2:4] == [
        "factuality score 1.000, coverage 1.000",
        "1 of 4 responses have a score; 3 without a claim (2 of them abstain); "
        "2 of 4 responses without a reference",
    ]


def test_programs_are_told_how_many_abstain(silent: Callable[..., Outcome]) -> None:
    printed = silent(0, "--json").json
    assert (printed["responses"], printed["n_without_claim"], printed["n_abstained"]) == (4, 3, 2)


def test_abstentions_leave_the_score_as_it_is(silent: Callable[..., Outcome]) -> None:
    assert silent(0, "--json").json["factuality_score"] == 1.0


def test_without_any_claim_the_abstentions_are_counted_too(tmp_path: Path) -> None:
    words = evaluation(tmp_path, ABSTAINING[1:], "--run", "one", "--judge", "offline")
    lines = ok(*words).out.splitlines()
    assert lines[2] == "no score: there is no claim"
    assert lines[3].startswith("0 of 3 responses have a score; 3 without a claim (2 of them abst")


@pytest.mark.parametrize(
    ("share", "code"), [(0.25, 0), (0.26, 3)], ids=["as many as asked for", "too few"]
)
def test_too_few_responses_with_a_score_are_exit_code_3(
    silent: Callable[..., Outcome], share: float, code: int
) -> None:
    done = silent(code, "--min_scored", share, "--json")
    message = f"Below --min_scored {share}: 1 of 4 responses have a score; 3 without a claim"
    assert (message in done.err) == bool(code)
    assert done.json["below"] == bool(code)


@pytest.mark.parametrize(
    ("no_claim", "limit", "code", "message"),
    [
        pytest.param("left_out", 1.0, 0, "", id="left out, as without the option"),
        pytest.param("pass", 1.0, 0, "", id="three more of 1"),
        pytest.param("fail", 0.25, 0, "", id="three more of 0, at the limit"),
        pytest.param("fail", 0.26, 3, "Below --fail_under 0.26: 0.250 by --no_claim fail, with 3 "
                     "responses without a claim; factuality score 1.000, coverage 1.000\n",
                     id="three more of 0"),
    ],
)  # fmt: skip
def test_what_a_response_without_a_claim_means_for_the_gate_alone(
    silent: Callable[..., Outcome], no_claim: str, limit: float, code: int, message: str
) -> None:
    done = silent(code, "--fail_under", limit, "--no_claim", no_claim, "--json")
    assert ("Below" in done.err) == bool(message)
    assert done.err.endswith(message)
    assert done.json["below"] == bool(code)
    assert (done.json["factuality_score"], done.json["n_scored"]) == (1.0, 1)


def test_with_a_baseline_one_pair_of_numbers_is_told(tmp_path: Path) -> None:
    """The score of all responses is another one than that of the question which both runs have."""
    ok(*evaluation(tmp_path, six(6)[:2], "--run", "base", "--judge", "offline"))
    words = evaluation(tmp_path, six(1), "--run", "new", "--judge", "offline")
    out = ends(3, *words, "--baseline", "base").out
    assert (
        "new scores 0.500 lower than base over the 2 questions that both have (of 6 in new" in out
    )
    assert "factuality score" not in out


def test_what_no_source_knows_has_no_number_but_in_the_tables(tmp_path: Path) -> None:
    words = evaluation(tmp_path, six(0), "--run", "new", "--judge", "offline")
    assert "\nno score: no source knew any of 6 claims\n" in ok(*words).out
    printed = ok(*words, "--if_finished", "skip", "--json").json
    assert printed["factuality_score"] == 0.0
    assert printed["n_scored"] == 6
    assert printed["score_in_words"] == "no score: no source knew any of 6 claims"


def test_what_an_own_verifier_says_of_itself_is_kept(tmp_path: Path) -> None:
    line = {"response": "Oslo is big.", "reference_answers": ["0.8 0.1 0.1"]}
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    words = ("--sources", "reference", "--judge", "offline", "--verifier", STATED, "--json")
    places = ("--input", tmp_path / "in.jsonl", "--output", tmp_path / "out")
    judged_by = "Verifier stated (a first look; for findings use a language model): always right."
    assert ends(0, "evaluate", *places, *words).json["judged_by"] == judged_by
    report = ends(0, "report", tmp_path / "out").out
    assert "use a model. The verifier's author says: always right." in " ".join(report.split())
    assert ends(0, "report", tmp_path / "out", "--json").json["judged_by"] == judged_by
