"""Extract the claims of numbered sentences by a model, in one call for a response.

A sentence that the reply lists neither with a claim nor under `no_claim` is requested once more,
then recorded as a failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ufo.schemas.functions import is_number
from ufo.schemas.parameters import extraction_parameters
from ufo.schemas.records import FILTERED, REFUSED, TRUNCATED, InputRecord
from ufo.transforms.judges.base import Draft
from ufo.transforms.judges.llm.asking import Asker, Reply, together
from ufo.transforms.judges.llm.excerpts import Part, around, parts_of, rendered
from ufo.transforms.judges.llm.formulation import ranges, trouble, worth_keeping, worth_repairing
from ufo.transforms.judges.llm.parsing import arguments_of, breaks_off
from ufo.transforms.judges.llm.related import related
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import element, read
from ufo.transforms.sentences import Span

CLAIMS = "extract_facts"
SENTENCES = "extract_sentences"
_LONGER = 3  # the length of a reply as a multiple of its sentences' length
_LEAST = 20  # tokens of a part: a shorter slice of a sentence has no meaning
_ARGUMENTS = ("claim", "query", "no_claim")
_EXAMPLE = {
    "facts": [
        {
            "sentence": 1,
            "claim": "The Alma Bridge was opened in 1932.",
            "query": "When was the Alma Bridge opened?",
        }
    ],
    "no_claim": [2],
}
_SHOWN = 200  # characters of a rejected claim

Claims = dict[int, list[Draft]]
"""Claims by the index of their sentence; an empty list for a sentence without a checkable claim."""


@dataclass(slots=True)
class Extracted:
    """The claims in a reply by sentence, and those rejected: without a content word of it."""

    claims: Claims = field(default_factory=dict)
    rejected: dict[int, list[str]] = field(default_factory=dict)


def prompt_names(name: str) -> list[str]:
    """Return the names of the prompts that an extraction depends on."""
    arguments = [f"argument_{argument}" for argument in _ARGUMENTS]
    return [f"{name}_system", "extract_user", "function_extract", "repair", *arguments]


async def extract(
    name: str,
    record: InputRecord,
    spans: Sequence[Span],
    asker: Asker,
    tokens: int,
    repairs: int,
) -> list[Draft]:
    """Return the claims of a response in the order of its sentences; `name` is CLAIMS or SENTENCES.

    A text longer than `tokens` is sent in parts, concurrently. A query that the reply lacks is left
    empty.
    """

    def record_rejected(reply: Reply, rejected: Mapping[int, Sequence[str]]) -> None:
        for at, texts in rejected.items():
            for text in texts:
                shown = f"{text[:_SHOWN]!r}, which has no word of it"
                asker.failed(reply, f"a claim of sentence {at + 1} in place of {shown}")

    async def of_part(part: Part) -> Claims:
        reply = await _ask(name, record, spans, part, asker, repairs)
        first = read_claims(reply.choice, part)
        claims, rejected = first.claims, first.rejected
        missing = _without(part, claims)
        if reply.too_long and len(missing.sentences) > 1:
            record_rejected(reply, {at: rejected[at] for at in rejected if at in claims})
            for half in await together(of_part(half) for half in _halves(missing, record, spans)):
                claims |= half
            return claims
        replies = [reply]
        if missing.sentences and repairs and worth_repairing(reply):
            wrong = trouble(reply, _wrong(first))
            pieces = [missing]
            missing.context = around(record.text, spans, missing.numbers)
            if reply.reason in (TRUNCATED, FILTERED, REFUSED) and len(missing.sentences) > 1:
                pieces = _halves(missing, record, spans)
            replies = await together(
                _ask(name, record, spans, piece, asker, repairs, wrong) for piece in pieces
            )
            rejected = {at: texts for at, texts in rejected.items() if at in claims}
            for piece, repair in zip(pieces, replies, strict=True):
                second = read_claims(repair.choice, piece)
                claims |= second.claims
                rejected |= second.rejected
        record_rejected(replies[-1], rejected)
        missing = _without(part, claims)
        if missing.sentences:
            numbers = ranges([at + 1 for at in missing.numbers])
            asker.failed(replies[-1], f"sentences {numbers}")
        return claims

    function = _function(name, Part([(0, "")]), asker.prompts)
    room = asker.room(asker.prompts[f"{name}_system"], function)
    if room is not None:  # for the sentences, their context, and the reply
        tokens = min(tokens, max(_LEAST, room // (2 + _LONGER)))
    parts = parts_of(record.text, spans, tokens)
    merged: Claims = {}
    for claims in await together(of_part(part) for part in parts):
        for at, drafts in claims.items():
            # The slices of one long sentence are in several parts.
            merged.setdefault(at, []).extend(drafts)
    most = 1 if name == SENTENCES else None
    return [draft for at in sorted(merged) for draft in list(dict.fromkeys(merged[at]))[:most]]


def _halves(part: Part, record: InputRecord, spans: Sequence[Span]) -> list[Part]:
    half = len(part.sentences) // 2
    halves = [Part(part.sentences[:half]), Part(part.sentences[half:])]
    for one in halves:
        one.context = around(record.text, spans, one.numbers, one.size)
    return halves


async def _ask(
    name: str,
    record: InputRecord,
    spans: Sequence[Span],
    part: Part,
    asker: Asker,
    repairs: int,
    wrong: str = "",
) -> Reply:
    prompts = asker.prompts

    def keep(choice: Choice) -> bool:
        complete = len(read_claims(choice, part).claims)
        return worth_keeping(complete, len(set(part.numbers)), bool(wrong), repairs)

    user = prompts.render(
        "extract_user",
        question=element("question", record.question) if record.question else "",
        context=element("context", part.context) if part.context else "",
        text=rendered(record.text, spans, part, record.language),
    )
    system, function = prompts[f"{name}_system"], _function(name, part, prompts)
    return await asker.ask(system, user, function, wrong, keep, _LONGER * part.size)


def _function(name: str, part: Part, prompts: Prompts) -> Function:
    descriptions = {argument: prompts[f"argument_{argument}"] for argument in _ARGUMENTS}
    numbers = [at + 1 for at in dict.fromkeys(part.numbers)]
    parameters = extraction_parameters(descriptions, numbers, 1 if name == SENTENCES else None)
    return Function(name, prompts["function_extract"], parameters, _EXAMPLE)


def _wrong(first: Extracted) -> str:
    if first.rejected:
        return "it had a claim that has no word of its sentence"
    if first.claims:
        return "it left out the sentences that are asked about here"
    return "it had no JSON object with facts and no_claim"


def _without(part: Part, claims: Claims) -> Part:
    return Part([item for item in part.sentences if item[0] not in claims], part.context)


def read_claims(choice: Choice, part: Part) -> Extracted:
    """Parse the claims of a part's sentences from a reply; never raises.

    The result has no entry for a sentence with a malformed claim, for one whose claims are all
    rejected, and for the last sentence of a list that is cut off, since claims may be missing.
    Unknown sentence numbers are ignored. A sentence that has claims and is listed under `no_claim`
    keeps its claims. A query without a word of its sentence or claim is replaced by "".
    """
    arguments = arguments_of(choice, ("facts", "no_claim"))
    texts: dict[int, str] = {}
    for index, piece in part.sentences:
        texts[index] = f"{texts.get(index, '')} {piece}"
    result = Extracted()
    malformed: set[int] = set()
    last: int | None = None
    for fact in _items(arguments.get("facts")):
        at = _index(fact.get("sentence"), texts) if isinstance(fact, dict) else None
        if at is None:
            continue
        last = at
        claim = _text(fact.get("claim"))
        if not claim:
            malformed.add(at)
        elif not related(claim, texts[at]):
            result.rejected.setdefault(at, []).append(claim)
        else:
            query = _text(fact.get("query"))
            if not related(query, texts[at], claim):
                query = ""
            result.claims.setdefault(at, []).append(Draft(at, claim, query))
    if last is not None and "no_claim" not in arguments and breaks_off(choice):
        malformed.add(last)
    for number in _items(arguments.get("no_claim")):
        empty = _index(number, texts)
        if empty is not None and empty not in result.rejected:
            result.claims.setdefault(empty, [])
    result.claims = {at: result.claims[at] for at in result.claims if at not in malformed}
    return result


def _index(number: object, texts: Mapping[int, str]) -> int | None:
    """Return the index of a sentence from its number, None for a number that is not in `texts`."""
    return number - 1 if is_number(number) and number - 1 in texts else None


def _text(value: object) -> str:
    return read(value).strip() if isinstance(value, str) else ""


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
