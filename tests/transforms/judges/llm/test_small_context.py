"""24 facts with 5 passages each, judged by servers whose contexts are small."""

import asyncio
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from benchmarks.bench_context import FACTS, FORMULATIONS, judged
from benchmarks.calls_cases import PASSAGES
from tests.llm_server import PROFILES, LlmServer
from ufo.transforms.judges.judge import Judged


@cache
def judge(profile: str, context: int, name: str, given: int | None = None, times: int = 1) -> Any:
    with LlmServer(keys=None) as server:
        server.switches = replace(PROFILES[profile], context=context)
        found = asyncio.run(judged(server, FORMULATIONS[name], given, times))
    return *found, server


def outcomes(judged: Judged) -> list[Any]:
    return [(row.unit_id, row.passage_id, row.outcome) for row in judged.evidence]


def missed(judged: Judged) -> int:
    """Requests that were refused, or answered of a prompt that was cut."""
    return sum(row.status != "ok" for row in judged.usage if row.step != "probe")


@pytest.mark.parametrize(
    ("context", "name", "calls"),
    [(8192, "function", 8), (2048, "function", 60), (512, "prompt", 130)],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_where_one_fact_with_one_passage_fits_everything_is_judged(
    profile: str, context: int, name: str, calls: int
) -> None:
    whole, _ = judge("openai", 128_000, name)
    found, server = judge(profile, context, name)
    assert outcomes(found) == outcomes(whole)
    assert Counter(row.reason for row in found.evidence) == {None: FACTS * PASSAGES}
    assert not found.failures
    answered = [entry for entry in server.chats if entry.status == 200]
    assert all(entry.prompt_tokens + entry.completion_tokens <= context for entry in answered)
    # A fact and its passages to a call at least, but where the passages alone fill the context.
    assert len(answered) <= calls
    assert missed(found) <= 3


def test_what_was_learned_holds_for_the_rest_of_the_run() -> None:
    first, second, _ = judge("vllm", 2048, "function", times=2)
    assert missed(first) > 0 == missed(second)
    assert outcomes(second) == outcomes(first)


@pytest.mark.parametrize("profile", ["ollama", "vllm"])
def test_a_context_that_is_given_need_not_be_learned(profile: str) -> None:
    found, server = judge(profile, 2048, "function", given=2048)
    assert (missed(found), found.failures) == (0, [])
    assert not any(entry.prompt_tokens == 1026 for entry in server.chats)  # what a cut leaves


@pytest.mark.parametrize("profile", PROFILES)
def test_where_not_even_one_fits_each_is_truncated_with_a_remedy(profile: str) -> None:
    found, _ = judge(profile, 512, "function")
    assert {(row.outcome, row.reason) for row in found.evidence} == {("error", "truncated")}
    assert all("context" in failure.message for failure in found.failures)
    assert all("--formulation prompt" in failure.message for failure in found.failures)
