"""Convert a request to a job and a record."""

import json
from collections.abc import Sequence
from typing import Any

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.job import Job
from ufo.transforms.judges import JUDGES
from ufo.transforms.plugins import Registry
from ufo.transforms.read import parse
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS
from ufo.webapp import models
from ufo.webapp.desk import Desk

_FLAGS = set(models.Asking.model_fields) - {"sources"}


def job_of(desk: Desk, asked: models.Judging, sources: Sequence[str] | None) -> Job:
    """Return the job that a request describes.

    Raises:
        UsageError: a source or an option is wrong, or cannot serve here.
    """
    installed(SOURCES, *sources or ())
    installed(JUDGES, asked.judge)
    installed(VERIFIERS, asked.verifier)
    return desk.setup.job_of(flags_of(desk, asked, sources), sources)


def installed(registry: Registry[Any], *names: str | None) -> None:
    """Raise UsageError for a plug-in that is not installed under a name.

    One may also be a file with code in it, or a model to fetch: on a command line, never from
    outside.
    """
    for name in names:
        if name is not None and name not in registry.types():
            raise UsageError(unknown_value(registry.noun, name, registry.types()))


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
