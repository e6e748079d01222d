"""What kind of place a hostname is, and which may vote."""

import asyncio
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.schemas.records import CATEGORIES, TRANSPORT, Passage
from ufo.schemas.text import host_named
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Choice, LlmError, Request
from ufo.transforms.prompts import load_prompts
from ufo.transforms.sources import web
from ufo.transforms.sources.web.categories import category_of, hostname_of, hosts_chosen, kind_of
from ufo.transforms.sources.web.source import Visit

HOSTS = cases(Path(__file__).with_name("hosts.txt"))


@pytest.mark.parametrize(
    ("kind", "host"), [(kind, host) for kind, hosts in HOSTS for host in hosts.split()]
)
def test_the_most_specific_rule_decides(kind: str, host: str) -> None:
    assert category_of(host) == category_of(host.upper() + ".") == {"unknown": None}.get(kind, kind)


def test_a_hostname_of_letters_beyond_ascii_is_compared_as_the_dns_has_it() -> None:
    assert hostname_of("https://WWW.Bücher.example./a") == "xn--bcher-kva.example"
    assert hostname_of("https://user@WWW.Example.org:8080/a?b#c") == "example.org"


def test_each_rule_is_a_domain_of_one_kind() -> None:
    """Else a rule would never apply: hosts are compared as `host_named` writes them."""
    text = resources.files(web).joinpath("categories.yaml").read_text("utf-8")
    seen: dict[tuple[str, str], str] = {}
    for kind, lists in yaml.safe_load(text).items():
        assert kind in CATEGORIES
        for shape, entries in lists.items():
            for entry in entries:
                assert host_named(entry, wild=True) == entry
                assert seen.setdefault((shape, entry), kind) == kind


@given(st.text(max_size=30))
@example(".0")
@example("a..b")
@example("。0")
@example("")
def test_any_text_is_of_one_kind_or_none(host: str) -> None:
    assert category_of(host) in (*CATEGORIES, None)


@pytest.mark.parametrize(
    ("chosen", "host", "kind", "told"), cases(Path(__file__).with_name("chosen.txt"))
)
def test_what_is_admitted(chosen: str, host: str, kind: str, told: str) -> None:
    passage = Passage("", hostname=host, source_category=kind)
    assert hosts_chosen(**json.loads(chosen)).keeps("", passage) is (told == "admitted")


# --- hostnames that no rule knows -----------------------------------------------------------------


def asker_of(script: Any) -> tuple[FakeClient, Asker]:
    client = FakeClient(script)
    return client, Asker(client, load_prompts(), Request("verifier", "m", (), step="category"))


def test_rules_come_first_and_each_unknown_host_is_asked_about_once() -> None:
    client, asker = asker_of(
        lambda request: "news" if "herald" in request.messages[1].content else "blog"
    )
    hosts = ["the-herald.example", "en.wikipedia.org", "www.the-herald.example", "diary.example"]

    async def kinds() -> list[str]:
        visit = Visit("web", "r", asker)
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
        *("I cannot tell.", "news or blog", "", Choice("news", finish_reason="length")),
        *(Choice("news", finish_reason="content_filter"), Choice("news", refusal="No.")),
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
    found = [asyncio.run(kind_of(f"x{n}.example", asker)) for n in range(3)]
    assert found == ["government_website", "other", "other"]
    with pytest.raises(LlmError):
        asyncio.run(kind_of("x.example", asker))
    assert asyncio.run(kind_of("x.example")) == "other"  # offline
