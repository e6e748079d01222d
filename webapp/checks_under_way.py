"""Know the checks whose results are not kept yet."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ufo.webapp.problems import Conflict

_WAIT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class ChecksUnderWay:
    """The checks whose results are not kept yet, by the names that they will have."""

    _ends: dict[str, asyncio.Event] = field(default_factory=dict)

    @contextmanager
    def begun(self) -> Iterator[str]:
        """Return the name of a new result; at the end of the block the check is over."""
        name = secrets.token_hex(16)
        self._ends[name] = asyncio.Event()
        try:
            yield name
        finally:
            self._ends.pop(name).set()

    async def ended(self, name: str) -> None:
        """Wait a little for the end of a check: a reload of the page asks for its result while the
        check is being cancelled.

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
