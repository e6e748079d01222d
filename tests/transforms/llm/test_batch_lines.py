"""Requests that are answered from batches: which line is whose, and who is charged for it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.transforms.llm.asked import call
from ufo.schemas.errors import NotYetAnswered
from ufo.schemas.records import Usage
from ufo.transforms.llm.batch_lines import BatchLine, error_of, read_lines
from ufo.transforms.llm.batch_store import BatchStore, Reply
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.llm.errors import SendError
from ufo.transforms.llm.request import Request
from ufo.transforms.llm.usage import usage_row

HERE = Endpoint("m", "http://localhost:1/v1")
SENT = call(key="r-1")
BODY = {"model": "m", "messages": []}
SAID = {"choices": [{"message": {"content": "Yes."}}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BatchStore]:
    with closing(BatchStore(str(tmp_path / "cache.batches"), "run")) as opened:
        yield opened


def row_of(request_: Request) -> Usage:
    return usage_row(request_.step, request_.source, "m", request_.response_id)


def send(
    line: BatchLine, request_: Request = SENT, body: dict[str, Any] = BODY
) -> tuple[Any, list[Usage]]:
    """The reply to a request from a batch, and its usage rows; None if there is none yet."""
    rows: list[Usage] = []
    exchange = line.receive(body, lambda: line.send(body), row_of(request_), rows)
    try:
        return asyncio.run(exchange), rows
    except NotYetAnswered:
        return None, rows


def keys(store: BatchStore, endpoint: Endpoint = HERE) -> list[str]:
    return [key for key, _ in store.bodies(endpoint, 99)]


@pytest.mark.parametrize(
    ("request_", "endpoint", "body", "lines"),
    [
        pytest.param(SENT, HERE, BODY, 1, id="nothing"),
        pytest.param(call(key="r-2"), HERE, BODY, 2, id="the request"),
        pytest.param(SENT, HERE, BODY | {"n": 2}, 2, id="a field"),
        pytest.param(SENT, replace(HERE, body='{"top_k": 1}'), BODY, 2, id="an added field"),
        pytest.param(replace(SENT, response_id="r9"), HERE, BODY, 1, id="the response"),
        pytest.param(SENT, HERE, dict(reversed(BODY.items())), 1, id="the order of fields"),
    ],
)
def test_another_request_is_another_line(
    store: BatchStore, request_: Request, endpoint: Endpoint, body: dict[str, Any], lines: int
) -> None:
    send(BatchLine(store, HERE, SENT))
    send(BatchLine(store, endpoint, request_), request_, body)
    assert len({*keys(store), *keys(store, endpoint)}) == lines


def test_a_batch_asks_the_server_for_nothing_else(store: BatchStore) -> None:
    assert asyncio.run(BatchLine(store, HERE, SENT).look("models")) is None


def test_equal_lines_of_one_request_are_choices_of_their_own(store: BatchStore) -> None:
    line = BatchLine(store, HERE, SENT)
    assert [send(line)[0] for _ in range(3)] == [None] * 3
    assert len(set(keys(store))) == 3


def test_a_reply_is_charged_to_the_first_response_alone(store: BatchStore) -> None:
    send(BatchLine(store, HERE, SENT))
    (key,) = keys(store)
    (request,) = store.sent(store.plan(HERE, 1, {key: 1.0})).values()
    store.put(key, Reply("200", SAID, "q1"), replace(request.usage, prompt_tokens=7))
    reply, (row,) = send(BatchLine(store, HERE, SENT))
    assert reply == SAID
    assert row.prompt_tokens == 7
    assert not row.cached
    for other in (call(response_id="r9"), call(step="extract"), call(source="web")):
        other = replace(other, key=SENT.key)
        reply, (row,) = send(BatchLine(store, HERE, other), other)
        assert reply == SAID
        assert row.cached
        assert row.prompt_tokens == 0
        assert row.request_id == "q1"


def test_an_error_in_a_line_has_a_row_of_usage(store: BatchStore) -> None:
    send(BatchLine(store, HERE, SENT))
    (key,) = keys(store)
    (request,) = store.sent(store.plan(HERE, 1, {key: 1.0})).values()
    store.put(key, Reply("500", {"error": {"message": "Broken."}}, "q1"), request.usage)
    line, rows = BatchLine(store, HERE, SENT), list[Usage]()
    with pytest.raises(SendError, match="Broken"):
        asyncio.run(line.receive(BODY, lambda: line.send(BODY), row_of(SENT), rows))
    assert [row.response_id for row in rows] == [SENT.response_id]


@pytest.mark.parametrize(
    ("reply", "status", "transient"),
    [
        pytest.param(Reply("expired", {"error": "too late"}, "q1"), "expired", True, id="no reply"),
        pytest.param(Reply("200", {}, "q1"), "garbled", True, id="no choices"),
        pytest.param(Reply("429", {"error": "busy"}, "q1"), "429", True, id="busy"),
        pytest.param(Reply("400", {"error": "odd"}, "q1"), "400", False, id="refused"),
    ],
)
def test_an_error_in_a_line(reply: Reply, status: str, transient: bool) -> None:
    error = error_of(HERE, reply)
    assert error is not None
    assert error.status == status
    assert error.transient is transient


def test_a_reply_of_the_model_is_no_error() -> None:
    assert error_of(HERE, Reply("200", SAID, "q1")) is None


# --- the lines of an output file

BODY_ERROR = {"error": {"message": "The server is overloaded.", "type": "server_error"}}
NO_WORDS = "no reply and no error"


def line_of(response: Any = None, error: Any = None, **more: Any) -> bytes:
    line = {"id": "b1", "custom_id": "r-1", "response": response, "error": error, **more}
    return json.dumps(line).encode()


def reply_in(line: bytes) -> Reply:
    """The reply in a line, which is to request `r-1`."""
    (read,) = read_lines([line])
    assert read is not None
    assert read[0] == "r-1"
    return read[1]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line_of({"status_code": 200, "body": SAID}), id="as OpenAI's"),
        pytest.param(line_of({"status_code": "200", "body": SAID}), id="a status as text"),
        pytest.param(line_of({"status_code": "200 OK", "body": SAID}), id="a status with words"),
        pytest.param(line_of({"status_code": 201, "body": SAID}), id="created"),
        pytest.param(line_of({"status": 200, "body": SAID}), id="another name of the status"),
        pytest.param(line_of({"body": SAID}), id="no status"),
        pytest.param(line_of({"status_code": 0, "body": SAID}), id="a status of 0"),
        pytest.param(line_of({"status_code": None, "body": SAID}), id="a status of null"),
        pytest.param(line_of({"status_code": "success", "body": SAID}), id="a word for a status"),
        pytest.param(line_of({"body": json.dumps(SAID)}), id="a body as text"),
        pytest.param(line_of(SAID), id="a body in place of the response"),
        pytest.param(line_of(json.dumps(SAID)), id="the same as text"),
        pytest.param(line_of(None, body=SAID), id="a body beside"),
        pytest.param(line_of({"body": SAID}, error={}), id="an empty error"),
        pytest.param(line_of({"body": SAID}, error={"code": "", "message": ""}), id="no words"),
    ],
)
def test_a_reply_of_the_model_is_read_in_any_shape(line: bytes) -> None:
    reply = reply_in(line)
    assert (reply.status, reply.payload) == ("200", SAID)
    assert error_of(HERE, reply) is None


@pytest.mark.parametrize(
    ("line", "status", "words", "transient"),
    [
        pytest.param(line_of({"status_code": 400, "body": {"error": {"message": "odd"}}}),
                     "400", "odd", False, id="refused"),
        pytest.param(line_of({"status_code": 503, "body": BODY_ERROR}),
                     "503", "overloaded", True, id="overloaded"),
        pytest.param(line_of({"status_code": 500, "body": None}, {"message": "broke"}),
                     "500", "broke", True, id="no body"),
        pytest.param(line_of({"status_code": 200, "body": BODY_ERROR}),
                     "400", "overloaded", True, id="200 with an error"),
        pytest.param(line_of({"status_code": 200, "body": None}, {"code": 429, "message": "slow"}),
                     "429", "slow", True, id="200 with an error beside"),
        pytest.param(line_of({"status_code": 200, "body": {}}),
                     "garbled", "no choices", True, id="200 with nothing"),
        pytest.param(line_of({"status_code": 0, "body": {"error": {"message": "hung up"}}}),
                     "error", "hung up", True, id="a status of 0"),
        pytest.param(line_of({"status_code": 0, "body": {"error": {"code": 503, "message": "no"}}}),
                     "503", "no", True, id="a status in the body"),
        pytest.param(line_of({"status_code": 0, "body": "hung up"}),
                     "error", "hung up", True, id="a body of words"),
        pytest.param(line_of({"body": ""}), "error", NO_WORDS, True, id="an empty body"),
        pytest.param(line_of(None), "error", NO_WORDS, True, id="nothing"),
        pytest.param(line_of(None, "it timed out"), "error", "it timed out", True, id="words"),
        pytest.param(line_of(None, {"code": "batch_expired", "message": "too late"}),
                     "batch_expired", "too late", True, id="a code in words"),
        pytest.param(line_of(None, {"code": "400", "message": "odd"}),
                     "400", "odd", False, id="a code of a refusal"),
        pytest.param(line_of(None, {"code": 101, "message": "odd"}),
                     "101", "odd", True, id="a code that is no status"),
        pytest.param(line_of({"status_code": 302, "body": "moved"}),
                     "error", "moved", True, id="a redirect"),
    ],
)  # fmt: skip
def test_an_error_is_read_in_any_shape(
    line: bytes, status: str, words: str, transient: bool
) -> None:
    error = error_of(HERE, reply_in(line))
    assert error is not None
    assert error.status == status
    assert words in error.message
    assert error.transient is transient


@pytest.mark.parametrize(
    "error",
    [
        {"code": "insufficient_quota", "message": "You exceeded your current quota."},
        {"code": "x", "message": "Your credit balance is too low."},
        "insufficient_quota",
    ],
)
def test_an_error_without_a_status_that_every_request_would_meet_is_final(error: Any) -> None:
    failure = error_of(HERE, reply_in(line_of(None, error)))
    assert failure is not None
    assert failure.final


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"null", b'"text"', b'{"response": null}', b"\xff", line_of()[:-5]],
)
def test_a_line_that_cannot_be_read_is_none(line: bytes) -> None:
    assert list(read_lines([line + b"\n", line_of(SAID)])) == [
        None,
        ("r-1", reply_in(line_of(SAID))),
    ]


@pytest.mark.parametrize("line", [line_of()[:-5], b"", b"\r\n"], ids=["half", "empty", "blank"])
def test_what_is_no_line_is_left_out(line: bytes) -> None:
    assert list(read_lines([line])) == []
