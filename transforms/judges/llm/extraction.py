"""Extract the claims of numbered sentences by a model, and write queries for claims without one.

Both take one call for a response, unless it is long. A sentence that the reply lists neither with a
claim nor under `no_claim` is requested once more, then recorded as a failure; a claim for which the
model writes no query is its own query.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ufo.schemas.functions import is_number
from ufo.schemas.parameters import extraction_parameters, query_parameters
from ufo.schemas.records import InputRecord
from ufo.transforms.english.lexicon import STOP_WORDS
from ufo.transforms.judges.base import Draft
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items, together
from ufo.transforms.judges.llm.excerpts import TAGS, Part, Text, tokens_of
from ufo.transforms.judges.llm.parsing import arguments_of, breaks_off, ranges
from ufo.transforms.judges.llm.settings import RATIONALE, LlmSettings
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts.data import element, read, wrapped
from ufo.transforms.sentences import Span

CLAIMS: Final = "extract_facts"
SENTENCES: Final = "extract_sentences"
QUERIES: Final = "write_queries"
QUERY_PROMPTS: Final = (
    *("write_queries_system", "write_queries_user"),
    *("function_queries", "argument_query", "repair"),
)
_LONGER: Final = 3  # the length of a reply as a multiple of its sentences' length
_LEAST: Final = 20  # tokens of a part: a shorter slice of a sentence has no meaning
_QUERY_TOKENS: Final = 30  # of a query and its number
_ARGUMENTS: Final = ("claim", "query", "no_claim")
_QUERY: Final = "When was the Alma Bridge opened?"
_CLAIM: Final = {"sentence": 1, "claim": "The Alma Bridge was opened in 1932.", "query": _QUERY}
_SHOWN: Final = 200  # characters of a rejected claim
# In scripts without spaces between words each character counts as a word.
_WORD: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]|[^\\W_]+"
)
_STEM: Final = 4  # initial letters by which forms of a word are compared


def system_of(name: str, settings: LlmSettings) -> str:
    """Return the name of the system prompt of an extraction, CLAIMS or SENTENCES.

    The published extraction of Facts&Evidence has examples.
    """
    published = settings.as_published and settings.formulation == RATIONALE and name == CLAIMS
    return f"{name}_published_system" if published else f"{name}_system"


def prompt_names(name: str, settings: LlmSettings) -> list[str]:
    """Return the names of the prompts that an extraction depends on."""
    arguments = [f"argument_{argument}" for argument in _ARGUMENTS]
    names = [system_of(name, settings), "extract_user", "function_extract", "repair"]
    return [*names, *arguments, *QUERY_PROMPTS]


@dataclass(frozen=True, slots=True)
class _ClaimForm(Form[int, list[Draft]]):
    """Asks for the claims of sentences, by the sentence's index; [] where it has none.

    `most` limits the claims of a sentence.
    """

    name: str
    system: str
    most: int | None
    record: InputRecord
    text: Text
    part: Part
    asker: Asker

    def question(self, items: Sequence[int], wrong: str) -> Question:
        """Return the question about these sentences."""
        prompts, told, whole = self.asker.prompts, self.part.sentences, self.part.context
        if wrong or len(items) < len(told):
            whole = self.text.around(items, self._size([*told]))
        breaks, lines = self.text.breaks(), list[str]()
        for at in items:
            lines += [""] if at in breaks and lines else []
            lines.append(element(f"s{at + 1}", told[at]))
        sentences = "\n" + "\n".join(lines) + "\n"
        asked = self.record.question
        user = prompts.render(
            "extract_user",
            question=element("question", asked) if asked else "",
            context=element("context", whole) if whole else "",
            text=wrapped("text", sentences, language=self.record.language),
        )
        descriptions = {argument: prompts[f"argument_{argument}"] for argument in _ARGUMENTS}
        schema = extraction_parameters(descriptions, [at + 1 for at in items], self.most)
        example = {"facts": [_CLAIM], "no_claim": [2]}
        function = Function(self.name, prompts["function_extract"], schema, example)
        return Question(prompts[self.system], user, function, _LONGER * self._size(items))

    def _size(self, items: Sequence[int]) -> int:
        return sum(tokens_of(self.part.sentences[at]) + TAGS for at in items)

    def parse(
        self, choice: Choice, items: Sequence[int], function: Function | None
    ) -> Parsed[int, list[Draft]]:
        """Return the claims in a reply.

        There is no value for a sentence with a malformed claim, for one whose claims are all
        rejected since they have no content word of it, and for the last sentence of a list that is
        cut off, since claims may be missing. A sentence that has claims and is listed under
        `no_claim` keeps its claims. A query without a word of its sentence or claim is dropped.
        """
        arguments = arguments_of(choice, ("facts", "no_claim"))
        claims: dict[int, list[Draft]] = {}
        rejected: dict[int, list[str]] = {}
        malformed: set[int] = set()
        last: int | None = None
        for fact in _objects(arguments.get("facts")):
            at = _index(fact.get("sentence"), items)
            if at is None:
                continue
            last, sentence = at, self.part.sentences[at]
            claim, query = _text(fact.get("claim")), _text(fact.get("query"))
            if not claim:
                malformed.add(at)
            elif not related(claim, sentence):
                shown = f"{claim[:_SHOWN]!r}, which has no word of it"
                lacks = f"a claim of sentence {at + 1} in place of {shown}"
                rejected.setdefault(at, []).append(lacks)
            else:
                query = query if related(query, sentence, claim) else ""
                claims.setdefault(at, []).append(Draft(at, claim, query))
        if last is not None and "no_claim" not in arguments and breaks_off(choice):
            malformed.add(last)
        for number in _list(arguments.get("no_claim")):
            empty = _index(number, items)
            if empty is not None and empty not in rejected:
                claims.setdefault(empty, [])
        claims = {at: claims[at] for at in claims if at not in malformed}
        wrong = "it had no JSON object with facts and no_claim"
        if rejected:
            wrong = "it had a claim that has no word of its sentence"
        elif claims:
            wrong = "it left out the sentences that are asked about here"
        return Parsed(claims, wrong, rejected=rejected)

    def lacks(self, lost: Sequence[int], items: Sequence[int]) -> str:
        """Return which sentences are missing."""
        return f"sentences {ranges([at + 1 for at in lost])}"


async def extract(
    name: str, record: InputRecord, spans: Sequence[Span], asker: Asker, settings: LlmSettings
) -> list[Draft]:
    """Return the claims of a response in the order of its sentences; `name` is CLAIMS or SENTENCES.

    A text longer than `settings.extract_tokens` is sent in parts, concurrently. A query that the
    reply lacks is left empty.
    """
    text, most = Text(record.text, spans), 1 if name == SENTENCES else None
    system = system_of(name, settings)

    def form(part: Part) -> _ClaimForm:
        return _ClaimForm(name, system, most, record, text, part, asker)

    tokens = settings.extract_tokens
    room = asker.room(form(Part({0: ""})).question([0], ""))
    if room is not None:  # for the sentences, their context, and the reply
        tokens = min(tokens, max(_LEAST, room // (2 + _LONGER)))
    merged: dict[int, dict[Draft, None]] = {}
    asked = (ask_for_items([*part.sentences], form(part), asker) for part in text.parts(tokens))
    for answers in await together(asked):
        for at, answer in answers.items():
            # The slices of one long sentence are in several parts.
            merged.setdefault(at, {}).update(dict.fromkeys(answer.value or ()))
    return [draft for at in sorted(merged) for draft in list(merged[at])[:most]]


@dataclass(frozen=True, slots=True)
class _QueryForm(Form[int, str]):
    """Asks for the queries of claims, by the claim's index; `tokens` of claims take a call."""

    claims: Sequence[str]
    tokens: int
    asker: Asker

    def pack(self, items: Sequence[int]) -> list[list[int]]:
        """Return the claims of each call."""
        calls: list[list[int]] = []
        left = 0
        for at in items:
            cost = tokens_of(self.claims[at])
            if not calls or cost > left:
                calls.append([])
                left = self.tokens
            calls[-1].append(at)
            left -= cost
        return calls

    def question(self, items: Sequence[int], wrong: str) -> Question:
        """Return the question about these claims."""
        prompts, count = self.asker.prompts, len(items)
        tagged = [element(f"c{number}", self.claims[at]) for number, at in enumerate(items, 1)]
        schema = query_parameters({"query": prompts["argument_query"]}, count)
        example = {"queries": [{"claim": 1, "query": _QUERY}]}
        function = Function(QUERIES, prompts["function_queries"], schema, example)
        user = prompts.render("write_queries_user", claims="\n".join(tagged))
        return Question(prompts["write_queries_system"], user, function, _QUERY_TOKENS * count)

    def parse(
        self, choice: Choice, items: Sequence[int], function: Function | None
    ) -> Parsed[int, str]:
        """Return the first query of each claim that shares a content word with it."""
        queries: dict[int, str] = {}
        for item in _objects(arguments_of(choice, ("queries",)).get("queries")):
            number = _index(item.get("claim"), range(len(items)))
            query = _text(item.get("query"))
            if number is not None and query and related(query, self.claims[items[number]]):
                queries.setdefault(items[number], query)
        about = "for the claims that are asked about here"
        return Parsed(queries, f"it lacked a query with a word of its claim {about}")

    def lacks(self, lost: Sequence[int], items: Sequence[int]) -> str:
        """Return how many queries are missing."""
        return f"{len(lost)} of {len(items)} queries"


async def write_queries(claims: Sequence[str], asker: Asker, settings: LlmSettings) -> list[str]:
    """Return a query for each claim, in order."""
    form = _QueryForm(claims, settings.extract_tokens, asker)
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


def _index(number: object, known: Sequence[int]) -> int | None:
    """Return the index of a number from 1, None for one that is not known."""
    return number - 1 if is_number(number) and number - 1 in known else None


def _text(value: object) -> str:
    return read(value).strip() if isinstance(value, str) else ""


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
