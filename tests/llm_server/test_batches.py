"""Files and batches of the tests' server, as the official client sees them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import (
    APIConnectionError,
    AzureOpenAI,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    OpenAI,
)
from openai.types import Batch
from openai.types.chat import ChatCompletion

from tests.llm_server import LlmServer, Switches, faults
from tests.llm_server.errors import bad, overloaded, rate_limited

URL: Any = "/v1/chat/completions"


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


@pytest.fixture
def client(server: LlmServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.base_url, api_key=server.key, max_retries=0) as made:
        yield made


def line(number: int, **changed: Any) -> dict[str, Any]:
    body = {"model": "offline-judge", "messages": [{"role": "user", "content": f"Who? {number}"}]}
    asked = {"custom_id": f"r-{number}", "method": "POST", "url": URL, "body": body}
    return (
        asked
        | {name: value for name, value in changed.items() if name != "body"}
        | {"body": body | changed.get("body", {})}
    )


def content(*lines: Any) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    return "".join(f"{text}\n" for text in texts).encode()


def submitted(client: OpenAI, *lines: Any, url: Any = URL, name: str = "a") -> Batch:
    file = client.files.create(file=("in.jsonl", content(*lines)), purpose="batch")
    return client.batches.create(
        input_file_id=file.id, endpoint=url, completion_window="24h", metadata={"ufo": name}
    )


def rows(client: OpenAI, file: str | None) -> list[dict[str, Any]]:
    if not file:
        return []
    return [json.loads(text) for text in client.files.content(file).text.splitlines()]


def test_a_batch_is_answered_as_live_requests_are(server: LlmServer, client: OpenAI) -> None:
    server.batches.polls = 2
    lines = [line(number) for number in range(6)]
    batch = submitted(client, *lines)
    assert (batch.status, batch.metadata, batch.errors) == ("validating", {"ufo": "a"}, None)
    seen = []
    for _ in range(3):
        batch = client.batches.retrieve(batch.id)
        assert batch.request_counts
        seen.append((batch.status, batch.request_counts.completed, batch.request_counts.total))
    assert seen == [("in_progress", 2, 6), ("in_progress", 4, 6), ("completed", 6, 6)]
    assert batch.completed_at
    assert batch.error_file_id is None
    found = rows(client, batch.output_file_id)
    assert [row["custom_id"] for row in found] == ["r-5", "r-4", "r-3", "r-2", "r-1", "r-0"]
    live = client.chat.completions.create(**lines[5]["body"])
    completion = ChatCompletion.model_validate(found[0]["response"]["body"])
    assert (completion.choices, completion.usage) == (live.choices, live.usage)
    assert len({row["response"]["body"]["id"] for row in found}) == 6
    assert len(server.chats) == 1
    assert [(one.custom_id, one.body) for one in server.batches.requests] == [
        (one["custom_id"], one["body"]) for one in lines
    ]


def test_lines_that_cannot_be_answered_are_in_the_error_file(
    server: LlmServer, client: OpenAI
) -> None:
    wrong: dict[str, Any] = {
        "Who? 2": rate_limited("requests", 3, {}),
        "Who? 4": faults.content_filter(),
    }
    server.batches.line_faults = lambda body: wrong.get(body["messages"][0]["content"])
    server.batches.disturbs.append(overloaded())
    lines = (line(1), line(2), line(3, body={"temperature": 9}), line(4))
    batch = submitted(client, *lines)
    with pytest.raises(InternalServerError):
        client.batches.retrieve(batch.id)
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed"
    spoiled, answered = rows(client, batch.output_file_id)
    assert (spoiled["custom_id"], answered["custom_id"]) == ("r-4", "r-1")
    assert spoiled["response"]["body"]["choices"][0]["finish_reason"] == "content_filter"
    failed = {row["custom_id"]: row for row in rows(client, batch.error_file_id)}
    assert failed["r-2"]["response"]["status_code"] == 429
    assert failed["r-3"]["response"]["body"]["error"]["param"] == "temperature"
    assert failed["r-3"]["error"] is None
    assert batch.request_counts
    assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 2)


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_batch_ends_before_all_of_it_is_answered(
    server: LlmServer, client: OpenAI, end: str
) -> None:
    queue = server.batches.expires if end == "expired" else server.batches.cancels
    queue.extend([None, 1])
    whole = submitted(client, line(1), line(2))
    part = submitted(client, line(3), line(4))
    assert client.batches.retrieve(whole.id).status == "completed"
    part = client.batches.retrieve(part.id)
    assert part.status == end
    assert [row["custom_id"] for row in rows(client, part.output_file_id)] == ["r-3"]
    (left,) = rows(client, part.error_file_id)
    assert (left["custom_id"], left["response"]) == ("r-4", None)
    assert left["error"]["code"] == f"batch_{end}"
    submitted(client, line(4))
    assert server.batches.repeated() == []
    submitted(client, line(3))
    assert [(one.custom_id, other.custom_id) for one, other in server.batches.repeated()] == [
        ("r-3", "r-3"),  # the body, and the name
        ("r-3", "r-3"),
    ]


def test_a_batch_is_cancelled(client: OpenAI) -> None:
    batch = submitted(client, line(1))
    assert client.batches.cancel(batch.id).status == "cancelling"
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.output_file_id) == ("cancelled", None)
    with pytest.raises(BadRequestError):
        client.batches.cancel(batch.id)


@pytest.mark.parametrize(
    ("lines", "code", "number"),
    [
        ([], "empty_file", None),
        ([line(1), "{"], "invalid_json_line", 2),
        ([line(1), line(2, custom_id="r-1")], "duplicate_custom_id", 2),
        ([line(1, custom_id=1)], "invalid_request", 1),
        ([line(1, method="GET")], "invalid_request", 1),
        ([line(1, url="/v1/embeddings")], "url_mismatch", 1),
        ([line(1, body={"model": "other"})], "model_not_found", 1),
        ([line(1), line(2, body={"model": "offline-judge-small"})], "model_mismatch", 2),
        ([line(1), line(2), line(3)], "too_many_tasks", None),
        ([line(1, body={"user": "x" * 2000})], "file_too_large", None),
    ],
)
def test_a_file_that_is_wrong_fails_its_batch(
    server: LlmServer, client: OpenAI, lines: list[Any], code: str, number: int | None
) -> None:
    server.batches.max_requests, server.batches.max_bytes = 2, 1000
    batch = submitted(client, *lines)
    assert batch.status == "validating"
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "failed"
    assert batch.errors
    assert batch.errors.data
    assert (batch.errors.data[0].code, batch.errors.data[0].line) == (code, number)
    assert (batch.output_file_id, batch.error_file_id) == (None, None)
    assert server.batches.sent == 0


def test_a_batch_fails_and_its_requests_come_again(server: LlmServer, client: OpenAI) -> None:
    server.batches.fails.append(("server_error", "Something broke."))
    batch = client.batches.retrieve(submitted(client, line(1)).id)
    assert batch.errors
    assert batch.errors.data
    assert (batch.status, batch.errors.data[0].message) == ("failed", "Something broke.")
    batch = client.batches.retrieve(submitted(client, line(1)).id)
    assert batch.status == "completed"
    assert (server.batches.sent, server.batches.repeated()) == (1, [])


def test_enqueued_tokens_are_limited_over_the_batches_under_way(
    server: LlmServer, client: OpenAI
) -> None:
    server.batches.token_limit = 5  # a line has three
    first, second = submitted(client, line(1)), submitted(client, line(2))
    failed = client.batches.retrieve(second.id)
    assert failed.errors
    assert failed.errors.data
    assert failed.errors.data[0].code == "token_limit_exceeded"
    assert client.batches.retrieve(first.id).status == "completed"
    assert client.batches.retrieve(submitted(client, line(2)).id).status == "completed"


def test_what_was_carried_out_without_a_reply_is_found_in_the_list(
    server: LlmServer, client: OpenAI
) -> None:
    server.batches.loses = server.batches.loses_files = 1
    with pytest.raises(APIConnectionError):
        submitted(client, line(1), name="lost")
    assert [file.filename for file in client.files.list(purpose="batch")] == ["in.jsonl"]
    with pytest.raises(APIConnectionError):
        submitted(client, line(1), name="lost")
    for number in range(2, 6):
        submitted(client, line(number), name=f"kept-{number}")
    names = [batch.metadata["ufo"] for batch in client.batches.list(limit=2) if batch.metadata]
    assert names == ["kept-5", "kept-4", "kept-3", "kept-2", "lost"]
    page = client.batches.list(limit=2)
    assert page.has_more
    assert not client.batches.list(limit=100).has_more
    server.batches.late = 1
    listed = [[batch.id for batch in client.batches.list(limit=100)] for _ in range(2)]
    assert listed[0] == listed[1][1:]
    submitted(client, line(1), name="again")
    assert {other.custom_id for _, other in server.batches.repeated()} == {"r-1"}


def test_what_is_refused(server: LlmServer, client: OpenAI) -> None:
    with pytest.raises(BadRequestError, match="/v1/embeddings"):
        submitted(client, line(1), url="/v1/embeddings")
    with pytest.raises(NotFoundError, match="batch_1"):
        client.batches.retrieve("batch_1")
    server.batches.refuses = bad("Billing hard limit has been reached.", None, "billing_hard_limit")
    with pytest.raises(BadRequestError, match="hard limit"):
        submitted(client, line(1))
    server.batches.refuses = None
    file = client.files.create(file=("in.jsonl", content(line(1))), purpose="batch")
    assert client.files.retrieve(file.id).bytes == len(content(line(1)))
    assert client.files.content(file.id).read() == content(line(1))
    server.batches.breaks = 1
    with pytest.raises(APIConnectionError):
        client.files.content(file.id)
    assert client.files.delete(file.id).deleted
    with pytest.raises(BadRequestError, match="Cannot find file"):
        client.batches.create(input_file_id=file.id, endpoint=URL, completion_window="24h")


def test_azure(server: LlmServer) -> None:
    server.switches = Switches(azure="my-deployment")
    with AzureOpenAI(
        azure_endpoint=server.base_url.removesuffix("/v1"),
        api_key=server.key,
        api_version="2024-10-21",
        max_retries=0,
    ) as client:
        url = "/chat/completions"
        asked = line(1, url=url, body={"model": "my-deployment"})
        batch = client.batches.retrieve(submitted(client, asked, url=url).id)
        assert batch.status == "completed"
        assert batch.error_file_id == ""
        assert rows(client, batch.output_file_id)[0]["response"]["status_code"] == 200
        assert [one.id for one in client.batches.list(limit=100)] == [batch.id]
