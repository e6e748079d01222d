"""Track the checks whose results are not stored yet."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ufo.webapp.problems import Conflict

_WAIT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class ChecksUnderWay:
    """The checks whose results are not stored yet, by the names of these results."""

    _ends: dict[str, asyncio.Event] = field(default_factory=dict)

    @contextmanager
    def begin(self) -> Iterator[str]:
        """Yield the name of a new check's result; the check ends with the block."""
        name = secrets.token_hex(16)
        self._ends[name] = asyncio.Event()
        try:
            yield name
        finally:
            self._ends.pop(name).set()

    async def wait_for_end(self, name: str) -> None:
        """Wait a few seconds for a check to end; a reloaded page asks while its check is cancelled.

        Raises:
            Conflict: it goes on.
        """
        end = self._ends.get(name)
        if end is None:
            return
        try:
            await asyncio.wait_for(end.wait(), _WAIT_SECONDS)
        except TimeoutError:
            raise Conflict("the check is still under way; open the link when it is done") from None
