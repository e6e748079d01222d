"""Replies in other shapes give the tables of the plain run, for about as many requests."""

import asyncio
from functools import cache
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.llm_server.shapes import SHAPES, Every
from tests.transforms.judges.llm.scripted import passages, record
from ufo.transforms.extract import extract
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints

MOST = 1.3  # times the requests of the plain run
TEXT = (
    "Marie Curie was born in Warsaw in 1867. She was born in 1868. Curie discovered radium. She "
    "won the Nobel Prize in 1903. Is that not nice?"
)
FOUND = (
    "Marie Curie was born in Warsaw in 1867.",
    "Curie discovered radium in 1898 and won the Nobel Prize in 1903.",
    "The Rhine flows into the North Sea.",
)
# Several passages and facts a call, and one; a rationale too, and the verdict alone.
WAYS: dict[str, dict[str, Any]] = {
    "several": {},
    "one passage": {"passages_per_call": 1},
    "verdicts alone": {"passages_per_call": 1, "explain": "none"},
    "cited": {"citation": True},
}


async def judged(url: str, settings: dict[str, Any]) -> Any:
    """Extract the claims of a text, write queries of them, and verify them."""
    client = OpenAiClient(ClientSettings(endpoints("offline-judge", url)))
    judge = LlmJudge(JudgeContext(LlmSettings("offline-judge", **settings), lambda: client))
    try:
        drafts = await extract(record(TEXT), judge)
        claims = [unit.claim for unit in drafts.open_units.units]
        queries = await judge.queries(claims)
        answers = [passages(*FOUND) for _ in claims]
        rows = await judge.verify(drafts.open_units, "s", answers)
    finally:
        await client.aclose()
    evidence = [
        (row.unit_id, row.passage_id, row.outcome, row.reason, row.answer, row.rationale)
        for row in rows.evidence
    ]
    return claims, queries.queries, evidence, [*drafts.failures, *queries.failures, *rows.failures]


@cache
def run(shape: str, way: str) -> tuple[Any, int]:
    """Return the tables, and how many requests were sent beside probes."""
    with LlmServer(keys=None) as server:
        server.mix = Every(SHAPES[shape]) if shape else None
        tables = asyncio.run(judged(server.base_url, WAYS[way]))
        return tables, sum(entry.step != "probe" for entry in server.chats)


@pytest.mark.parametrize("way", WAYS)
def test_the_plain_run_has_every_verdict(way: str) -> None:
    (claims, queries, evidence, failures), _ = run("", way)
    assert len(claims) == len(queries) >= 4
    assert {row[2] for row in evidence} == {"supported", "refuted", "noans"}
    assert not failures


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_another_shape_gives_the_same_tables(shape: str, way: str) -> None:
    tables, requests = run(shape, way)
    plain, sent = run("", way)
    assert tables == plain
    assert requests <= MOST * sent
