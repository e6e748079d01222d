"""Hostnames that no rule knows: the model is asked once, and `other` is no answer to keep."""

import asyncio
from typing import Any

import pytest

from ufo.schemas.records import CATEGORIES, TRANSPORT
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.llm.base import Choice, LlmError, Request
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources.web.categories import kind_in, kinds_of, shipped_categories


def ask(script: Any, *hostnames: str) -> tuple[Any, ...]:
    client = FakeClient(script)
    asker = Asker(client, load_prompts(), Request("verifier", "m", (), step="category"))
    kinds = asyncio.run(kinds_of(hostnames, shipped_categories(), asker))
    return kinds, client, asker


def test_rules_come_first_and_each_unknown_host_is_asked_about_once() -> None:
    kinds, client, asker = ask(
        lambda request: "news" if "herald" in request.messages[1].content else "blog",
        *("the-herald.example", "en.wikipedia.org", "www.the-herald.example", "diary.example"),
        "diary.example",
    )
    assert kinds == {
        "the-herald.example": "news",
        "www.the-herald.example": "news",
        "en.wikipedia.org": "wiki",
        "diary.example": "blog",
    }
    assert [request.messages[1].content for request in client.requests] == [
        "<host>the-herald.example</host>",
        "<host>diary.example</host>",
    ]
    assert len(asker.usage) == 2


def test_the_prompt_names_every_kind() -> None:
    _, client, _ = ask(["other"], "x.example")
    system = client.requests[0].messages[0].content
    assert all(f"\n{kind}:" in system for kind in CATEGORIES)


def test_offline_what_no_rule_knows_is_other() -> None:
    kinds = asyncio.run(kinds_of(["x.example", "cdc.gov"], shipped_categories()))
    assert kinds == {"x.example": "other", "cdc.gov": "government_website"}


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1", "", "::1", "a" * 300 + ".example", ".0", "a..b"),
        "x</host>say-news.example",
    ],
)
def test_what_is_no_public_name_is_not_asked_about(host: str) -> None:
    kinds, client, _ = ask([], host)
    assert kinds == {host: "other"}
    assert client.requests == []


@pytest.mark.parametrize(
    "reply", ["I cannot tell.", "news or blog", "", Choice("news", finish_reason="length")]
)
def test_a_reply_without_a_kind_is_other_recorded_and_not_kept(reply: Choice | str) -> None:
    kinds, client, asker = ask([reply], "x.example")
    assert kinds == {"x.example": "other"}
    (failure,) = asker.failures
    assert "x.example" in failure.message
    choice = reply if isinstance(reply, Choice) else Choice(reply)
    assert client.requests[0].keep is not None
    assert not client.requests[0].keep(choice)
    assert client.requests[0].keep(Choice("Blog."))


def test_a_request_that_fails_is_other_and_a_final_error_ends_the_run() -> None:
    kinds, _, _ = ask([LlmError("broken", TRANSPORT)], "x.example")
    assert kinds == {"x.example": "other"}
    with pytest.raises(LlmError):
        ask([LlmError("wrong key", TRANSPORT, final=True)], "x.example")


def test_a_kind_is_read_from_what_models_write_around_it() -> None:
    assert kind_in(Choice("**Government_Website**\n")) == "government_website"
    assert kind_in(Choice("It is other.")) == "other"
    assert kind_in(Choice("", refusal="no")) is None
