"""What shares a call, what no table can hold, and what is judged in small contexts."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ufo
from benchmarks.cost.cases import PASSAGES, build
from tests.llm_server import PROFILES, LlmServer
from tests.transforms.judges.llm.scripted import open_units
from ufo.schemas.tables import to_arrow
from ufo.transforms.judges.judge import Judged
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.asking import (
    AskedValue,
    Asker,
    Form,
    Parsed,
    Question,
    ask_for_items,
)
from ufo.transforms.judges.llm.function import CallLimits, pack
from ufo.transforms.judges.llm.judgements import by_fact
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.client import OpenAiClient
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError, Request
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources.fact_source import Found, Retrieved

ROOT = Path(__file__).parents[4]
CASE = build(json.loads((ROOT / "benchmarks/cost/cases.json").read_text("utf-8")), "distinct", 20)
FACTS = len(CASE.says)


def packed(
    wanted: dict[int, list[int]], *limits: int, sizes: Callable[[int], int] = lambda passage: 100
) -> list[dict[int, list[int]]]:
    pairs = [(fact, passage) for fact, found in wanted.items() for passage in found]
    calls = pack(pairs, CallLimits(*limits), lambda fact: 10, sizes)
    return [by_fact(call) for call in calls]


ROOMY = (50, 40, 10**9)
APART = {fact: list(range(5 * fact, 5 * fact + 5)) for fact in range(20)}


@pytest.mark.parametrize(
    ("wanted", "limits", "calls"),
    [
        pytest.param(
            {0: [0, 1], 1: [1, 2], 4: [0]},
            ROOMY,
            [{0: [0, 1], 1: [1, 2], 4: [0]}],
            id="one call where all fit",
        ),
        pytest.param(
            {0: [0, 1], 1: [1], 2: [0, 1]},
            (1, 40, 10**9),
            [{0: [0], 2: [0]}, {0: [1], 1: [1], 2: [1]}],
            id="a passage a call",
        ),
        pytest.param(
            {0: [0, 1], 1: [2, 3], 2: [2, 3], 3: [0, 1]},
            (2, 40, 10**9),
            [{0: [0, 1], 3: [0, 1]}, {1: [2, 3], 2: [2, 3]}],
            id="where the same passages are",
        ),
        pytest.param({0: [0], 1: [0]}, (9, 2, 240), [{0: [0], 1: [0]}], id="just as many tokens"),
        pytest.param({0: [0], 1: [0]}, (9, 2, 239), [{0: [0]}, {1: [0]}], id="a token less"),
        pytest.param({0: [0], 1: [0]}, (9, 1, 999), [{0: [0]}, {1: [0]}], id="a fact a call"),
        pytest.param({0: [1, 0, 1]}, (2, 1, 310), [{0: [0, 1]}], id="a passage once"),
        pytest.param({0: [0, 1]}, (2, 1, 309), [{0: [0]}, {0: [1]}], id="a fact in two calls"),
    ],
)
def test_facts_go_where_their_passages_are(
    wanted: dict[int, list[int]], limits: tuple[int, ...], calls: list[dict[int, list[int]]]
) -> None:
    # A fact is 30 tokens, a passage 100, and a judgement 40.
    assert packed(wanted, *limits) == calls


def test_facts_without_common_passages_fill_their_calls() -> None:
    assert [len(call) for call in packed(APART, *ROOMY)] == [10, 10]


def test_a_passage_that_is_too_long_has_a_call_of_its_own() -> None:
    large = packed({0: [0, 1], 1: [2]}, 50, 40, 1000, sizes=[100, 5000, 100].__getitem__)
    assert large == [{0: [0], 1: [2]}, {0: [1]}]


FOUND = st.lists(st.integers(0, 20), min_size=1, max_size=6)
WANTED = st.dictionaries(st.integers(0, 30), FOUND, max_size=12)


@given(WANTED, st.integers(1, 8), st.integers(1, 6), st.integers(1, 2000))
def test_every_pair_is_in_one_call_within_the_limits(
    wanted: dict[int, list[int]], passages: int, facts: int, tokens: int
) -> None:
    calls = packed(wanted, passages, facts, tokens)
    pairs = [[(fact, p) for fact, found in call.items() for p in found] for call in calls]
    counted = Counter(chain.from_iterable(pairs))
    assert counted == Counter({(f, p) for f, found in wanted.items() for p in found})
    for call, within in zip(calls, pairs, strict=True):
        used = set(chain.from_iterable(call.values()))
        assert len(used) <= passages
        assert len(call) <= facts
        size = 30 * len(call) + 100 * len(used) + 40 * len(within)
        assert size <= tokens or len(within) == 1
    assert packed(wanted, passages, facts, tokens) == calls


# --- what is asked again, and in which calls ---


class Limited(FakeClient):
    """A model whose replies have at most so many tokens."""

    most: int | None = None

    def cap(self, request: Request) -> int | None:
        return self.most


def of_letters(system: str = "", **form: Any) -> Form[str, str]:
    """A form for letters: each that a reply has is found there, before `?` as a poor one."""

    def parse(choice: Choice, items: Sequence[str]) -> Parsed[str, str]:
        replies = {item: choice.text for item in items if item in choice.text}
        return Parsed(
            replies, "it lacked some", [one for one in replies if f"{one}?" in choice.text]
        )

    def question(items: Sequence[str], wrong: str) -> Question:
        return Question(system, "".join(items), expects=10 * len(items))

    return Form(question, parse, **form)


def asked(
    *script: Any, repairs: int = 1, most: int | None = None, **form: Any
) -> tuple[dict[str, AskedValue[str]], Limited, Asker]:
    """Ask for four letters."""
    client = Limited(script)
    client.most = most
    asker = Asker(client, load_prompts(), Request("verifier", "m", (), step="verify"), repairs)
    answers = asyncio.run(ask_for_items("abcd", of_letters(**form), asker))
    return answers, client, asker


CUT = partial(Choice, finish_reason="length")
REFUSED = Choice(refusal="I will not.")
TOO_LONG = LlmError("too long", "truncated")
ODD = LlmError("the sky is too blue", unexplained=True)


@pytest.mark.parametrize(
    ("script", "options", "calls"),
    [
        pytest.param(["abcd"], {}, ["abcd"], id="all are there"),
        pytest.param(["acd", "b"], {}, ["abcd", "b"], id="one is missing"),
        pytest.param(["acd", "", "b"], {"repairs": 2}, ["abcd", "b", "b"], id="twice"),
        pytest.param(["acd"], {"repairs": 0}, ["abcd"], id="nothing is repaired"),
        pytest.param(["abc?d", "c"], {}, ["abcd", "c"], id="a poor one"),
        pytest.param([CUT("ab"), "cd"], {}, ["abcd", "cd"], id="cut off in the middle"),
        pytest.param([CUT("a"), "bc", "d"], {}, ["abcd", "bc", "d"], id="cut off before it"),
        pytest.param([REFUSED, "ab", "cd"], {}, ["abcd", "ab", "cd"], id="refused"),
        pytest.param([REFUSED, "ab", "cd"], {"few": 1}, ["abcd", "ab", "cd"], id="refused by few"),
        pytest.param(["", "abc", "d"], {"few": 3}, ["abcd", "abc", "d"], id="few after nothing"),
        pytest.param(["a", "bcd"], {"few": 1}, ["abcd", "bcd"], id="as before after something"),
        pytest.param([LlmError("gone", "transport")], {}, ["abcd"], id="a lost connection"),
        pytest.param([TOO_LONG, "ab", "cd"], {}, ["abcd", "ab", "cd"], id="too long"),
        pytest.param(["ab", "cd"], {"most": 49}, ["ab", "cd"], id="a long reply is split before"),
        pytest.param(["abcd"], {"most": 50}, ["abcd"], id="four fifths of a reply are used"),
        pytest.param([ODD], {"system": "x" * 7992}, ["abcd"], id="odd words about 1000 tokens"),
        pytest.param(
            [ODD, "ab", "cd"], {"system": "x" * 7993}, ["abcd", "ab", "cd"], id="about 1001 tokens"
        ),
        pytest.param(
            [ODD, ODD, "cd"], {"system": "x" * 7993}, ["abcd", "ab", "cd"], id="only once"
        ),
    ],
)
def test_what_is_missing_is_asked_for_in_these_calls(
    script: list[Any], options: dict[str, Any], calls: list[str]
) -> None:
    _, client, _ = asked(*script, **options)
    assert [request.messages[-1].content.partition("\n")[0] for request in client.requests] == calls


def test_a_reply_may_be_twice_as_long_as_expected_and_256_tokens() -> None:
    _, client, _ = asked("abcd")
    assert client.requests[0].max_tokens == 2 * 40 + 256


def test_the_first_reason_stays_and_a_poor_value_is_better_than_none() -> None:
    answers, _, asker = asked("ab?", "c")
    assert [answers[item].value for item in "abcd"] == ["ab?", "ab?", "c", None]
    assert [answers[item].first_reason for item in "abcd"] == [None, None, *["unparsable"] * 2]
    (failure,) = asker.failures
    assert failure.step == "verify"
    assert failure.error_type == "unparsable"
    assert failure.message == "the reply lacks 2 judgements (finish_reason stop)"
    assert failure.input == "c"


def test_an_error_in_place_of_a_reply_is_told() -> None:
    (failure,) = asked(LlmError("gone", "transport"))[2].failures
    assert failure.error_type == "transport"
    assert failure.message == "gone"
    assert failure.input is None


def test_a_reply_that_does_not_say_why_it_ended_is_told_so() -> None:
    silent = Choice("c", finish_reason="")
    failures = asked(silent, silent, silent)[2].failures
    assert {failure.error_type for failure in failures} == {"truncated"}
    assert all(failure.message.endswith("(finish_reason none)") for failure in failures)


def test_poor_values_alone_are_a_failure_where_the_form_says_so() -> None:
    assert asked("ab?cd", "b?")[2].failures == []
    (failure,) = asked("ab?cd", "b?", lacks=lambda lost: "all of b")[2].failures
    assert failure.message == "the reply lacks all of b (finish_reason stop)"


@pytest.mark.parametrize(
    ("first", "message"),
    [
        pytest.param("abc", "it lacked some", id="what its form says"),
        pytest.param(CUT("abc"), "it was cut off before its end; be brief", id="cut off"),
        pytest.param(REFUSED, "it was a refusal or was stopped by a filter", id="refused"),
        pytest.param(
            Choice(finish_reason="content_filter"), "or was stopped by a filter", id="filtered"
        ),
    ],
)
def test_a_repair_says_what_was_wrong(first: Any, message: str) -> None:
    _, client, _ = asked(first, "abcd", "abcd")
    assert message in client.requests[1].messages[-1].content


# --- what a model can say and no table can hold ---


def test_half_characters_and_nul_in_replies_reach_no_table() -> None:
    fact = {"sentence": 1, "claim": "Oslo\ud83d is big.", "query": "How\0 big?"}
    check = {"answer": "big\ud83d", "rationale": "It says\ud83d so.", "verdict": "T"}
    client = ufo.FakeClient([{"facts": [fact], "no_claim": []}, {"f1": check}])
    options: dict[str, Any] = {"references": ["Oslo is big."], "sources": ["reference"]}
    checked = ufo.check_sync("Oslo is big.", **options, judge="llm", client=client)
    assert checked.score == 1.0
    assert [unit.claim for unit in checked.fact_units] == ["Oslo\ufffd is big."]
    for name in ("fact_units", "evidence", "failures"):
        to_arrow(name, getattr(checked, name))


async def judged(url: str, name: str, context: int | None, times: int) -> list[Judged]:
    """Judge 20 facts of 5 passages each, `times` over with one client; `context` is --context."""
    units = open_units(list(CASE.says), " ".join(CASE.says))
    answers = [Found(list(map(Retrieved, CASE.passages[claim]))) for claim in CASE.says]
    client = OpenAiClient(ClientSettings(endpoints("offline-judge", url), context=context))
    settings = LlmSettings("offline-judge", formulation=name)
    judge = LlmJudge(JudgeContext(settings, lambda: client))
    try:
        return [await judge.verify(units, "s", answers) for _ in range(times)]
    finally:
        await client.aclose()


@cache
def judge(
    profile: str, context: int, name: str, context_option: int | None = None, times: int = 1
) -> Any:
    with LlmServer(keys=None) as server:
        server.switches = replace(PROFILES[profile], context=context)
        result = asyncio.run(judged(server.base_url, name, context_option, times))
    return *result, server


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
    result, server = judge(profile, context, name)
    assert outcomes(result) == outcomes(whole)
    assert Counter(row.reason for row in result.evidence) == {None: FACTS * PASSAGES}
    assert not result.failures
    answered = [entry for entry in server.chats if entry.status == 200]
    assert all(entry.prompt_tokens + entry.completion_tokens <= context for entry in answered)
    # A fact and its passages to a call at least, but where the passages alone fill the context.
    assert len(answered) <= calls
    assert missed(result) <= 3


def test_what_was_learned_or_is_given_holds_for_the_rest_of_the_run() -> None:
    first, second, _ = judge("vllm", 2048, "function", times=2)
    assert missed(first) > 0 == missed(second)
    assert outcomes(second) == outcomes(first)
    for profile in ("ollama", "vllm"):
        result, server = judge(profile, 2048, "function", context_option=2048)
        assert missed(result) == 0
        assert result.failures == []
        assert not any(one.prompt_tokens == 1026 for one in server.chats)  # what a cut leaves


@pytest.mark.parametrize("profile", PROFILES)
def test_where_not_even_one_fits_each_is_truncated_with_a_remedy(profile: str) -> None:
    result, _ = judge(profile, 512, "function")
    assert {(row.outcome, row.reason) for row in result.evidence} == {("error", "truncated")}
    assert all("context" in failure.message for failure in result.failures)
    assert all("--formulation prompt" in failure.message for failure in result.failures)
