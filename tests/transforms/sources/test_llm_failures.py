"""The source `llm` where the endpoint refuses, breaks, or answers in part."""

import asyncio
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.transforms.sources.knowledge import (
    QUERIES,
    look_up,
    scripted,
    texts,
)
from ufo.schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    SUPPORTED,
    TRANSPORT,
    TRUNCATED,
    UNPARSABLE,
    FactUnit,
    OpenUnits,
)
from ufo.transforms.check import check
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError, Request
from ufo.transforms.sources.fact_source import SourceContext
from ufo.transforms.sources.llm import BUNDLED, PER_QUERY, LlmSource

NOTHING = [
    (Choice(finish_reason="stop", refusal="I can't help with that."), REFUSED),
    (Choice("Half of it", refusal="I can't go on."), REFUSED),
    (Choice(finish_reason="content_filter"), FILTERED),
    (Choice(), UNPARSABLE),
    (Choice(" \n"), UNPARSABLE),
]


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
@pytest.mark.parametrize(("choice", "reason"), NOTHING)
def test_samples_without_an_answer_are_an_error_with_its_reason(
    choice: Choice, reason: str, sampling: str
) -> None:
    found, _ = scripted([choice], QUERIES[0], sampling=sampling)
    assert [(one.passages, one.outcome, one.reason) for one in found] == [((), ERROR, reason)]
    assert reason in found[0].message
    assert len(found[0].usage) == 1


def test_a_sample_without_an_answer_leaves_the_others() -> None:
    script = [[Choice("In 1932."), Choice(refusal="no"), Choice(""), Choice("In 1933.")]]
    (found,), _ = scripted(script, QUERIES[0], samples=4)
    assert [(hit.passage.text, hit.sample_index) for hit in found.passages] == [
        ("In 1932.", 0),
        ("In 1933.", 3),
    ]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"q1": "One.", "q2": "Two."}, ["One.", "Two."]),
        ({"q1": "One.", "q2": 2, "q3": "Three."}, ["One.", UNPARSABLE]),
        ({"q2": "Two."}, [UNPARSABLE, "Two."]),
        (Choice('{"q1": "One.", "q2": "Two."}'), ["One.", "Two."]),
        (Choice(arguments='{"q1": "One.", "q2": "Tw'), ["One.", TRUNCATED]),
        (Choice(arguments="[" * 100_000), [TRUNCATED, TRUNCATED]),
        (Choice("I know both."), [UNPARSABLE, UNPARSABLE]),
        (Choice(arguments="[1, 2]"), [UNPARSABLE, UNPARSABLE]),
        (Choice(arguments="null", finish_reason="tool_calls"), [UNPARSABLE, UNPARSABLE]),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_bundle_that_lacks_answers_costs_these_alone(reply: Any, expected: list[str]) -> None:
    found, _ = scripted([reply], *QUERIES[:2], sampling=BUNDLED, samples=1)
    assert [texts(one)[0] if one.passages else one.reason for one in found] == expected


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_what_does_not_get_through_is_an_error_of_its_queries(sampling: str) -> None:
    rows = FakeClient(["x"])
    sent = asyncio.run(rows.complete(Request("knowledge", "m", []))).usage

    def script(request: Request) -> Any:
        if QUERIES[0] in request.messages[-1].content:
            raise LlmError("the line is dead", TRANSPORT, usage=sent)
        return "Fine."

    found, _ = scripted(script, *QUERIES, sampling=sampling)
    failed = [one for one in found if one.outcome == ERROR]
    assert len(failed) == (3 if sampling == BUNDLED else 1)
    assert {(one.reason, one.error_type, one.message) for one in failed} == {
        (TRANSPORT, "LlmError", "the line is dead")
    }
    assert [len(one.usage) for one in failed] == [1, *[0] * (len(failed) - 1)]


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_an_error_that_every_query_would_meet_is_raised(sampling: str) -> None:
    error = LlmError("wrong key", final=True)
    with pytest.raises(LlmError, match="wrong key"):
        scripted(lambda _: error, *QUERIES, sampling=sampling)


def test_a_bundle_that_is_too_long_is_asked_in_halves() -> None:
    def reply(request: Request) -> Any:
        names = request.function.parameters["properties"] if request.function else {}
        if len(names) > 1:
            return LlmError("too long", TRUNCATED)
        return dict.fromkeys(names, "In 1932.")

    found, asked = scripted(reply, *QUERIES, sampling=BUNDLED, samples=1)
    assert [texts(one) for one in found] == [["In 1932."]] * len(QUERIES)
    assert len(asked) == 2 * len(QUERIES) - 1


def test_a_filtered_prompt_has_its_reason(llm_server: LlmServer) -> None:
    llm_server.faults.extend([None, faults.filtered_prompt()])  # the first is the probe's
    (found,) = look_up(llm_server, QUERIES[0])
    assert (found.outcome, found.reason) == (ERROR, FILTERED)
    assert found.usage[-1].status == "400"


CLAIM = "Oslo has 5 bridges."
SAID = {PER_QUERY: Choice(CLAIM), BUNDLED: Choice(arguments=f'{{"q1": "{CLAIM}"}}')}


@pytest.mark.parametrize("sampling", [PER_QUERY, BUNDLED])
def test_what_came_is_judged_and_what_did_not_is_an_error_row(sampling: str) -> None:
    came = [SAID[sampling]] * 3

    def script(_: Any) -> Any:
        raise LlmError("the line broke", TRANSPORT, choices=came, request_id="req-1")

    source = LlmSource(
        model="m",
        sampling=sampling,
        context=SourceContext(client=lambda: FakeClient(script)),
    )
    source.name = "knows"
    source.open()
    unit = FactUnit("r", "u", 0, CLAIM, "How many bridges has Oslo?", None)
    asked = OpenUnits("r", CLAIM, None, "en", [], [], [unit])
    checked = asyncio.run(check(asked, source, OfflineJudge()))

    *samples, missing = checked.evidence
    assert [row.outcome for row in samples] == [SUPPORTED] * 3
    assert {row.request_id for row in samples} == {"req-1"}
    assert (missing.outcome, missing.reason, missing.passage_id) == (ERROR, TRANSPORT, None)
    assert missing.rationale == "3 of 5 samples came; the line broke"
    (votes,) = checked.tallies
    assert (votes.n_supported, votes.n_error) == (3, 1)
    (failure,) = checked.failures
    assert (failure.key, failure.message) == ("u", missing.rationale)
