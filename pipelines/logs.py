"""Log on stderr: plain lines for people, or one JSON object a line for machines.

`--log_format json` makes each line an object with `time` (UTC), `level`, `logger`, `run`, `step`,
`worker` (host:pid) and `message`, and what else the event has; those of worker processes too. What
libraries log is among them from warnings on.
"""

import json
import logging
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ufo.schemas.errors import ends_run
from ufo.schemas.text import visible
from ufo.transforms.llm.usage import worker_id
from ufo.transforms.loop import STEP

LOGGER = "ufo"
_FIELDS = "ufo_fields"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The log settings of a run's processes; plain values, sent to workers."""

    format: str = "text"
    run: str | None = None


_settings = LogSettings()


class _Lines(logging.Handler):
    """Writes each record as one line of JSON to whatever stderr is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        # In one piece: other processes write to the same place.
        sys.stderr.write(f"{_line(record)}\n")
        sys.stderr.flush()


def _line(record: logging.LogRecord) -> str:
    found = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "run": _settings.run,
        "step": STEP.get(),
        "worker": worker_id(),
        "message": record.getMessage(),
        **getattr(record, _FIELDS, {}),
    }
    if record.exc_info:
        found["error"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(found, ensure_ascii=False, default=str)


_lines = _Lines()
_replaced: list[logging.Handler] = []


def start(settings: LogSettings) -> None:
    """Configure the logging of this process."""
    global _settings
    _settings = settings
    ours, root = logging.getLogger(LOGGER), logging.getLogger()
    if _lines in root.handlers:
        root.handlers = list(_replaced)
    ours.setLevel(logging.NOTSET)
    if settings.format == "json":
        # A library may have given the root a handler of its own, which writes plain lines.
        _replaced[:] = root.handlers
        root.handlers = [_lines]
        ours.setLevel(logging.INFO)
        logging.captureWarnings(True)


def name_run(run: str) -> None:
    """Add the run's name to all log lines from now on."""
    global _settings
    _settings = replace(_settings, run=run)


def stop() -> None:
    """Reset logging at the end of a command, since the process may live on."""
    if _settings.format == "json":
        logging.captureWarnings(False)
    start(LogSettings())


def settings_for_worker() -> LogSettings:
    """Return the log settings for a worker of this process."""
    return _settings


def as_json() -> bool:
    """Return whether log lines are JSON."""
    return _settings.format == "json"


def event(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with fields; in plain text only warnings and errors are shown."""
    logging.getLogger(LOGGER).log(level, message, extra={_FIELDS: fields})


def tell(message: str, level: int = logging.INFO, prefix: str = "") -> None:
    """Print a message on stderr with the prefix, or log it as an event in JSON."""
    if as_json():
        event(message, level)
    else:
        print(f"{prefix}{message}", file=sys.stderr)


def fail(message: str) -> None:
    """Print or log the error that ends the command."""
    tell(visible(message), logging.ERROR, "ufo: ")


class _FromBeam(logging.Filter):
    """Drops what Beam logs through the root logger below an error, and nothing else."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR or "apache_beam" not in record.pathname


class _Expected(logging.Filter):
    """Drops the traceback of a step that Ctrl-C or an error with its own message ended."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return error is None or not (isinstance(error, KeyboardInterrupt) or ends_run(error))


_filter = _FromBeam()
_expected = _Expected()


def quiet_beam() -> None:
    """Keep remarks such as which cloud library Beam misses from the terminal; called before Beam
    is imported, as the import itself makes the first."""
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    # Google's clients try again, and do without some of what they ask for.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_filter)
    logging.getLogger("apache_beam.runners.common").addFilter(_expected)
