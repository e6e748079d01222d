"""Batches as servers show and answer them beside OpenAI's: each is an OpenAI-compatible service, a
gateway or an engine that was seen to do so, or could.

    PROFILES["states in capitals"](server.batches)
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from .batches import ENDED, Batch, Batches, written
from .errors import ApiError

Row = dict[str, Any]
Shown = dict[str, Any]
Profile = Callable[[Batches], None]


# --- how a batch is shown


def shows(change: Callable[[Batch, Shown], Mapping[str, Any]]) -> Profile:
    """Fields that are shown in place of others."""

    def profile(batches: Batches) -> None:
        batches.shows = lambda batch, shown: {**shown, **change(batch, shown)}

    return profile


def word(running: str, ended: str) -> Profile:
    """Other words for a batch that goes on, and for one that has ended; it is looked at twice."""

    def profile(batches: Batches) -> None:
        batches.polls = 2
        shows(lambda batch, _: {"status": ended if batch.status in ENDED else running})(batches)

    return profile


def stopped(ended: str) -> Profile:
    """Another word for a batch that was stopped after three of its requests."""

    def profile(batches: Batches) -> None:
        batches.cancels.append(3)
        own = {"cancelled": ended}
        shows(lambda _, shown: {"status": own.get(shown["status"], shown["status"])})(batches)

    return profile


def counts(change: Callable[[Shown], Any]) -> Profile:
    return shows(lambda _, shown: {"request_counts": change(shown["request_counts"])})


def fails(status: str, errors: Any) -> Profile:
    """A batch that fails, in another shape."""

    def profile(batches: Batches) -> None:
        batches.fails.append(("server_error", "Something broke."))
        failed = {"status": status, "errors": errors}
        shows(lambda batch, _: failed if batch.status == "failed" else {})(batches)

    return profile


def until_later(looks: int, early: Mapping[str, Any]) -> Profile:
    """Fields of a batch that has ended, at so many looks more."""
    return shows(
        lambda batch, _: early if batch.status == "completed" and batch.looks < looks else {}
    )


def lost(created: Any) -> Profile:
    """A batch whose creation is not answered, in a list with other times."""

    def profile(batches: Batches) -> None:
        batches.loses = 1
        shows(lambda _, __: {"created_at": created})(batches)

    return profile


def untagged(batches: Batches) -> None:
    """A gateway that keeps no metadata; the creation is not answered."""
    batches.loses = 1
    shows(lambda _, __: {"metadata": None})(batches)


# --- when it is there


def soon(name: str, times: int) -> Profile:
    return lambda batches: setattr(batches, name, times)


def downloads(change: Callable[[int, bytes], bytes]) -> Profile:
    return lambda batches: setattr(batches, "downloads", change)


def missing(time: int, content: bytes) -> bytes:
    if time < 3:
        raise ApiError(404, "No such File object: file-1", param="id")
    return content


# --- lines of replies


def lines(change: Callable[[Row], Row]) -> Profile:
    """Each line in another shape."""

    def profile(batches: Batches) -> None:
        batches.writes = lambda rows: written([change(row) for row in rows])

    return profile


def writes(change: Callable[[list[Row]], bytes]) -> Profile:
    return lambda batches: setattr(batches, "writes", change)


def response(row: Row, **fields: Any) -> Row:
    return row | {"response": {**row["response"], **fields}}


def without_status(row: Row) -> Row:
    kept = {name: row["response"][name] for name in ("request_id", "body")}
    return row | {"response": kept}


def error_and_reply(rows: list[Row]) -> bytes:
    """First an error for each request, then its reply."""
    busy = {"error": {"message": "The server is overloaded.", "code": "503"}}
    errors = [response(row, status_code=503, body=busy) for row in rows]
    return written(errors + rows)


def with_foreign(rows: list[Row]) -> bytes:
    return written([*rows, rows[0] | {"custom_id": "of-another-run"}])


PROFILES: Final[Mapping[str, Profile]] = {
    # states
    "states in capitals": word("IN_PROGRESS", "COMPLETED"),
    "states with a capital": word("InProgress", "Completed"),
    "states of Mistral": word("RUNNING", "SUCCESS"),
    "states of Vertex AI": word("JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED"),
    "states of Gemini": word("BATCH_STATE_PENDING", "BATCH_STATE_SUCCEEDED"),
    "states of Volcano Engine": word("Queued", "Completed"),
    "states of Anthropic": word("in_progress", "ended"),
    "states of a gateway": word("processing", "done"),
    "states of another gateway": word("Not Started", "finished"),
    "a state that nobody knows": word("simmering", "completed"),
    "no state": word("", "completed"),
    "canceled": stopped("canceled"),
    "CANCELLED": stopped("CANCELLED"),
    "Terminated": stopped("Terminated"),
    "TIMEOUT_EXCEEDED": stopped("TIMEOUT_EXCEEDED"),
    "timed_out": stopped("timed_out"),
    # errors of a whole batch
    "FAILED with errors in a list": fails(
        "FAILED", [{"message": "Broken.", "code": "server_error"}]
    ),
    "error with an object": fails("error", {"message": "Broken.", "code": 500}),
    "failed with words": fails("failed", "Broken."),
    "failed with nothing": fails("Failed", None),
    # counts
    "no counts": counts(lambda _: None),
    "empty counts": counts(lambda _: {}),
    "counts of zero": counts(lambda own: dict.fromkeys(own, 0)),
    "the total alone": counts(lambda own: {"total": own["total"]}),
    "counts as text": counts(lambda own: {name: str(count) for name, count in own.items()}),
    "counts of null": counts(dict.fromkeys),
    # times
    "created at no time": lost(None),
    "created at a time in words": lost(datetime(2026, 1, 1, tzinfo=UTC).isoformat()),
    "created at a time as text": lost("1767225600"),
    "no metadata": untagged,
    # files that come later
    "no files yet": until_later(4, {"output_file_id": None, "error_file_id": None}),
    "neither files nor counts yet": until_later(
        4, {"output_file_id": None, "request_counts": {"total": 0, "completed": 0, "failed": 0}}
    ),
    "no file and no counts yet": until_later(4, {"output_file_id": "", "request_counts": None}),
    "a file that is empty at first": downloads(lambda time, all_: all_ if time > 3 else b""),
    "half a file at first": downloads(
        lambda time, all_: all_ if time > 3 else all_[: len(all_) // 2]
    ),
    "all but the end of a file": downloads(lambda time, all_: all_ if time > 3 else all_[:-20]),
    "a file that is not found at first": downloads(missing),
    "a web page at first": downloads(lambda time, whole: whole if time > 3 else b"<p>\n" * 20),
    # what was made a moment ago
    "a batch that is not found at first": soon("unknown", 3),
    "a file of requests that is not found at first": soon("unread", 3),
    # lines
    "each line twice": writes(lambda rows: written(rows + rows)),
    "an error before each reply": writes(error_and_reply),
    "lines without a status": lines(without_status),
    "a status as text": lines(lambda row: response(row, status_code="200")),
    "a status of 0": lines(lambda row: response(row, status_code=0)),
    "a status of null": lines(lambda row: response(row, status_code=None)),
    "a body as text": lines(lambda row: response(row, body=json.dumps(row["response"]["body"]))),
    "a body in place of the response": lines(
        lambda row: row | {"response": row["response"]["body"]}
    ),
    "a response as text": lines(lambda row: row | {"response": json.dumps(row["response"])}),
    "a body beside the response": lines(
        lambda row: {"custom_id": row["custom_id"], "body": row["response"]["body"]}
    ),
    "an empty error beside a reply": lines(
        lambda row: row | {"error": {"code": "", "message": ""}}
    ),
    "a byte order mark": writes(lambda rows: b"\xef\xbb\xbf" + written(rows)),
    "CRLF and blank lines": writes(
        lambda rows: b"\r\n" + written(rows).replace(b"\n", b"\r\n\r\n")
    ),
    "no line feed at the end": writes(lambda rows: written(rows).rstrip(b"\n")),
    "a line of another run": writes(with_foreign),
}
