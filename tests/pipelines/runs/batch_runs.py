"""A run of one chunk by batches, whose requests are given."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.llm_server import LlmServer
from ufo.pipelines.runs.attempt import Attempt, Written
from ufo.pipelines.runs.batches import Rounds
from ufo.pipelines.runs.chunks import Chunk
from ufo.pipelines.runs.progress import Progress
from ufo.transforms.job import WAITING
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.client_settings import BatchSettings, ClientSettings
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.request import VERIFIER
from ufo.transforms.llm.usage import OK, usage_row
from ufo.transforms.llm.usage_log import UsageReader

ROW = usage_row("verify", None, "offline-judge", "r1")
Replies = list[Reply | None]


def body(number: int) -> dict[str, object]:
    message = {"role": "user", "content": f"Who? {number}"}
    return {"model": "offline-judge", "messages": [message]}


def key(number: int) -> str:
    return f"r-{number}-a-0"


class RecordedProgress(Progress):
    """Keeps what the run tells."""

    def __init__(self) -> None:
        super().__init__(1, quiet=True)
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


class Running:
    """Runs the rounds of a run of one chunk."""

    def __init__(self, folder: Path, server: LlmServer) -> None:
        self.endpoint = Endpoint("offline-judge", server.base_url)
        self.attempt = Attempt.open(str(folder / "run=r"), {})
        self.path = str(folder / "cache.batches")
        self.store = BatchStore(self.path, "r")
        self.told = RecordedProgress()
        self.server = server

    def __call__(
        self,
        requests: int = 1,
        most: int = 9,
        most_rounds: int = 2,
        new: bool = False,
        damaged: bool = False,
        **more: Any,
    ) -> list[Replies]:
        """Return what the requests had for replies in each pass.

        A batch has up to `most` requests. With `new` each pass asks other requests; with `damaged`
        what is written of the chunk cannot be read. `more` are settings of batches or of clients.
        """
        client = {name: more.pop(name) for name in ("prices", "max_cost") if name in more}
        batch = BatchSettings(self.path, "r", requests=most, **more)
        settings = ClientSettings(endpoints={VERIFIER: self.endpoint}, batch=batch, **client)
        passes: list[Replies] = []

        def evaluate(chunks: Sequence[Chunk]) -> Written:
            first = len(passes) * requests if new else 0
            asked = range(first, first + requests)
            replies = [self.store.ask(key(n), self.endpoint, body(n), ROW)[0] for n in asked]
            passes.append(replies)
            if None in replies:
                return Written([], {"verify": {WAITING: 1}})
            written = Written([], {})
            if not damaged:
                self.attempt.mark_done(0, written)
            return written

        log = self.attempt.usage_log()
        with closing(Rounds(settings, batch, most_rounds, self.told, log)) as rounds:
            rounds.evaluate([Chunk(0, (), 1)], self.attempt, evaluate)
        return passes

    def paid(self) -> list[str]:
        """The ids of the requests that were answered, by the run's log of usage."""
        rows = UsageReader(self.attempt.usage_log()).rows()
        return [row.request_id for row in rows if row.status == OK]

    @property
    def sizes(self) -> list[int]:
        """How many requests each batch had that was submitted, also those that were refused."""
        return [len(batch.lines) for batch in self.server.batches.batches.values()]
