"""No judgement twice: what is kept, or under way, leaves before calls are packed.

A judgement is of a unit and one passage. Its key is the unit's claim, query and context, the
passage's title and text, and how it is judged: endpoint, model, prompts, options (DESIGN section
7). What else the call holds is not in it, which is why equal claims of different responses are
judged once, and why a unit that has found one more passage is asked about that one alone.
"""

import re
from asyncio import shield
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any, Final

from schemas.records import ERROR, OUTCOMES, Usage
from transforms.judges.llm.asking import Asker
from transforms.judges.llm.context import paragraph, spans_of, surroundings
from transforms.judges.llm.formulation import Case, Finding, Formulation, Pair
from transforms.judges.llm.settings import FUNCTION, RATIONALE, LlmSettings
from transforms.llm.base import VERIFIER
from transforms.llm.cache import place_of, shares, told, total
from transforms.llm.client import ClientSettings
from transforms.llm.memory import Memory, key_of
from transforms.llm.session import OK
from transforms.llm.shared import shared_memory

# What a judgement does not depend on: who extracts, where prompts lie (their version is in the
# key), and whether an unusable reply is asked for again.
_NOT_OF_JUDGEMENTS: Final = ("model", "extractor_model", "extract_tokens", "prompts_dir", "repairs")

_POINTING: Final = re.compile(
    r"\b(?:he|him|his|himself|she|hers?|herself|it|its|itself|they|them|theirs?|themselves|this|"
    r"these|those|here|there|former|latter|i|me|my|we|us|our|you|your)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"(?:the|that|both|all|one|some)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"(?<=\s)[^\w\s]*[A-ZÀ-ÖØ-Þ]")


@dataclass(frozen=True, slots=True)
class Known:
    """A finding and its share of the tokens of the request that it came with."""

    finding: Finding
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


_WIDTH: Final = len(fields(Finding)) + 2
_KEPT: Final = tuple(outcome for outcome in OUTCOMES if outcome != ERROR)


def leans_on_context(claim: str) -> bool:
    """Tell whether a claim may mean another thing in another text: it has a word that points at
    something, or begins with a definite description and names nobody.

    A claim is to be understood alone; where it is, what stood around it does not make it another
    one. Words are English ones: claims in other languages are taken to be understood alone.
    """
    if _POINTING.search(claim):
        return True
    return bool(_DEFINITE.match(claim)) and not _NAME.search(claim)


def remembered(settings: LlmSettings, client: ClientSettings) -> "Remembered":
    """Return the judgements of this process and its cache for these settings."""
    return Remembered(settings, client, shared_memory(client))


