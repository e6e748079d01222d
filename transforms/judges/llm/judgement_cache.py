"""Cache judgements by claim and passage, over responses and runs.

The key of a judgement is a hash of three parts:

- the unit's claim, query and context
- the passage's title and text
- the endpoint, model, prompts and options

The other units and passages of the call are not in the key. So equal claims of different responses
are judged once, and a unit with a new passage is judged by that passage alone.

Where requests are sent in batches, a response claims the judgements that it asks for, and other
responses wait for them. In every pass of the run it asks for the same judgements, in the same
requests.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, Final

from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import ERROR, OUTCOMES, Usage
from ufo.transforms.judges.llm.asking import Asker
from ufo.transforms.judges.llm.excerpts import Text, paragraph
from ufo.transforms.judges.llm.formulation import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import FUNCTION, RATIONALE, LlmSettings
from ufo.transforms.judges.llm.packing import by_fact
from ufo.transforms.llm.batch_store import BatchStore
from ufo.transforms.llm.cache import Keys, Memory
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.errors import Tokens
from ufo.transforms.llm.request import VERIFIER, together
from ufo.transforms.llm.usage import OK, reused, shares, usage_row

# Settings that do not affect a judgement. The key has the version of the prompts, and the model of
# the endpoint.
_NOT_OF_JUDGEMENTS: Final = ("model", "extractor_model", "extract_tokens", "prompts_dir", "repairs")

_PRONOUN: Final = re.compile(
    r"\b(?:he|him|his|himself|she|hers?|herself|it|its|itself|they|them|theirs?|themselves|this|"
    r"these|those|here|there|former|latter|i|me|my|we|us|our|you|your)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"(?:the|that|both|all|one|some)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"(?<=\s)[^\w\s]*[A-ZÀ-ÖØ-Þ]")


Counted = tuple[Finding, Tokens]
"""A finding and its share of the tokens of its request."""

_WIDTH: Final = len(fields(Finding)) + 2
_KEPT: Final = tuple(outcome for outcome in OUTCOMES if outcome != ERROR)


def leans_on_context(claim: str) -> bool:
    """Return whether a claim's meaning may depend on its context: it has a pronoun, or begins with
    a definite description and has no name.

    The words are English: claims in other languages are assumed not to depend on their context.
    """
    if _PRONOUN.search(claim):
        return True
    return bool(_DEFINITE.match(claim)) and not _NAME.search(claim)


class JudgementCache:
    """Asks a formulation for judgements that are neither in `memory` nor in progress."""

    def __init__(
        self,
        settings: LlmSettings,
        client: ClientSettings,
        memory: Memory,
        batches: BatchStore | None = None,
    ) -> None:
        self._settings = settings
        self._client = client
        self._memory = memory
        self._batches = batches if client.batched(VERIFIER, settings.model) else None
        options = asdict(settings)
        for name in _NOT_OF_JUDGEMENTS:
            del options[name]
        endpoint = client.endpoint(VERIFIER, settings.model)
        self._how = [endpoint.url, endpoint.model, options, 0]  # 0: keys as in earlier versions
        self._how += [endpoint.added] if endpoint.added else []

    async def judge(
        self, case: Case, asker: Asker, formulation: Formulation, prompt_version: str
    ) -> dict[Pair, Finding]:
        """Return a finding for every pair of the case; append the usage rows to `asker.usage`."""
        keys = self._keys(case, prompt_version, asker.of.response_id)
        owner = f"{asker.of.response_id} {asker.of.source}"

        there: set[str] = set()

        async def look_up(pairs: Sequence[Pair]) -> dict[Pair, Counted]:
            values = await self._memory.get_many(keys[pair] for pair in pairs)
            there.update(values)
            if self._batches is not None:
                own = self._batches.claimed(owner, [keys[pair] for pair in pairs])
                pairs = [pair for pair in pairs if keys[pair] not in own]
            read = {pair: _from_json(values.get(keys[pair])) for pair in pairs}
            cached = {pair: one for pair, one in read.items() if one and self._usable(one)}
            asker.usage += _usage(asker, cached.values(), cached=True)
            return cached

        async def ask(pairs: Sequence[Pair]) -> dict[Pair, Counted]:
            if self._batches is None:
                return await ask_for(pairs)
            first = {keys[pair]: pair for pair in pairs}
            groups, theirs = self._batches.claim(owner, first)
            judged = await together(ask_for([first[key] for key in group]) for group in groups)
            if theirs:
                raise NotYetAnswered("another response asks for the same judgement")
            made = {keys[pair]: one for group in judged for pair, one in group.items()}
            return {pair: made[keys[pair]] for pair in pairs}

        async def ask_for(pairs: Sequence[Pair]) -> dict[Pair, Counted]:
            sent = len(asker.usage)
            wanted = by_fact(sorted(pairs))
            findings = await formulation.judge(replace(case, wanted=wanted), asker)
            judged = _with_tokens(findings, asker.usage[sent:])
            kept = {keys[pair]: one for pair, one in judged.items() if self._usable(one)}
            new = {key: one for key, one in kept.items() if key not in there}
            await self._memory.put_many(
                {key: [*one.columns().values(), *tokens] for key, (one, tokens) in new.items()}
            )
            if self._batches is not None:
                self._batches.settle(keys[pair] for pair in pairs)
            return judged

        judged, shared = await self._memory.ask_once(keys, ask, look_up, self._usable)
        asker.usage += _usage(asker, shared.values(), cached=False)
        return {pair: finding for pair, (finding, _) in (judged | shared).items()}

    def _usable(self, one: Counted) -> bool:
        """Return whether a judgement may be cached."""
        return one[0].explained(self._settings)

    def _keys(self, case: Case, prompt_version: str, response_id: str | None) -> dict[Pair, str]:
        """Return the key of each pair."""
        judged = Keys("j", prompt_version, *self._how)
        separate = [] if self._client.share else [response_id]
        keys = {}
        for at, numbers in case.wanted.items():
            unit = case.units[at]
            what = [unit.claim, unit.query, self._context(case, at)]
            for number in numbers:
                passage = case.passages[number]
                text = [passage.title or "", passage.text]
                keys[at, number] = judged.of(*what, *text, *separate)
        return keys

    def _context(self, case: Case, at: int) -> str:
        """Return the context of a unit in the prompt, "" if its meaning cannot depend on it."""
        claim, index = case.units[at].claim, case.units[at].sentence_index
        if leans_on_context(claim) and self._settings.formulation == FUNCTION:
            return Text.of(case.open_units).surroundings([index])
        if leans_on_context(claim) and self._settings.formulation == RATIONALE:
            return paragraph(case.open_units, index)
        return ""  # the prompts of the others have no context


def _with_tokens(findings: Mapping[Pair, Finding], sent: Sequence[Usage]) -> dict[Pair, Counted]:
    """Return the findings; each one without an error has its share of the request's tokens."""
    counts = Counter(one.request_id for one in findings.values() if one.outcome != ERROR)
    left = {
        row.request_id: shares([row], counts[row.request_id]) for row in sent if row.status == OK
    }
    return {
        pair: (one, left[one.request_id or ""].pop())
        if one.outcome != ERROR and one.request_id in left
        else (one, (None, None))
        for pair, one in findings.items()
    }


def _usage(asker: Asker, judgements: Iterable[Counted], cached: bool) -> list[Usage]:
    """Return a usage row for each request whose judgements are reused.

    Rows of `cached` judgements have the tokens saved. Rows of judgements that another response
    requested at the same time have none.
    """
    used: dict[str, list[Tokens]] = {}
    for finding, tokens in judgements:
        used.setdefault(finding.request_id or "", []).append(tokens)
    of = (asker.of.step, asker.of.source, asker.of.model, asker.of.response_id)
    return [reused(usage_row(*of, one), saved if cached else None) for one, saved in used.items()]


def _from_json(value: Any) -> Counted | None:
    """Return a cached judgement; None for a value of another shape."""
    if not isinstance(value, list) or len(value) != _WIDTH or value[0] not in _KEPT:
        return None
    *texts, prompt, reply = value
    known = all(isinstance(text, str | None) for text in texts)
    counted = all(isinstance(count, int | None) for count in (prompt, reply))
    return (Finding(*texts), (prompt, reply)) if known and counted else None
