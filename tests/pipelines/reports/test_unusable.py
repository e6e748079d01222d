"""What is said of judgements that are unusable, and what is advised for each reason."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank, rows_of, write_run
from ufo.pipelines.reports.unusable import Unusable, unusable
from ufo.schemas.records import Failure, RecallVerdict
from ufo.schemas.results import open_results

FUNCTION = {"formulation": "function"}
FINGERPRINT = {"options": {"llm": FUNCTION}}


@pytest.mark.parametrize(
    ("n", "of", "nothing_left"),
    [
        pytest.param(2, 2, True, id="all"),
        pytest.param(1, 2, False, id="some"),
        pytest.param(0, 0, False, id="none of none"),
    ],
)
def test_whether_nothing_usable_is_left(n: int, of: int, nothing_left: bool) -> None:
    assert Unusable(n, of).all == nothing_left


@pytest.mark.parametrize(
    ("unusable", "sentence"),
    [
        pytest.param(Unusable(0, 9), "", id="nothing went wrong"),
        pytest.param(
            Unusable(1, 2, {"transport": 1}, "it again"),
            "1 of 2 judgements was unusable; try it again (transport 1)",
            id="many, with advice",
        ),
        pytest.param(
            Unusable(2, 99, {"no_passages": 2}, "it again"),
            "2 of 99 judgements were unusable (no passages 2)",
            id="few, without advice",
        ),
        pytest.param(
            Unusable(1, 2, {"refused": 1}, extraction=True, words="No\n way."),
            "no claim could be extracted from 1 of 2 responses (refused 1): No way.",
            id="claims, with the words of the model",
        ),
        pytest.param(
            Unusable(1, 2, words="x" * 300),
            f"1 of 2 judgements was unusable: {'x' * 300}",
            id="300 characters",
        ),
        pytest.param(
            Unusable(1, 2, words="x" * 301),
            f"1 of 2 judgements was unusable: {'x' * 300} …",
            id="one character more",
        ),
    ],
)
def test_the_sentence_on_what_went_wrong(unusable: Unusable, sentence: str) -> None:
    assert unusable.sentence == sentence


# Of each reason: the manifest's changes, the message of a failure, and what is tried.
ADVICE: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "an endpoint that does not answer": (
        "transport", {}, "timed out",
        "`ufo doctor`, a lower --concurrency or a longer --timeout, then the same command with "
        "--if_finished retry_errors",
    ),
    "an endpoint that refuses a request": (
        "transport", {}, "URL answered 400: no",
        "`ufo doctor`, then the same command with --if_finished retry_errors",
    ),
    "an endpoint that is busy": (
        "transport", {}, "URL answered 429: later",
        "`ufo doctor`, a lower --concurrency or a longer --timeout, then the same command with "
        "--if_finished retry_errors",
    ),
    "another language": (
        "unsupported_language", {}, "", "--judge llm, which reads other languages"
    ),
    "a reply that is cut off": (
        "truncated", {"fingerprint": FINGERPRINT}, "",
        "--context N with the tokens that the model's context holds, --facts_per_call 4 "
        "--passages_per_call 1, --reasoning_effort low where it thinks, or a model with a larger "
        "one",
    ),
    "a refusal": ("refused", {"fingerprint": FINGERPRINT}, "", "another --model"),
    "a filter": ("filtered", {"fingerprint": FINGERPRINT}, "", "another --model"),
    "prose for a call of many facts": (
        "unparsable", {"fingerprint": FINGERPRINT}, "",
        "--formulation prompt or --facts_per_call 4",
    ),
    "prose for another formulation": (
        "unparsable", {"fingerprint": {"options": {"llm": {"formulation": "stepwise"}}}}, "",
        "--formulation prompt or another --model",
    ),
    "a refusal to a judge of one's own": ("refused", {}, "", ""),
    "a reply to a judge of one's own that is cut off": ("truncated", {}, "", ""),
    "prose for a judge of one's own": ("unparsable", {}, "", ""),
}  # fmt: skip


def found_of(folder: Path, rows: dict[str, list[Any]], **changes: Any) -> Unusable:
    write_run(folder, rows, **changes)
    with open_results(folder) as results:
        return unusable(results)


@pytest.mark.parametrize("name", ADVICE)
def test_what_is_advised_for(tmp_path: Path, name: str) -> None:
    reason, changes, message, advice = ADVICE[name]
    rows = rows_of({"a": {"u": {"ref": "es"}}})
    first, *others = rows["evidence"]
    rows["evidence"] = [replace(first, reason=reason), *others]
    if message:
        rows["failures"] = [
            Failure("verify", "a", reason, message, None),
            Failure("verify", "b", reason, "the reply is ours", None),
        ]
    unusable = found_of(tmp_path, rows, **changes)
    assert unusable.reasons == {reason: 1}
    assert unusable.of == 2
    assert unusable.words == message
    assert unusable.try_ == advice


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("transport", "`ufo doctor`, then the same command once more"),
        ("truncated", "--context N with the tokens that the model's context holds, "
         "--extract_tokens 500, --reasoning_effort low where it thinks, or a model with a larger "
         "one"),
        ("refused", "another --extractor_model, or claims of your own in the input"),
    ],
    ids=["an endpoint that does not answer", "a reply that is cut off", "a refusal"],
)  # fmt: skip
def test_what_is_advised_where_no_claim_was_extracted(
    tmp_path: Path, reason: str, advice: str
) -> None:
    rows = rows_of({"a": {}, "b": {}})
    rows["failures"] = [
        Failure("extract", "a", reason, "", None),
        Failure("read", "in:3", "BadJson", "", None),
    ]
    unusable = found_of(tmp_path, rows)
    assert unusable.extraction
    assert unusable.n == 1
    assert unusable.of == 2
    assert unusable.try_ == advice


@pytest.mark.parametrize(
    ("message", "slower"),
    [
        ("URL answered 404: no", False),
        ("URL answered 200 with the error 400: no", False),
        ("URL answered 408: later", True),
        ("URL answered 425: later", True),
        ("URL answered 500: later", True),
        ("URL answered 200 with the error 429: later", True),
    ],
)
def test_a_slower_pace_is_advised_unless_a_request_was_refused(
    tmp_path: Path, message: str, slower: bool
) -> None:
    rows = rows_of({"a": {"u": {"ref": "e"}}})
    rows["failures"] = [Failure("verify", "a", "transport", message, None)]
    assert ("--concurrency" in found_of(tmp_path, rows).try_) == slower


def test_what_is_said_is_the_most_frequent_message_of_the_most_frequent_reason(
    tmp_path: Path,
) -> None:
    rows = rows_of({"a": {"u": {"ref": "e"}}})
    failures = [("refused", "no"), ("refused", "no"), ("transport", "b"), ("transport", "a")]
    failures = [*failures, ("transport", "b"), *[("transport", "the reply is cut")] * 3]
    rows["failures"] = [
        Failure("verify", f"a{at}", reason, message, None)
        for at, (reason, message) in enumerate(failures)
    ]
    assert found_of(tmp_path, rows).words == "b"


def test_an_error_in_a_source_is_told_with_its_name_and_without_advice_on_endpoints(
    tmp_path: Path,
) -> None:
    rows = rows_of({"a": {"u": {"ref": "e"}}})
    rows["evidence"] = [replace(row, reason="exception") for row in rows["evidence"]]
    message = "error in source ref: ZeroDivisionError: division by zero"
    rows["failures"] = [
        Failure("source:ref", "u", "ZeroDivisionError", message, None),
        Failure("verify", "a", "transport", "no answer", None),
        Failure("verify", "b", "transport", "no answer", None),
    ]
    lost = found_of(tmp_path, rows)
    assert lost.words == message
    assert lost.try_ == (
        "mending what raised this error, then the same command with --if_finished retry_errors"
    )
    with open_results(tmp_path) as results:
        assert unusable(results, of_stream=True).try_ == (
            "mending what raised this error, then the stream again without the folder of this "
            "window"
        )


def test_an_error_of_a_judge_that_extracts_is_no_matter_of_the_model(tmp_path: Path) -> None:
    rows = rows_of({"a": {}})
    message = "error in judge mine: KeyError: 'x'"
    rows["failures"] = [Failure("extract", "a", "KeyError", message, None)]
    unusable = found_of(tmp_path, rows)
    assert unusable.reasons == {"exception": 1}
    assert unusable.words == message
    assert unusable.try_ == "mending what raised this error, then the same command once more"


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("unparsable", "--formulations prompt or --facts_per_call 4"),
        ("transport", "then the same command once more"),
    ],
    ids=["prose", "an endpoint that does not answer"],
)
def test_verdicts_of_a_recall_are_those_of_models(tmp_path: Path, reason: str, advice: str) -> None:
    rows = rows_of({})
    fact = {"record_id": "a", "variant": "rag", "fact_id": "f", "judge": "llm"}
    rows["recall_verdicts"] = [
        blank(RecallVerdict, **fact, formulation="tf", outcome="error", reason=reason),
        blank(RecallVerdict, **fact, formulation="tf", outcome="supported", label=1),
        blank(RecallVerdict, **fact, formulation="human", outcome="error"),
    ]
    unusable = found_of(tmp_path, rows, mode="recall", fingerprint=FINGERPRINT)
    assert unusable.reasons == {reason: 1}
    assert unusable.of == 2
    assert unusable.try_.endswith(advice)


def test_facts_that_could_not_be_generated_are_told_of_a_recall(tmp_path: Path) -> None:
    rows = rows_of({})
    rows["failures"] = [Failure("facts", "a", "refused", "", None)]
    unusable = found_of(tmp_path, rows, mode="recall")
    assert unusable.extraction
    assert unusable.reasons == {"refused": 1}


def test_an_answer_without_a_passage_is_no_judgement(tmp_path: Path) -> None:
    assert found_of(tmp_path, rows_of({"a": {"u": {"ref": "-", "wiki": "ne"}}})).of == 2
