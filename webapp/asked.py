"""Convert a request to a job and a record."""

import json
from collections.abc import Sequence
from typing import Any

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.job import Job
from ufo.transforms.judges import JUDGES
from ufo.transforms.read import parse
from ufo.transforms.sources.fact_source import SOURCES
from ufo.webapp import models
from ufo.webapp.desk import Desk

_FLAGS = set(models.Asking.model_fields) - {"sources"}


def job_of(desk: Desk, asked: models.Judging, sources: Sequence[str] | None, **more: object) -> Job:
    """Return the job that a request describes; `more` are flags beside its fields.

    Raises:
        UsageError: a source or an option is wrong, or cannot serve here.
    """
    checked_sources(sources)
    if asked.judge is not None and asked.judge not in JUDGES.types():
        raise UsageError(unknown_value("judge", asked.judge, JUDGES.types()))
    return desk.setup.job_of({**flags_of(desk, asked, sources), **more}, sources)


def checked_sources(names: Sequence[str] | None) -> None:
    """Raise UsageError for a source that is not installed under a name.

    A source may also be a file with code in it: on a command line, never from outside.
    """
    for name in names or ():
        if name not in SOURCES.types():
            raise UsageError(unknown_value("fact source", name, SOURCES.types()))


def flags_of(desk: Desk, asked: models.Judging, sources: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields of a request that are flags of `ufo evaluate`, and those of the service."""
    values = asked.model_dump(include=_FLAGS, exclude_none=True)
    if isinstance(asked, models.VerifyRequest):
        del values["passages"]  # they are given there, and not how many
    listed = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in values.items()
    }
    return dict(desk.setup.flags_of(listed, sources))


def record_of(
    text: str,
    question: str | None = None,
    references: Sequence[str] = (),
    language: str | None = None,
    claims: Sequence[models.Claim | models.PassedUnit] | None = None,
) -> InputRecord:
    """Return the input record of a text; `claims` are used in place of extraction.

    Raises:
        UsageError: the text is blank.
    """
    given: dict[str, Any] = {
        "response": text,
        "question": question,
        "reference_answers": list(references),
        "language": language,
    }
    if claims is not None:
        given["claims"] = [
            one.model_dump(include={"claim", "query", "sentence_index"}) for one in claims
        ]
    record = parse("text", json.dumps(given).encode(), max_line_bytes=1 << 30)
    if isinstance(record, Failure):
        raise UsageError(record.message.replace("`response`", "`text`"))
    return record
