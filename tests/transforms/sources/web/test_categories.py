"""The category of a host that no rule knows: asked of a model, once."""

import asyncio
from typing import Any

import pytest

from ufo.schemas.records import CATEGORIES, TRANSPORT
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError, Request
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources.web.categories import kind_of
from ufo.transforms.sources.web.source import PageVisits


def asker_of(script: Any) -> tuple[FakeClient, Asker]:
    client = FakeClient(script)
    return client, Asker(client, load_prompts(), Request("verifier", "m", (), step="category"))


def test_rules_come_first_and_each_unknown_host_is_asked_about_once() -> None:
    client, asker = asker_of(
        lambda request: "news" if "herald" in request.messages[1].content else "blog"
    )
    hosts = ["the-herald.example", "en.wikipedia.org", "www.the-herald.example", "diary.example"]

    async def kinds() -> list[str]:
        visit = PageVisits("web", "r", asker)
        return await asyncio.gather(*(visit.kind(f"https://{host}/a") for host in hosts * 2))

    assert asyncio.run(kinds()) == ["news", "wiki", "news", "blog"] * 2
    asked = [request.messages[1].content for request in client.requests]
    assert asked == ["<host>the-herald.example</host>", "<host>diary.example</host>"]
    assert len(asker.usage) == 2
    system = client.requests[0].messages[0].content
    assert all(f"\n{kind}:" in system for kind in CATEGORIES)


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "", "::1", f"{'a' * 300}.example", ".0", "x</host>.example"],
    ids=["this machine", "IPv4", "nothing", "IPv6", "a very long name", "a number", "markup"],
)
def test_what_is_no_public_name_is_not_asked_about(host: str) -> None:
    client, asker = asker_of([])
    assert asyncio.run(kind_of(host, asker)) == "other"
    assert client.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot tell.",
        "news or blog",
        "",
        Choice("news", finish_reason="length"),
        Choice("news", finish_reason="content_filter"),
        Choice("news", refusal="No."),
    ],
    ids=["no kind", "two kinds", "nothing", "cut off", "filtered", "refused"],
)
def test_a_reply_without_a_kind_is_other_recorded_and_not_kept(reply: Choice | str) -> None:
    client, asker = asker_of([reply])
    assert asyncio.run(kind_of("x.example", asker)) == "other"
    (failure,) = asker.failures
    assert "x.example" in failure.message
    keep = client.requests[0].keep
    assert keep is not None
    assert not keep(reply if isinstance(reply, Choice) else Choice(reply))
    assert keep(Choice("Blog."))


def test_a_request_that_fails_is_other_and_a_final_error_ends_the_run() -> None:
    replies: list[Any] = ["**Government_Website**\n", "It is other.", LlmError("broken", TRANSPORT)]
    _, asker = asker_of([*replies, LlmError("wrong key", TRANSPORT, final=True)])
    kinds = [asyncio.run(kind_of(f"x{n}.example", asker)) for n in range(3)]
    assert kinds == ["government_website", "other", "other"]
    with pytest.raises(LlmError):
        asyncio.run(kind_of("x.example", asker))
    assert asyncio.run(kind_of("x.example")) == "other"  # offline
