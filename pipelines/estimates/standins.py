"""What stands in for the models and the far sources of a run that is only estimated."""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.records import FactUnit, OpenUnits, Passage
from transforms.judges.base import Judged
from transforms.judges.offline.judge import OfflineJudge
from transforms.llm import wire
from transforms.llm.base import KNOWLEDGE, Choice, Completion, Request
from transforms.llm.capabilities import Capabilities
from transforms.llm.store import Entry, Store
from transforms.llm.tokens import count, prompt_tokens
from transforms.llm.window import Window
from transforms.sources.base import FactSource, Found

Key = tuple[str, str | None, str]
"""Step, source, model."""

_SAMPLE = "As far as I know, it was in the year {number}."
_WORDS = 80  # of a passage that is not fetched, which come to about 100 tokens
_CONSISTENCY = "Task: stepwise_consistency"


@dataclass(slots=True)
class Tally:
    """Requests and tokens by step, source and model."""

    calls: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    prompt: dict[Key, float] = field(default_factory=lambda: defaultdict(float))
    completion: dict[Key, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def total(self) -> float:
        """All requests so far."""
        return sum(self.calls.values())

    @property
    def tokens(self) -> float:
        """All tokens so far."""
        return sum(self.prompt.values()) + sum(self.completion.values())


class CountingClient:
    """A `Client` that counts what it is asked and sends nothing.

    `answered` is the share of passages with an answer, which stepwise verification asks about a
    second time.
    """

    def __init__(self, tally: Tally, context: int | None = None) -> None:
        self._tally = tally
        self._context = context
        self.answered = 1.0

    async def complete(self, request: Request) -> Completion:
        """Count the request; the reply has the form of an answer, and nothing in it."""
        key = request.step, request.source, request.model
        again = request.messages[0].content.startswith(_CONSISTENCY)
        share = self.answered if again else 1.0
        self._tally.calls[key] += share
        self._tally.prompt[key] += share * _prompt_tokens(request)
        choices = [_choice(request, number) for number in range(request.n)]
        if request.role == KNOWLEDGE:
            said = (choice.arguments or choice.text for choice in choices)
            self._tally.completion[key] += sum(map(count, said))
        return Completion(choices, "", [])

    def room(self, request: Request) -> int | None:
        """Return what the user says that the context holds beside a request."""
        if self._context is None:
            return None
        return Window(self._context).room(_prompt_tokens(request))

    async def aclose(self) -> None:
        """Do nothing."""


def _prompt_tokens(request: Request) -> int:
    return prompt_tokens(wire.body(request, request.model, Capabilities(), request.n))


def _choice(request: Request, number: int) -> Choice:
    text = _SAMPLE.format(number=1900 + number)
    if request.function is None:
        return Choice(text)
    names = request.function.parameters["properties"] if request.role == KNOWLEDGE else ()
    return Choice(arguments=json.dumps(dict.fromkeys(names, text)))


class FarSource(FactSource):
    """Passages of the usual length in place of a source that is not asked.

    Searches, and the pages that would be fetched, are counted where the source is a web search's.
    """

    def __init__(self, source: FactSource, tally: Tally) -> None:
        pages = getattr(source, "pages", None) or getattr(source, "passages", None) or 5
        per_page = int(getattr(source, "passages_per_page", 1))
        self._passages = int(pages) * max(per_page, 1)
        self._pages = int(pages) if per_page else 0
        self._batch = int(getattr(source, "queries_a_request", 0))
        self._searched: set[str] = set()
        self._tally = tally
        self.name = source.name

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return passages for each unit; what is searched is counted, equal queries once."""
        if self._batch:
            new = {unit.query for unit in open_units.units} - self._searched
            self._searched |= new
            self._tally.calls["search", self.name, ""] += math.ceil(len(new) / self._batch)
            self._tally.calls["page", self.name, ""] += len(new) * self._pages
        return await super().look_up(open_units)

    def find(self, unit: FactUnit) -> list[Passage]:
        """Return passages that no two units share."""
        filler = " ".join(["word"] * _WORDS)
        return [Passage(f"{unit.unit_id} {n} {filler}") for n in range(self._passages)]


class FarJudge(OfflineJudge):
    """The offline judge in place of a judge that waits for something, which is not asked: each
    passage that it would judge is a call."""

    def __init__(self, tally: Tally, model: str) -> None:
        super().__init__()
        self._tally = tally
        self._asked = model

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the offline judge's verdicts; what would be asked is counted."""
        calls = sum(len(answer.passages) for answer in found)
        self._tally.calls["verify", source, self._asked] += calls
        return await super().verify(open_units, source, found)


class Overlay:
    """A `Store` over another one: what is put is kept here, and forgotten in the end."""

    def __init__(self, below: Store | None) -> None:
        self._below = below
        self._entries: dict[str, bytes] = {}

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what there is, here or below."""
        kept = self._below.get_many(keys) if self._below is not None else {}
        return kept | {key: self._entries[key] for key in keys if key in self._entries}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep the entries here."""
        self._entries.update(entries)

    def entries(self) -> Iterator[Entry]:
        """Yield nothing; nobody asks."""
        yield from ()

    def remove(self, keys: Sequence[str]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close what is below."""
        if self._below is not None:
            self._below.close()
