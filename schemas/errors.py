"""Define the errors of ufo with their exit codes.

UfoError                     anything that ends a command with a message.
├── UsageError               exit 2: a flag, a value, a file or a folder the user can correct.
│   ├── SourceUnavailable    a fact source named explicitly that is not configured.
│   ├── DoesNotFit           an option that the judge, or another option, excludes.
│   ├── PluginError          a plug-in that does not load; names its package or file.
│   ├── IndexUnusable        a folder that is not an index, or an unfinished, damaged or newer one.
│   └── InputChanged         the input is not what an unfinished attempt at the run has read.
└── RunError                 exit 1: the run could not start or finish.
    ├── NothingUsable        no record of the input can be used.
    │   └── NothingToEvaluate    the input has no record.
    ├── Interrupted          stopped by a signal; the same command completes the run.
    ├── CostCapped           exit 4: stopped at --max_cost; a higher one resumes the run.
    └── BatchesUnderWay      exit 5: waits for a provider's batches; the same command goes on.

A message gives the value, the allowed values and the remedy. Errors are sent between processes, so
each can be rebuilt from its message alone.
"""

import difflib
import re
from collections.abc import Callable, Iterable

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_BELOW = 3
EXIT_CAPPED = 4
EXIT_WAITING = 5

REMEDY = "evaluate its run again, or remove the run's folder"
"""What to do about a damaged part file of a run."""


_NO_MEMORY = re.compile(
    r"realloc failed|failed to map segment|cannot allocate|bad.?alloc|(?:out of|not enough) memory"
    r"|(?:failed|unable) to allocate|can't start new thread",
    re.IGNORECASE,
)


class UfoError(Exception):
    """Ends the command with a message and `exit_code`."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def reword(self, message: str) -> None:
        """Replace the message, for another reader."""
        self.message = message
        self.args = (message,)


class UsageError(UfoError):
    """The command, its configuration or its files are wrong; nothing was started."""

    exit_code = EXIT_USAGE


class SourceUnavailable(UsageError):
    """A fact source that was named explicitly is not configured (no index, key or endpoint)."""


class DoesNotFit(UsageError):
    """An option, right by itself, that the judge in use or another option excludes."""


class PluginError(UsageError):
    """A plug-in does not load; the message names its package or file."""


class IndexUnusable(UsageError):
    """An index folder that cannot be used as it is; the message names it and the remedy."""


class InputChanged(UsageError):
    """The input is not what an unfinished attempt at the run has read; all options are the same."""


class RunError(UfoError):
    """The run could not start or finish."""


class NothingUsable(RunError):
    """No record of the input can be used; the message shows the first."""


class NothingToEvaluate(NothingUsable):
    """The input has no record."""


class Interrupted(RunError):
    """A signal stopped the run; what was finished is kept and the same command completes it."""


class CostCapped(RunError):
    """The next request could pass --max_cost; what was paid for is kept."""

    exit_code = EXIT_CAPPED


class BatchesUnderWay(RunError):
    """Batches of requests have not ended yet; the same command collects them and goes on."""

    exit_code = EXIT_WAITING


class NotYetAnswered(BaseException):
    """A request of a response is in a batch: the response is evaluated once the batch has ended.

    It is not an Exception, so that a source or judge that catches every Exception lets it pass.
    """


def damaged_part(path: str, why: object, remedy: str = REMEDY) -> RunError:
    """Return the error for a damaged part file of a run."""
    return RunError(f"{path!r} is damaged: {why}; {remedy}.")


def reason_of(error: Exception) -> str:
    """Return the system's reason why a file cannot be used, without the file's name."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def ends_run(error: BaseException) -> bool:
    """Return whether every further response would meet the same error.

    It is a UfoError, an error with `final` set, or a lack of memory."""
    is_final = isinstance(error, UfoError) or bool(getattr(error, "final", False))
    return is_final or lacks_memory(error)


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error means that an allocation failed.

    It is not always a MemoryError: Beam's coders raise an AssertionError, loading a library an
    ImportError, starting a thread a RuntimeError."""
    kinds = (AssertionError, ImportError, OSError, RuntimeError, SystemError)
    match = isinstance(error, kinds) and _NO_MEMORY.search(str(error))
    return isinstance(error, MemoryError) or bool(match)


def has_cause(error: BaseException | None, test: Callable[[BaseException], bool]) -> bool:
    """Return whether an error, or an error in its chain of causes, passes a test."""
    while error is not None and not test(error):
        error = error.__cause__ or error.__context__
    return error is not None


def unknown_value(what: str, value: str, allowed: Iterable[str]) -> str:
    """Return the message for a value that is not allowed, with the nearest allowed value."""
    known = list(allowed)
    near = difflib.get_close_matches(value, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {value!r}; allowed: {', '.join(known)}.{hint}"
