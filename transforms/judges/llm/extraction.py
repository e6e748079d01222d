"""Extraction by a model: the claims of numbered sentences, one call for a response.

A sentence that the reply mentions neither with a claim nor as having none is asked for once more,
then recorded as a failure (DESIGN section 4).
"""

from collections.abc import Sequence
from typing import Any

from schemas.functions import extraction_parameters, is_number
from schemas.records import FILTERED, REFUSED, TRUNCATED, InputRecord
from transforms.judges.base import Draft
from transforms.judges.llm.asking import Asker, Reply, together
from transforms.judges.llm.formulation import worth_keeping, worth_repairing
from transforms.judges.llm.function import ranges
from transforms.judges.llm.parsing import arguments_of, breaks_off
from transforms.judges.llm.parts import Part, around, parts_of, rendered
from transforms.llm.base import Choice, Function
from transforms.prompts import Prompts
from transforms.prompts.data import element, read
from transforms.sentences import Span

CLAIMS = "extract_facts"
SENTENCES = "extract_sentences"
_LONGER = 3  # times as long as its sentences is a reply, with claims, queries and numbers
_LEAST = 20  # tokens of a part: cut into less, a sentence says nothing
_ARGUMENTS = ("sentence", "claim", "query", "no_claim")

Claims = dict[int, list[Draft]]
"""The claims of each sentence that a reply settled; none for one without a checkable claim."""


def prompt_names(name: str) -> list[str]:
    """Return the prompts that an extraction depends on."""
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

    A text longer than `tokens` is asked about in parts, side by side. A query that the reply lacks
    is left empty.
    """

    async def of_part(part: Part) -> Claims:
        reply = await _ask(name, record, spans, part, asker, repairs)
        found = read_claims(reply.choice, part.numbers)
        missing = _without(part, found)
        if not missing.sentences:
            return found
        if reply.too_long and len(missing.sentences) > 1:
            for half in await together(of_part(half) for half in _halves(missing, record, spans)):
                found |= half
            return found
        replies = [reply]
        if repairs and worth_repairing(reply):
            pieces = [missing]
            missing.context = around(record.text, spans, missing.numbers)
            if reply.reason in (TRUNCATED, FILTERED, REFUSED) and len(missing.sentences) > 1:
                pieces = _halves(missing, record, spans)
            replies = await together(
                _ask(name, record, spans, piece, asker, repairs, again=True) for piece in pieces
            )
            for piece, again in zip(pieces, replies, strict=True):
                found |= read_claims(again.choice, piece.numbers)
        unsettled = _without(part, found)
        if unsettled.sentences:
            asker.failed(replies[-1], f"sentences {ranges(unsettled.numbers)}")
        return found

    room = asker.room(asker.prompts[f"{name}_system"], _function(name, asker.prompts))
    if room is not None:  # for the sentences, what they need to be understood, and the reply
        tokens = min(tokens, max(_LEAST, room // (2 + _LONGER)))
    parts = parts_of(record.text, spans, tokens)
    claims: Claims = {}
    for found in await together(of_part(part) for part in parts):
        for number, drafts in found.items():
            # The slices of one long sentence are in several parts.
            claims.setdefault(number, []).extend(drafts)
    most = 1 if name == SENTENCES else None
    return [
        draft for number in sorted(claims) for draft in list(dict.fromkeys(claims[number]))[:most]
    ]


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
    again: bool = False,
) -> Reply:
    prompts = asker.prompts

    def keep(choice: Choice) -> bool:
        settled = len(read_claims(choice, part.numbers))
        return worth_keeping(settled, len(set(part.numbers)), again, repairs)

    user = prompts.render(
        "extract_user",
        question=element("question", record.question) if record.question else "",
        context=element("context", part.context) if part.context else "",
        text=rendered(record.text, spans, part, record.language),
    )
    system, function = prompts[f"{name}_system"], _function(name, prompts)
    return await asker.ask(system, user, function, again, keep, _LONGER * part.size)


def _function(name: str, prompts: Prompts) -> Function:
    descriptions = {argument: prompts[f"argument_{argument}"] for argument in _ARGUMENTS}
    return Function(name, prompts["function_extract"], extraction_parameters(descriptions))


def _without(part: Part, found: Claims) -> Part:
    return Part([item for item in part.sentences if item[0] not in found], part.context)


def read_claims(choice: Choice, numbers: Sequence[int]) -> Claims:
    """Return what a reply settles of the sentences of these numbers; never raises.

    A sentence with a malformed claim is not settled, nor is the last one of a list that breaks off,
    of which more may have followed. A number that was not asked about is passed
    over, and claims outweigh the mention of their sentence as one without.
    """
    arguments = arguments_of(choice, ("facts", "no_claim"))
    claims: Claims = {}
    malformed: set[int] = set()
    last: int | None = None
    for fact in _items(arguments.get("facts")):
        number = fact.get("sentence") if isinstance(fact, dict) else None
        if not is_number(number) or number not in numbers:
            continue
        last = number
        claim, query = fact.get("claim"), fact.get("query")
        if isinstance(claim, str) and claim.strip():
            text = read(query).strip() if isinstance(query, str) else ""
            claims.setdefault(number, []).append(Draft(number, read(claim).strip(), text))
        else:
            malformed.add(number)
    if last is not None and "no_claim" not in arguments and breaks_off(choice):
        malformed.add(last)
    for number in _items(arguments.get("no_claim")):
        if is_number(number) and number in numbers:
            claims.setdefault(number, [])
    return {number: claims[number] for number in claims if number not in malformed}


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
