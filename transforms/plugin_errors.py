"""Record the exceptions of plug-ins in the tables.

A failed request of ufo has its own message and reason. Any other exception is an error in the
plug-in's code, and its row names the plug-in.
"""

import os
import re
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ufo.schemas.errors import NotYetAnswered, PluginError, ends_run
from ufo.schemas.records import EXCEPTION, TRANSPORT, Failure
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.request import LlmError

ERROR_IN: Final = "error in "
"""The beginning of the message of an error in a plug-in's code."""

_MAX_MESSAGE = 4096
_OF_REQUESTS = (SendError, LlmError)
_NOT_ITS_OWN = (NotYetAnswered, KeyboardInterrupt, GeneratorExit, CancelledError)
_NAMES_A_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW", re.IGNORECASE)
_SHORTEST_SECRET = 6
_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def passes(error: BaseException) -> bool:
    """Return whether an exception of a plug-in ends or interrupts the run, so that it is raised."""
    return isinstance(error, _NOT_ITS_OWN) or ends_run(error)


def reason_of(error: BaseException) -> str:
    """Return the reason (records.REASONS) of a result that an exception prevented."""
    if isinstance(error, _OF_REQUESTS):
        return error.reason
    return TRANSPORT if isinstance(error, ConnectionError | TimeoutError) else EXCEPTION


@contextmanager
def named_errors(plugin: str) -> Iterator[None]:
    """Raise an exception of a plug-in's code as a PluginError that names the plug-in.

    An example of `plugin` is `source web, open()`.
    """
    try:
        yield
    except Exception as error:
        if passes(error) or isinstance(error, _OF_REQUESTS):
            raise
        raise PluginError(message_of(error, plugin)) from error


def failure_of(step: str, key: str, plugin: str, error: BaseException) -> Failure:
    """Return the row for an exception of a plug-in, for example of `source web`."""
    return Failure(step, key, type(error).__name__, message_of(error, plugin))


def message_of(error: BaseException, plugin: str = "") -> str:
    """Return the message of an exception for a table: without secrets, cut and escaped."""
    text = _said_by(error)
    if plugin and not isinstance(error, _OF_REQUESTS):
        text = f"{ERROR_IN}{plugin}: {type(error).__name__}" + (f": {text}" if text else "")
    return text[:_MAX_MESSAGE].encode("utf-8", "backslashreplace").decode()


def _said_by(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception as broken:  # of the plug-in's own exception
        return f"its message cannot be read ({type(broken).__name__})"
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _NAMES_A_SECRET.search(name):
            text = text.replace(value, "***")
    return _IN_URL.sub("***@", text)
