"""A text whose sentences do not fit a context that only the first request finds out about."""

import asyncio

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.chat import Switches
from tests.transforms.judges.llm.scripted import record
from ufo.transforms.extract import Extracted, extract
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints

BORN = "Marie Curie was born in Warsaw in 1867."
LONG = "Curie discovered radium in 1898" + " and won the Nobel Prize in 1903" * 300 + "."


async def extracted(url: str, text: str) -> Extracted:
    client = OpenAiClient(ClientSettings(endpoints("offline-judge", url)))
    judge = LlmJudge(JudgeContext(LlmSettings("offline-judge"), lambda: client))
    try:
        return await extract(record(text), judge)
    finally:
        await client.aclose()


@pytest.mark.parametrize("states", ["vllm", ""])
def test_a_sentence_longer_than_the_context_is_asked_about_in_slices(states: str) -> None:
    switches = Switches(context=4096, states=states, counts_limit=True)
    with LlmServer(switches=switches, keys=None) as server:
        drafts = asyncio.run(extracted(server.base_url, f"{BORN} {LONG}"))
    places = [unit.sentence_index or 0 for unit in drafts.open_units.units]
    assert 0 in places
    assert places.count(1) > 1
    assert places == sorted(places)
    assert not drafts.failures
