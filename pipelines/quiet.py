"""Beam's remarks, kept out of the user's terminal."""

import logging

from schemas.errors import ends_run


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
