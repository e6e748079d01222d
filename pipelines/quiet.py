"""Beam's remarks, kept out of the user's terminal."""

import logging


class _FromBeam(logging.Filter):
    """Drops what Beam logs through the root logger below an error, and nothing else."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR or "apache_beam" not in record.pathname


class _NoInterrupts(logging.Filter):
    """Drops the traceback of a step in which Ctrl-C was pressed."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and record.exc_info[0] is KeyboardInterrupt)


_filter = _FromBeam()
_no_interrupts = _NoInterrupts()


def quiet_beam() -> None:
    """Keep remarks such as which cloud library Beam misses from the terminal; called before Beam
    is imported, as the import itself makes the first."""
    logging.getLogger("apache_beam").setLevel(logging.ERROR)
    logging.getLogger().addFilter(_filter)
    logging.getLogger("apache_beam.runners.common").addFilter(_no_interrupts)
