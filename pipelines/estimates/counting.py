"""Count the requests that the run's own code makes, instead of sending them.

What cannot be known without asking is counted twice, for the least and for the most (METHOD).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum
from pathlib import Path
from typing import Any, Final

from ufo.pipelines.options.settings import Settings
from ufo.schemas.records import NOANS, SUPPORTED
from ufo.transforms.llm import wire
from ufo.transforms.llm.base import KNOWLEDGE, Choice, Completion, Request
from ufo.transforms.llm.cache import CachingClient
from ufo.transforms.llm.capabilities import Capabilities
from ufo.transforms.llm.memory import Memory, open_store
from ufo.transforms.llm.store import OFF, StoreError
from ufo.transforms.llm.window import Window, prompt_tokens

PASSAGE: Final = 100  # tokens of a passage that is not fetched, and of what a model knows
_LEAST_REPLY: Final = 0.04  # of what is expected; "NOANS" where 40 tokens are
_MOST_REPLY: Final = 1.5  # where few facts share what stands around them
_VOCABULARY: Final = 0.2  # how much more or less a model's vocabulary may make of a prompt
METHOD: Final = (
    "Claims and facts are those given, else those that the rules of the offline judge find: a "
    "model may find more or fewer. Answers in the cache are left out.",
    "At least: the first source that has passages on a claim settles it, equal questions are asked "
    f"once, replies are {_LEAST_REPLY:.0%} as long as expected, prompts {_VOCABULARY:.0%} shorter "
    "than counted.",
    "At most: every claim goes to every source, responses share nothing, each sample of what a "
    f"model knows is a request, replies are {_MOST_REPLY:.0%} as long as expected, prompts "
    f"{_VOCABULARY:.0%} longer than counted.",
    "A source that is not asked is taken to have one passage that says the claim (at least), or as "
    f"many as it may give, of {PASSAGE} tokens each (at most).",
    "Not counted: second requests for what a reply lacks, retries, and the few short requests that "
    "find out what an endpoint can do.",
)

Key = tuple[str, str | None, str]
"""Step, source, model."""


class Counter:
    """A `Client` that counts requests, and sends none: for the least that a run may ask, or for the
    most. Then it replies with words that say nothing, to count what follows a reply too.

    `client` is this one behind the run's cache.
    """

    def __init__(self, settings: Settings, least: bool) -> None:
        self.least = least
        self.outcome = SUPPORTED if least else NOANS
        """What a passage says that is not judged here."""
        self._longer = 1 - _VOCABULARY if least else 1 + _VOCABULARY
        self.counts: dict[Key, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        self.tokens: list[float] = []
        """Of each record gone through."""
        self.how = settings.client()
        self.memory = _Kept(self.how.cache or OFF, least)
        self.client = CachingClient(self, self.how, self.memory)
        self._context = settings.context
        self._seen: set[str] = set()

    def add(self, key: Key, calls: float, prompt: float = 0.0, completion: float = 0.0) -> None:
        """Count requests of one kind, and their tokens."""
        for place, value in enumerate((calls, prompt, completion)):
            self.counts[key][place] += value

    def end_record(self) -> None:
        """Record the tokens of the record that was counted."""
        so_far = fsum(prompt + completion for _, prompt, completion in self.counts.values())
        self.tokens.append(so_far - fsum(self.tokens))

    async def complete(self, request: Request) -> Completion:
        """Count the request; the reply has no usable content."""
        knowledge = request.role == KNOWLEDGE
        words = PASSAGE if knowledge else request.expects
        if knowledge and request.function is not None:
            words *= len(request.function.parameters["properties"])
        key, tokens = (request.step, request.source, request.model), self._prompt(request)
        if not self.least:
            calls = request.n  # since not every endpoint gives several choices a request
            reply = words if knowledge else words * _MOST_REPLY
            self.add(key, calls, calls * tokens, calls * reply)
        elif (text := json.dumps(_body(request))) not in self._seen:
            self._seen.add(text)
            self.add(key, 1, tokens, request.n * words * _LEAST_REPLY)
        said = "" if self.least or knowledge else "word " * words
        return Completion([Choice(said)] * request.n, "", [])

    def room(self, request: Request) -> int | None:
        """Return the tokens left beside a request in the context of `--context`."""
        room = Window(self._context).room(int(self._prompt(request)))
        return None if room is None else int(room / self._longer)

    def cap(self, request: Request) -> int | None:
        """Return None: an estimate asks no endpoint."""
        return None

    def _prompt(self, request: Request) -> float:
        return self._longer * prompt_tokens(_body(request))


def _body(request: Request) -> dict[str, Any]:
    return wire.body(request, request.model, Capabilities(), request.n)


class _Kept(Memory):
    """What a run finds in its cache; what it would add is forgotten in the end, and found before
    only where that `shares`."""

    def __init__(self, uri: str, shares: bool) -> None:
        try:
            # A cache that is not there yet is not made for an estimate.
            there = uri != OFF and ("://" in uri or Path(uri).exists())
            store = open_store(uri) if there else None
        except StoreError:
            store = None
        super().__init__(store, writes=False)
        self._shares = shares
        self._added: dict[str, Any] = {}

    async def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values in the cache, or put here."""
        keys = list(keys)
        added = {key: self._added[key] for key in keys if key in self._added}
        return await super().get_many(keys) | added

    async def put_many(self, values: Mapping[str, Any]) -> None:
        """Keep the values."""
        if self._shares:
            self._added.update(values)