class Remembered:
    """Judges through a formulation what is neither kept in `memory` nor under way."""

    def __init__(self, settings: LlmSettings, client: ClientSettings, memory: Memory) -> None:
        self._settings = settings
        self._client = client
        self._memory = memory
        options = asdict(settings)
        for name in _NOT_OF_JUDGEMENTS:
            del options[name]
        self._how = [*place_of(client, VERIFIER, settings.model), options, client.repeat]

    async def judge(
        self, case: Case, asker: Asker, formulation: Formulation, prompt_version: str
    ) -> dict[Pair, Finding]:
        """Return a finding for every pair of the case; `asker` has the usage of all of them."""
        keys = self._keys(case, prompt_version, asker.response_id)
        known: dict[Pair, Known] = {}
        # Claimed before the first wait, so that nobody else comes between the look and the claim.
        # A pair whose equal is in this very case waits for that one.
        waited = {pair: under for pair, key in keys.items() if (under := self._memory.claim(key))}
        own = {pair: key for pair, key in keys.items() if pair not in waited}
        try:
            kept = await self._memory.get_many(own.values())
            for pair, key in own.items():
                judgement = _read(kept.get(key))
                if judgement is not None:
                    known[pair] = judgement
                    self._memory.settle(key, judgement)
            asker.usage += _usage(asker, known.values(), cached=True)
            found = await self._ask(case, asker, formulation, own, known)
        finally:
            for pair, key in own.items():
                self._memory.settle(key, known.get(pair))
        shared = {pair: await shield(under) for pair, under in waited.items()}  # as others wait too
        shared = {pair: judgement for pair, judgement in shared.items() if judgement is not None}
        asker.usage += _usage(asker, shared.values(), cached=False)
        # What others got no judgement for is asked for here. It is not shared a second time, or
        # those who wait would do so one after the other.
        rest = {pair: keys[pair] for pair in waited}
        return found | await self._ask(case, asker, formulation, rest, shared)

    async def _ask(
        self,
        case: Case,
        asker: Asker,
        formulation: Formulation,
        keys: Mapping[Pair, str],
        known: dict[Pair, Known],
    ) -> dict[Pair, Finding]:
        """Return the findings of these pairs. Those that are not in `known` are asked for, and what
        comes goes there and into the memory."""
        wanted: dict[int, list[int]] = {}
        for unit, passage in keys:
            if (unit, passage) not in known:
                wanted.setdefault(unit, []).append(passage)
        found: dict[Pair, Finding] = {}
        if wanted:
            sent = len(asker.usage)
            found = dict(await formulation.judge(replace(case, wanted=wanted), asker))
            fresh = _with_tokens(found, asker.usage[sent:])
            known |= fresh
            await self._memory.put_many({keys[pair]: _written(one) for pair, one in fresh.items()})
        return found | {pair: known[pair].finding for pair in keys if pair in known}

    def _keys(self, case: Case, prompt_version: str, response_id: str | None) -> dict[Pair, str]:
        """Return the key of each pair."""
        how = [prompt_version, *self._how]
        apart = [] if self._client.share else [response_id]
        keys = {}
        for at, numbers in case.wanted.items():
            unit, context = case.units[at], self._context(case, at)
            what = [unit.claim, unit.query, context]
            for number in numbers:
                passage = case.passages[number]
                text = [passage.title or "", passage.text]
                keys[at, number] = key_of("j", *how, *what, *text, *apart)
        return keys

    def _context(self, case: Case, at: int) -> str:
        """Return what a unit's meaning takes from its response, as its formulation tells it."""
        unit, response = case.units[at], case.open_units
        if not leans_on_context(unit.claim):
            return ""
        if self._settings.formulation == FUNCTION:
            return surroundings(response.text, spans_of(response), [unit.sentence_index])
        if self._settings.formulation == RATIONALE:
            return paragraph(response.text, spans_of(response), unit.sentence_index)
        return ""  # the others are not told any


def _with_tokens(found: Mapping[Pair, Finding], sent: Sequence[Usage]) -> dict[Pair, Known]:
    """Return what is no error, each with its share of its request's tokens."""
    good = {pair: finding for pair, finding in found.items() if finding.outcome != ERROR}
    rows = {row.request_id: row for row in sent if row.status == OK}
    counts = Counter(finding.request_id for finding in good.values())
    left = {
        request: list(
            zip(
                shares([rows[request].prompt_tokens], count),
                shares([rows[request].completion_tokens], count),
                strict=True,
            )
        )
        for request, count in counts.items()
        if request in rows
    }
    known = {}
    for pair, finding in good.items():
        tokens = left[finding.request_id].pop() if finding.request_id in left else (None, None)
        known[pair] = Known(finding, *tokens)
    return known


def _usage(asker: Asker, judgements: Iterable[Known], cached: bool) -> list[Usage]:
    """Return a row for each request whose judgements are taken over: those kept from before with
    the tokens that are saved, those of another response under way with none."""
    by_request: dict[str, list[Known]] = {}
    for one in judgements:
        by_request.setdefault(one.finding.request_id or "", []).append(one)
    rows = []
    for request, some in by_request.items():
        row = told(asker.step, asker.source, asker.model, asker.response_id, request)
        if cached:
            row = replace(
                row,
                cached=True,
                prompt_tokens=total(one.prompt_tokens for one in some),
                completion_tokens=total(one.completion_tokens for one in some),
            )
        rows.append(row if cached else replace(row, coalesced=True))
    return rows


def _written(one: Known) -> list[Any]:
    return [*astuple(one.finding), one.prompt_tokens, one.completion_tokens]


def _read(value: Any) -> Known | None:
    """Return a kept judgement; None where the value is none, whoever wrote it."""
    if not isinstance(value, list) or len(value) != _WIDTH:
        return None
    *texts, prompt, reply = value
    if texts[0] not in _KEPT or not all(isinstance(text, str | None) for text in texts):
        return None
    if not all(isinstance(count, int | None) for count in (prompt, reply)):
        return None
    return Known(Finding(*texts), prompt, reply)
