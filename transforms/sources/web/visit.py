"""What one response is shown of the web: its pages and hosts, each accounted for once."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from schemas.records import Failure, Usage
from transforms.judges.llm.asking import Asker
from transforms.llm.base import VERIFIER
from transforms.llm.client import ClientSettings
from transforms.llm.shared import shared_client
from transforms.llm.usage import usage_row
from transforms.prompts import Prompts
from transforms.sources.web.categories import OTHER, Categories, hostname_of
from transforms.sources.web.hostnames import STEP as KIND_STEP
from transforms.sources.web.hostnames import kinds_of
from transforms.sources.web.page import BLOCKED_BY_ROBOTS, REFUSED_ADDRESS
from transforms.sources.web.pages import ReadPage

STEP: Final = "page"
_UNSENT: Final = (BLOCKED_BY_ROBOTS, REFUSED_ADDRESS)


@dataclass(slots=True)
class Visit:
    """The requests for pages of one response, those that failed, and the kinds of their hosts.

    `asker` is who is asked about a host that `rules` do not know; None for nobody.
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

    def took(self, read: ReadPage, waited: bool) -> None:
        """Take note of a page; `waited` where it was fetched for another response or query."""
        url = read.page.url
        if url in self._usage or url in self._failures:
            return
        if read.reason is not None:
            message = f"{read.reason}: {read.page.detail or 'nothing to read'}"
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
    asker = Asker(client, prompts, VERIFIER, model, KIND_STEP, response_id, source)
    return Visit(source, response_id, rules, asker)
