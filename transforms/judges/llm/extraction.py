"""Extract claims and queries from numbered sentences by a model.

Claims take one call for a response, and so do queries for claims without one, unless it is long. A
sentence that the reply lists neither with a claim nor under `no_claim` is requested once more, then
recorded as a failure. A claim for which the model writes no query is its own query.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, Final

from ufo.schemas.records import InputRecord
from ufo.schemas.text import quantity
from ufo.transforms.english.words import STOP_WORDS
from ufo.transforms.judges.judge import Draft
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.excerpts import AROUND, Text, pack_parts, ranges
from ufo.transforms.judges.llm.llm_settings import RATIONALE, LlmSettings
from ufo.transforms.judges.llm.parsing import (
    arguments_of,
    breaks_off,
    decode_json,
    number_of,
    numbers_of,
    objects_of,
    values_in,
)
from ufo.transforms.llm.json_schema import closed_object, list_of, one_of
from ufo.transforms.llm.request import WITHHELD, Choice, Function
from ufo.transforms.llm.tokens import count
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import element, read, wrapped
from ufo.transforms.sentences import Span

CLAIMS: Final = "extract_facts"
SENTENCES: Final = "extract_sentences"
QUERIES: Final = "write_queries"
_PROMPTS: Final = (
    "extract_user",
    "function_extract",
    "argument_claim",
    "argument_no_claim",
    "write_queries_system",
    "write_queries_user",
    "function_queries",
    "argument_query",
    "repair",
)
_LONGER: Final = 3  # the length of a reply as a multiple of its sentences' length
_LEAST: Final = 20  # tokens of a part: a shorter slice of a sentence has no meaning
_PER_SENTENCE: Final = 8  # claims at most: far more than a sentence has
_QUERY_TOKENS: Final = 30  # of a query and its number
_CLAIM_NAMES: Final = ("claim", "statement", "fact", "text", "content")
_QUERY_NAMES: Final = ("query", "question")
_CLAIM: Final = {
    "sentence": 1,
    "claim": "The Alma Bridge was opened in 1932.",
    "query": "When was the Alma Bridge opened?",
}
_EXAMPLE: Final = {"facts": [_CLAIM], "no_claim": [2]}
_LEVELS: Final = 6  # of objects and lists around a claim
_SHOWN: Final = 200  # characters of a rejected claim
# In scripts without spaces between words each character counts as a word.
_WORD: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]|[^\\W_]+"
)
Answers = tuple[Mapping[int, list[Draft] | None], list[int]]
"""The claims of each sentence, and those too long for a context whose size is known since."""

_STEM: Final = 4  # initial letters by which forms of a word are compared


def system_of(name: str, settings: LlmSettings) -> str:
    """Return the name of the system prompt of an extraction, CLAIMS or SENTENCES.

    The published extraction of Facts&Evidence has examples.
    """
    published = settings.as_published and settings.formulation == RATIONALE and name == CLAIMS
    return f"{name}_published_system" if published else f"{name}_system"


def prompt_names(name: str, settings: LlmSettings) -> list[str]:
    """Return the names of the prompts that an extraction depends on."""
    return [system_of(name, settings), *_PROMPTS]


async def extract(
    name: str, record: InputRecord, spans: Sequence[Span], asker: Asker, settings: LlmSettings
) -> list[Draft]:
    """Return the claims of a response in the order of its sentences; `name` is CLAIMS or SENTENCES.

    A text longer than `settings.extract_tokens` is sent in parts, concurrently, and a sentence that
    is longer in slices. A query that the reply lacks is left empty.
    """
    prompts, system = asker.prompts, asker.prompts[system_of(name, settings)]
    most = 1 if name == SENTENCES else None
    asked = element("question", record.question) if record.question else ""

    def fitting() -> int:
        """Return the tokens of a part, by the size of the context as far as it is known."""
        room = asker.room(Question(system, "", _function(name, [1], prompts)))
        if room is None:
            return settings.extract_tokens
        # for the sentences, their context, and the reply
        return min(settings.extract_tokens, max(_LEAST, room // (2 + _LONGER)))

    async def ask(text: Text, owners: Sequence[int], items: Sequence[int], tokens: int) -> Answers:
        breaks, parts = text.breaks(), text.parts(items, tokens)
        long: list[int] = []

        def question(items: Sequence[int], wrong: str) -> Question:
            context = text.before(items[0], tokens)
            if wrong or [*items] not in parts:
                around = min(AROUND, text.size(range(len(owners))))
                context = text.surroundings(items, around, before=2)
            lines: list[str] = []
            for at in items:
                lines += [""] if at in breaks and lines else []
                lines.append(element(f"s{at + 1}", text.sentence(at)))
            user = prompts.render(
                "extract_user",
                question=asked,
                context=element("context", context) if context else "",
                text=wrapped("text", "\n".join(["", *lines, ""]), language=record.language),
            )
            function = _function(name, [at + 1 for at in items], prompts)
            return Question(system, user, function, _LONGER * text.size(items))

        def lacks(lost: Sequence[int]) -> str:
            fits = 2 * fitting() if fitting() < tokens else inf
            long.extend(at for at in lost if text.size([at]) > fits)
            numbers = ranges(owners[at] + 1 for at in lost if at not in long)
            return f"sentences {numbers}" if numbers else ""

        form = Form(
            question,
            partial(_parse_claims, text, owners),
            pack=lambda items: text.parts(items, tokens),
            lacks=lacks,
        )
        answers = await ask_for_items(items, form, asker)
        return {at: answers[at].value for at in items}, long

    text, owners = Text(record.text, spans), [*range(len(spans))]
    items: Sequence[int] = owners
    merged: dict[int, dict[Draft, None]] = {}
    while items:
        tokens = fitting()
        text, sliced = text.slice_sentences(tokens)
        owners = [owners[at] for at in sliced]
        items = [at for at, before in enumerate(sliced) if before in items]
        values, items = await ask(text, owners, items, tokens)
        for at, facts in values.items():
            drafts = [replace(draft, sentence_index=owners[at]) for draft in facts or ()]
            merged.setdefault(owners[at], {}).update(dict.fromkeys(drafts))
    return [draft for at in sorted(merged) for draft in list(merged[at])[:most]]


def _function(name: str, sentences: Sequence[int], prompts: Prompts) -> Function:
    """Return the function that takes the claims of sentences with these numbers."""
    number = {"$ref": "#/$defs/sentence"}
    fields: dict[str, Any] = {"sentence": number}
    for field in ("claim", "query"):
        fields[field] = {"type": "string", "description": prompts[f"argument_{field}"]}
    most = len(sentences) * (1 if name == SENTENCES else _PER_SENTENCE)
    without = list_of(number, len(sentences), prompts["argument_no_claim"])
    schema = closed_object({"facts": list_of(closed_object(fields), most), "no_claim": without})
    schema["$defs"] = {"sentence": one_of(sentences)}
    return Function(name, prompts["function_extract"], schema, _EXAMPLE)


def _parse_claims(
    text: Text, owners: Sequence[int], choice: Choice, items: Sequence[int]
) -> Parsed[int, list[Draft]]:
    """Return the claims in a reply, by the index of their sentence; [] where it has none.

    A sentence has no value in three cases:

    - One of its claims is malformed.
    - All its claims were rejected, since they share no content word with it.
    - It is the last one of a list that was cut off, so claims may be missing.

    A sentence that has claims and is listed under `no_claim` keeps its claims. A query without a
    word of its sentence or claim is dropped.
    """
    arguments = arguments_of(choice, ("facts", "claims", "no_claim"))
    claims: dict[int, list[Draft]] = {}
    rejected: dict[int, list[str]] = {}
    malformed: set[int] = set()
    last: int | None = None
    facts = arguments.get("facts", arguments.get("claims"))
    if facts is None and not choice.refusal and choice.ending != WITHHELD:  # without a list
        facts = values_in(choice.arguments or choice.text)
    for number, claim, query in _facts(facts):
        at = _index(number, items)
        if at is None:
            continue
        last, sentence = at, text.sentence(at)
        if not claim:
            malformed.add(at)
        elif not related(claim, sentence):
            shown = f"{claim[:_SHOWN]!r}, which has no word of it"
            lacks = f"a claim of sentence {owners[at] + 1} in place of {shown}"
            rejected.setdefault(at, []).append(lacks)
        else:
            query = query if related(query, sentence, claim) else ""
            claims.setdefault(at, []).append(Draft(at, claim, query))
    if last is not None and "no_claim" not in arguments and breaks_off(choice):
        malformed.add(last)
    for number in numbers_of(decode_json(arguments.get("no_claim"))):
        if number - 1 in items and number - 1 not in rejected:
            claims.setdefault(number - 1, [])
    claims = {at: claims[at] for at in claims if at not in malformed}
    wrong = "it had no JSON object with facts and no_claim"
    if rejected:
        wrong = "it had a claim that has no word of its sentence"
    elif claims:
        wrong = "it left out the sentences that are asked about here"
    return Parsed(claims, wrong, rejected=rejected)


def _facts(
    value: Any, sentence: int | None = None, levels: int = _LEVELS
) -> Iterator[tuple[int | None, str, str]]:
    """Yield the number of the sentence, the claim and the query of each fact in a value.

    The value is a list of facts, or an object with the facts of each sentence.
    """
    value = decode_json(value)
    if isinstance(value, list) and levels:
        for item in value:
            yield from _facts(item, sentence, levels - 1)
    elif isinstance(value, str):
        yield sentence, read(value).strip(), ""
    elif isinstance(value, dict):
        numbers = (number_of(value[name]) for name in value if name.startswith("sentence"))
        sentence = next((number for number in numbers if number is not None), sentence)
        claim, query = _text(value, *_CLAIM_NAMES), _text(value, *_QUERY_NAMES)
        named = {name: number for name in value if (number := number_of(name)) is not None}
        lists = [name for name in value if isinstance(decode_json(value[name]), list | dict)]
        inner = [name for name in lists if name.rstrip("s") in _CLAIM_NAMES]
        if claim or not (named or inner):
            yield sentence, claim, query
        for name in () if claim or not levels else (*named, *inner):
            yield from _facts(value[name], named.get(name, sentence), levels - 1)


async def write_queries(claims: Sequence[str], asker: Asker, settings: LlmSettings) -> list[str]:
    """Return a query for each claim, in order; a call has at most `settings.extract_tokens`."""
    prompts = asker.prompts

    def pack(items: Sequence[int]) -> list[list[int]]:
        return pack_parts([items], lambda at: count(claims[at]), settings.extract_tokens)

    def question(items: Sequence[int], wrong: str) -> Question:
        tagged = [element(f"c{number}", claims[at]) for number, at in enumerate(items, 1)]
        text = {"type": "string", "description": prompts["argument_query"]}
        query = closed_object({"claim": one_of(range(1, len(items) + 1)), "query": text})
        schema = closed_object({"queries": list_of(query, len(items))})
        example = {"queries": [{"claim": 1, "query": _CLAIM["query"]}]}
        function = Function(QUERIES, prompts["function_queries"], schema, example)
        user = prompts.render("write_queries_user", claims="\n".join(tagged))
        expects = _QUERY_TOKENS * len(items)
        return Question(prompts["write_queries_system"], user, function, expects)

    def parse(choice: Choice, items: Sequence[int]) -> Parsed[int, str]:
        queries: dict[int, str] = {}
        written = decode_json(arguments_of(choice, ("queries",)).get("queries"))
        in_order = isinstance(written, list) and len(written) == len(items)
        if isinstance(written, dict) and all(isinstance(query, str) for query in written.values()):
            by_claim = [{"claim": name, "query": query} for name, query in written.items()]
            written = written if written.keys() & {*_QUERY_NAMES} else by_claim
        if in_order and all(isinstance(query, str) for query in written):
            written = [{"claim": at, "query": query} for at, query in enumerate(written, 1)]
        for item in objects_of(written):
            number = next((item[name] for name in _CLAIM_NAMES if name in item), None)
            place, query = _index(number, range(len(items))), _text(item, *_QUERY_NAMES)
            if place is not None and query and related(query, claims[items[place]]):
                queries.setdefault(items[place], query)
        return Parsed(queries, "it lacked a query with a word of its claim")

    form = Form(question, parse, pack, lacks=lambda lost: quantity(len(lost), "search question"))
    answers = await ask_for_items(range(len(claims)), form, asker)
    return [answers[at].value or claim for at, claim in enumerate(claims)]


def related(text: str, *others: str) -> bool:
    """Return whether a text shares a content word with one of the others.

    Words are compared by their first four letters (discovered, discovery). True where either side
    has no content word.
    """
    words = _stems(text)
    other_words = set().union(*map(_stems, others))
    return not words or not other_words or not words.isdisjoint(other_words)


def _stems(text: str) -> set[str]:
    words = (match[0] for match in _WORD.finditer(text.casefold()))
    return {word if word.isdigit() else word[:_STEM] for word in words if word not in STOP_WORDS}


def _index(value: object, known: Sequence[int]) -> int | None:
    """Return the index of a number from 1, None for one that is not known."""
    number = number_of(value)
    return number - 1 if number is not None and number - 1 in known else None


def _text(item: Mapping[str, Any], *names: str) -> str:
    """Return the text of the first of these names that an item has, "" for none."""
    value = next((item[name] for name in names if name in item), None)
    return read(value).strip() if isinstance(value, str) else ""
