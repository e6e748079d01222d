"""Write queries for claims without one, in one call for a response."""

from collections.abc import Sequence
from itertools import chain

from ufo.schemas.functions import is_number
from ufo.schemas.parameters import query_parameters
from ufo.transforms.judges.llm.asking import Asker, Reply, together
from ufo.transforms.judges.llm.formulation import trouble, worth_keeping, worth_repairing
from ufo.transforms.judges.llm.packing import tokens_of
from ufo.transforms.judges.llm.parsing import arguments_of
from ufo.transforms.judges.llm.related import related
from ufo.transforms.llm.base import Choice, Function
from ufo.transforms.prompts.data import element, read

NAME = "write_queries"
_QUERY_TOKENS = 30  # of a query and its number
_EXAMPLE = {"queries": [{"claim": 1, "query": "When was the Alma Bridge opened?"}]}
_WRONG = "it lacked a query with a word of its claim for the claims that are asked about here"
PROMPTS = (
    "write_queries_system",
    "write_queries_user",
    "function_queries",
    "argument_query",
    "repair",
)


Queries = dict[int, str]
"""Queries by the number of their claim."""


async def write_queries(
    claims: Sequence[str], asker: Asker, tokens: int, repairs: int
) -> list[str]:
    """Return a query for each claim, in order.

    Claims of more than `tokens` tokens together take several calls. A claim for which the model
    writes no query is its own query.
    """
    written: dict[int, str] = {}
    wrong = ""
    batches = _batches(claims, range(len(claims)), tokens)

    async def answers(batch: list[int], wrong: str) -> list[tuple[list[int], Reply, Queries]]:
        """Ask about a batch, or about its halves where it is too long for the model's context."""
        reply, queries = await _ask(claims, batch, asker, repairs, wrong)
        if not reply.too_long or queries or len(batch) == 1:
            return [(batch, reply, queries)]
        half = len(batch) // 2
        return [*await answers(batch[:half], wrong), *await answers(batch[half:], wrong)]

    for attempt in range(repairs + 1):
        replies = await together(answers(batch, wrong) for batch in batches)
        wrongs: dict[str, None] = {}
        missing: list[int] = []
        for batch, reply, queries in chain.from_iterable(replies):
            written |= queries
            lacking = [number for number in batch if number not in written]
            if lacking and (attempt == repairs or not worth_repairing(reply)):
                asker.failed(reply, f"{len(lacking)} of {len(batch)} queries")
            elif lacking:
                wrongs[trouble(reply, _WRONG)] = None
                missing += lacking
        wrong = "; ".join(wrongs)
        batches = _batches(claims, missing, tokens)
    return [written.get(number, claim) for number, claim in enumerate(claims)]


async def _ask(
    claims: Sequence[str], batch: Sequence[int], asker: Asker, repairs: int, wrong: str
) -> tuple[Reply, Queries]:
    prompts = asker.prompts

    asked = [claims[number] for number in batch]

    def keep(choice: Choice) -> bool:
        settled = len(read_queries(choice, asked))
        return worth_keeping(settled, len(batch), bool(wrong), repairs)

    tagged = [element(f"c{number}", claim) for number, claim in enumerate(asked, 1)]
    parameters = query_parameters({"query": prompts["argument_query"]}, len(batch))
    function = Function(NAME, prompts["function_queries"], parameters, _EXAMPLE)
    user = prompts.render("write_queries_user", claims="\n".join(tagged))
    system, expects = prompts["write_queries_system"], _QUERY_TOKENS * len(batch)
    reply = await asker.ask(system, user, function, wrong, keep, expects)
    queries = read_queries(reply.choice, asked)
    return reply, {batch[place]: query for place, query in queries.items()}


def read_queries(choice: Choice, claims: Sequence[str]) -> dict[int, str]:
    """Parse the queries in a reply, by the index of their claim; never raises.

    Each claim gets its first query that shares a content word with it.
    """
    queries: dict[int, str] = {}
    listed = arguments_of(choice, ("queries",)).get("queries")
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        number, query = item.get("claim"), item.get("query")
        if not is_number(number) or not 1 <= number <= len(claims) or not isinstance(query, str):
            continue
        text = read(query).strip()
        if text and related(text, claims[number - 1]):
            queries.setdefault(number - 1, text)
    return queries


def _batches(claims: Sequence[str], numbers: Sequence[int], tokens: int) -> list[list[int]]:
    batches: list[list[int]] = []
    size = 0
    for number in numbers:
        cost = tokens_of(claims[number])
        if not batches or size + cost > tokens:
            batches.append([])
            size = 0
        batches[-1].append(number)
        size += cost
    return batches
