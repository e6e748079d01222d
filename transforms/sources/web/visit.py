"""What one response is shown of the web: its pages and hosts, each accounted for once.

The kind of a host that no rule knows is asked of a language model. The prompt holds the hostname
and nothing else, so that a host is one entry of the cache of requests, whichever page or run asks
for it.

Task: hostname_category, role verifier, step category; text: one of the kinds::

    <host>the-herald.example</host>
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ufo.schemas.records import CATEGORIES, Failure, Usage
from ufo.transforms.judges.llm.asking import Asker, Question
from ufo.transforms.llm.base import VERIFIER, Choice, Request
from ufo.transforms.llm.settings import ClientSettings
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.llm.usage import usage_row
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import element
from ufo.transforms.sources.base import message_of
from ufo.transforms.sources.web.categories import OTHER, Categories, hostname_of, normal
from ufo.transforms.sources.web.documents import BLOCKED_BY_ROBOTS, REFUSED_ADDRESS
from ufo.transforms.sources.web.pages import ReadPage

STEP: Final = "page"
KIND_PROMPT = "hostname_category_system"
KIND_STEP = "category"

_WORD = re.compile(rf"\b({'|'.join(CATEGORIES)})\b")
_UNSENT: Final = (BLOCKED_BY_ROBOTS, REFUSED_ADDRESS)


@dataclass(slots=True)
class Visit:
    """The requests for pages of one response, those that failed, and the kinds of their hosts.

    `asker` classifies a host that `rules` do not know; None leaves it unclassified.
    """

    source: str
    response_id: str
    rules: Categories
    asker: Asker | None = None
    _kinds: dict[str, str] = field(default_factory=dict)
    _usage: dict[str, Usage] = field(default_factory=dict)
    _failures: dict[str, Failure] = field(default_factory=dict)

    async def learn(self, urls: Iterable[str | None]) -> None:
        """Find out the kinds of these URLs' hosts.

        Raises:
            LlmError: no request to the model can succeed (`final`).
        """
        hosts = {hostname_of(url) for url in urls} - {*self._kinds, ""}
        if hosts:
            self._kinds |= await kinds_of(sorted(hosts), self.rules, self.asker)

    def kind(self, url: str | None) -> str:
        """Return the kind of a URL's host, which was learnt."""
        return self._kinds.get(hostname_of(url), OTHER)

    def lost(self, url: str | None, error: Exception) -> None:
        """Take note of a result that nothing could be made of."""
        key = url or "?"
        self._failures[key] = Failure(STEP, key, type(error).__name__, message_of(error))

    def took(self, read: ReadPage, waited: bool) -> None:
        """Take note of a page; `waited` where it was fetched for another response or query."""
        url = read.page.url
        if url in self._usage or url in self._failures:
            return
        if read.reason is not None:
            message = f"{read.reason}: {read.detail or 'nothing to read'}"
            self._failures[url] = Failure(STEP, url, read.reason, message)
        if read.page.reason in _UNSENT:
            return
        row = usage_row(STEP, self.source, None, self.response_id, read.request_id)
        failed_as = str(read.page.status or read.page.reason)
        self._usage[url] = replace(
            row,
            status=failed_as if read.page.reason else row.status,
            seconds=0.0 if waited else read.seconds,
            cached=read.replayed,
            coalesced=waited and not read.replayed,
        )

    @property
    def usage(self) -> list[Usage]:
        """A row for each request: for pages, and to the model."""
        return [*self._usage.values(), *(self.asker.usage if self.asker else ())]

    @property
    def failures(self) -> list[Failure]:
        """A row for each page that could not be had, and each reply that names no kind."""
        return [*self._failures.values(), *(self.asker.failures if self.asker else ())]


def visit_of(
    judge: ClientSettings | None,
    prompts: Prompts,
    rules: Categories,
    source: str,
    response_id: str,
) -> Visit:
    """Return a visit that asks about hosts that no rule knows: the judge's model, if it has one."""
    if judge is None:
        return Visit(source, response_id, rules)
    client, model = shared_client(judge), judge.endpoints[VERIFIER].model
    asked = Request(VERIFIER, model, (), step=KIND_STEP, source=source, response_id=response_id)
    return Visit(source, response_id, rules, Asker(client, prompts, asked))


async def kinds_of(
    hostnames: Iterable[str], rules: Categories, asker: Asker | None = None
) -> Mapping[str, str]:
    """Return the kind of each hostname: by the rules, else by the model, else `other`.

    Without an `asker` (the offline judge) no model is asked. A request that fails, or a reply that
    names no kind, leaves `other`, and is not kept: the next run asks again. What was sent is in
    the asker's usage, a reply without a kind in its failures.

    Raises:
        LlmError: no request can succeed (`final`).
    """
    kinds: dict[str, str] = {}
    unknown: dict[str, list[str]] = {}
    for hostname in dict.fromkeys(hostnames):
        known = rules.of(hostname)
        if known or asker is None or not _is_name(normal(hostname)):
            kinds[hostname] = known or OTHER
        else:
            unknown.setdefault(normal(hostname), []).append(hostname)
    if asker is not None:
        asked = await asyncio.gather(*(_asked(host, asker) for host in unknown))
        for spellings, kind in zip(unknown.values(), asked, strict=True):
            kinds.update(dict.fromkeys(spellings, kind))
    return kinds


async def _asked(host: str, asker: Asker) -> str:
    question = Question(asker.prompts[KIND_PROMPT], element("host", host))
    reply = await asker.ask(question, keep=_says)
    if reply.error:
        return OTHER
    kind = kind_in(reply.choice)
    if kind is None:
        asker.failed(reply, f"the kind of {host}")
    return kind or OTHER


def kind_in(choice: Choice) -> str | None:
    """Return the one kind that a reply names; None where it names none, or several."""
    if choice.refusal or choice.finish_reason in ("length", "content_filter"):
        return None
    named = set(_WORD.findall(choice.text.lower()))
    return named.pop() if len(named) == 1 else None


def _says(choice: Choice) -> bool:
    return kind_in(choice) is not None


def _is_name(host: str) -> bool:
    """Return whether this can be the name of a public host: not an address, not "localhost"."""
    return "." in host and not host.rsplit(".", 1)[1].isdigit()
