"""The cache of judgements, by which each is asked for only once.

The key of a judgement is a hash of all that is sent for it:

- the unit's claim, query and, if the formulation sends one, its context
- the passage's title and text
- the endpoint, model, prompts and options

The other units and passages of the call are not in the key. So equal claims of different responses
are judged once where they have equal contexts, or none, and a unit with a new passage is judged by
that passage alone. In a context of its own, an equal claim is judged again: "He was born in Paris."
is another claim in each text, and in no language can that be told from the claim alone.

Where requests are sent in batches, a response claims the judgements that it asks for, and other
responses wait for them. In every pass of the run it asks for the same judgements, in the same
requests.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, partial
from itertools import cycle
from typing import Any, Final

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import ERROR, Usage
from ufo.transforms.concurrently import together
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.cache import JsonCache, key_of
from ufo.transforms.llm.caching_client import paid_in
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.forms import PROBE
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.shared import run_resources, shared_cache
from ufo.transforms.llm.usage import OK, Paid, reused_rows, share, usage_row

# Settings that do not affect a judgement. The key has the version of the prompts, and the model of
# the endpoint.
_NOT_OF_JUDGEMENTS: Final = ("model", "extractor_model", "extract_tokens", "prompts_dir", "repairs")
_KEYS: Final = 1  # the version of the keys, which had a context of some English claims alone before


class JudgementCache:
    """Asks a formulation for judgements that are neither cached nor in progress."""

    def __init__(
        self,
        settings: LlmSettings,
        client: ClientSettings,
        json_cache: JsonCache,
        batches: BatchStore | None = None,
    ) -> None:
        self._settings = settings
        self._share = client.share
        self._json_cache = json_cache
        self._prices = client.prices_of(VERIFIER, settings.model)
        self._batches = batches if client.batched(VERIFIER, settings.model) else None
        options = {k: v for k, v in asdict(settings).items() if k not in _NOT_OF_JUDGEMENTS}
        endpoint = client.endpoint(VERIFIER, settings.model)
        self._how = [endpoint.url, endpoint.model, options, _KEYS]
        self._how += [endpoint.added] if endpoint.added else []

    async def judge(
        self, case: Case, asker: Asker, formulation: Formulation, prompt_version: str
    ) -> dict[Pair, Finding]:
        """Return a finding for every pair of the case; append the usage rows to `asker.usage`."""
        separate = [] if self._share else [asker.of.response_id]
        key = partial(key_of, "j", prompt_version, *self._how)
        keys = keys_of(case, formulation, key, separate)
        owner = f"{asker.of.response_id} {asker.of.source}"

        async def look_up(pairs: Sequence[Pair]) -> dict[Pair, Finding]:
            values = await self._json_cache.get_many(keys[pair] for pair in pairs)
            if self._batches is not None:
                own = self._batches.claimed(owner, [keys[pair] for pair in pairs])
                pairs = [pair for pair in pairs if keys[pair] not in own]
            read = {pair: _from_json(values.get(keys[pair])) for pair in pairs}
            cached = {pair: one for pair, one in read.items() if one and self._usable(one)}
            asker.usage += self._reused(asker, cached.values(), cached=True)
            return cached

        async def ask(pairs: Sequence[Pair]) -> dict[Pair, Finding]:
            if self._batches is None:
                return await ask_for(pairs)
            first = {keys[pair]: pair for pair in pairs}
            groups, theirs = self._batches.claim(owner, first)
            judged = await together(ask_for([first[key] for key in group]) for group in groups)
            if theirs:
                raise NotYetAnswered("another response asks for the same judgement")
            findings = {keys[pair]: one for group in judged for pair, one in group.items()}
            return {pair: findings[keys[pair]] for pair in pairs}

        async def ask_for(pairs: Sequence[Pair]) -> dict[Pair, Finding]:
            sent = len(asker.usage)
            findings = await formulation.judge(replace(case, pairs=sorted(pairs)), asker)
            judged = _with_requests(findings, asker.usage[sent:])
            if self._json_cache.writes:
                usable = {pair: one for pair, one in judged.items() if self._usable(one)}
                await self._json_cache.put_many(
                    {keys[pair]: asdict(finding) for pair, finding in usable.items()}
                )
            return judged

        judged, shared = await self._json_cache.ask_once(keys, ask, look_up, self._usable)
        asker.usage += self._reused(asker, shared.values(), cached=False)
        return judged | shared

    def _reused(self, asker: Asker, findings: Iterable[Finding], cached: bool) -> list[Usage]:
        """Return a usage row for each request whose judgements are reused."""
        row = usage_row(asker.of.step, asker.of.source, asker.of.model, asker.of.response_id)
        paid = (one for finding in findings for one in finding.paid)
        return reused_rows(row, paid, cached, self._prices)

    def _usable(self, finding: Finding) -> bool:
        """Return whether a judgement may be cached."""
        return finding.is_complete(self._settings)


def shared_judgements(settings: LlmSettings, client: ClientSettings) -> JudgementCache:
    """Return the cache of judgements, in the cache that the clients of a run share."""
    return JudgementCache(settings, client, shared_cache(client), run_resources(client).batches)


def keys_of(
    case: Case,
    formulation: Formulation,
    key: Callable[..., str],
    separate: Sequence[str | None] = (),
) -> dict[Pair, str]:
    """Return the key of each pair, a hash of all that is sent for it.

    `key` has the part of the key that says how it is asked.
    """

    @cache
    def of_unit(at: int) -> list[str]:
        unit = case.units[at]
        return [unit.claim, unit.query, formulation.context(case, at)]

    def of_passage(at: int) -> list[str]:
        return [case.passages[at].title or "", case.passages[at].text]

    return {
        (unit, passage): key(*of_unit(unit), *of_passage(passage), *separate)
        for unit, passage in case.pairs
    }


def _with_requests(findings: Mapping[Pair, Finding], sent: Sequence[Usage]) -> dict[Pair, Finding]:
    """Return the findings with the requests by which they were paid; errors have none.

    The `request_id` of a finding that took several requests is only one of them. So the others, and
    repairs, are divided among all findings.
    """
    paid: dict[Pair, list[Paid]]
    paid = {pair: [] for pair, finding in findings.items() if finding.outcome != ERROR}
    rows = [row for row in sent if row.status == OK and row.step != PROBE] if paid else []
    turns = cycle(paid)
    for row in rows:
        own = [pair for pair in paid if findings[pair].request_id == row.request_id]
        share(row, [paid[pair] for pair in own or [next(turns)]])
    return {
        pair: replace(finding, paid=paid[pair]) if pair in paid else finding
        for pair, finding in findings.items()
    }


def _from_json(value: Any) -> Finding | None:
    """Return a cached judgement; None for a value of another shape."""
    with suppress(TypeError, ValueError, KeyError):
        if isinstance(value, list):  # as some caches have it
            columns, *tokens = value
            value = {**columns, "tokens": tokens}
        paid = paid_in(value, value["request_id"] or "")
        columns = {name: one for name, one in value.items() if name != "tokens"}
        return Finding(**columns | {"paid": paid})
    return None
