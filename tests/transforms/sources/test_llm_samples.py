"""Samples of which some did not come: those that did are evidence, the missing ones an error."""

import asyncio
from typing import Any

import pytest

from ufo.schemas.records import ERROR, SUPPORTED, TRANSPORT, FactUnit, OpenUnits
from ufo.transforms.check import check
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError
from ufo.transforms.sources.fact_source import SourceContext
from ufo.transforms.sources.llm import BUNDLED, PER_QUERY, LlmSource

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
