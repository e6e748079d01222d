"""Log on stderr: plain lines for people, or one JSON object a line for machines.

With `--log_format json` each line is an object with `time` (UTC), `level`, `logger`, `run`, `step`,
`worker` (host:pid) and `message`, and further fields of the event. Lines of worker processes and
warnings of libraries have the same form.
"""

import json
import logging
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ufo.schemas.errors import ends_run
from ufo.schemas.text import escaped, hide_secrets, visible
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


_replaced: list[logging.Handler] = []


class _Json(logging.Formatter):
    """A formatter that makes one line of JSON of each record."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "run": _settings.run,
            "step": STEP.get(),
            "worker": worker_id(),
            "message": escaped(record.getMessage()),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def start(settings: LogSettings) -> None:
    """Configure the logging of this process."""
    global _settings
    stop()
    _settings = settings
    if as_json():
        handler = logging.StreamHandler()
        handler.setFormatter(_Json())
        root = logging.getLogger()
        # A library may have added a handler to the root logger, which writes plain lines.
        _replaced[:] = root.handlers
        root.handlers = [handler]
        logging.getLogger(LOGGER).setLevel(logging.INFO)
        logging.captureWarnings(True)


def name_run(run: str) -> None:
    """Add the run's name to all log lines from now on."""
    global _settings
    _settings = replace(_settings, run=run)


def stop() -> None:
    """Reset logging at the end of a command, since the process may live on."""
    global _settings
    if as_json():
        logging.captureWarnings(False)
        logging.getLogger().handlers = list(_replaced)
        logging.getLogger(LOGGER).setLevel(logging.NOTSET)
    _settings = LogSettings()


def settings_for_worker() -> LogSettings:
    """Return the log settings for a worker of this process."""
    return _settings


def as_json() -> bool:
    """Return whether log lines are JSON."""
    return _settings.format == "json"


def event(message: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event with fields; in plain text only warnings and errors are shown."""
    logging.getLogger(LOGGER).log(level, message, extra={_FIELDS: fields})


def tell(message: str, level: int = logging.INFO, prefix: str = "", **fields: Any) -> None:
    """Print a message on stderr with the prefix, or log it as an event with fields in JSON."""
    if as_json():
        event(message, level, **fields)
    else:
        print(f"{prefix}{message}", file=sys.stderr)


def fail(message: str, kind: str = "") -> None:
    """Print or log the error that ends the command; a log has its kind, if one is given."""
    tell(
        visible(hide_secrets(message)),
        logging.ERROR,
        "ufo: ",
        **({"kind": kind} if kind else {}),
    )


def _not_of_beam(record: logging.LogRecord) -> bool:
    """Return whether to keep a record of the root logger: of Beam's, which uses it, only errors."""
    return record.levelno >= logging.ERROR or "apache_beam" not in record.pathname


def _unexpected(record: logging.LogRecord) -> bool:
    """Return whether to keep a record: no traceback of Ctrl-C or an error with its own message."""
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not (isinstance(error, KeyboardInterrupt) or ends_run(error))


def quiet_pool() -> None:
    """Hide the tracebacks of the pool of processes, whose errors are raised as well."""
    logging.getLogger("concurrent.futures").setLevel(logging.CRITICAL + 1)


def quiet_beam() -> None:
    """Hide Beam's remarks, for example on a missing cloud library.

    Call it before Beam is imported: the import logs the first one.
    """
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    # Google's clients retry, and some of their requests are optional.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_not_of_beam)
    logging.getLogger("apache_beam.runners.common").addFilter(_unexpected)
