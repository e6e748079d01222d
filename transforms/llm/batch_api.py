"""Submit batches of requests to a provider, and fetch their replies.

`OpenAiBatches` speaks OpenAI's protocol (`/v1/files` and `/v1/batches`), which Azure and others
offer too, through the `openai` package. A provider with another protocol, such as Anthropic's
Message Batches, is another class with the same methods, chosen in `api_of`; there is none yet.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, Final

import httpx2
import openai
from openai import AzureOpenAI, OpenAI

from ufo.transforms.llm.batch_store import Reply
from ufo.transforms.llm.endpoint import Endpoint, azure_of
from ufo.transforms.llm.errors import inside
from ufo.transforms.llm.transport import broken, client_of, refused

TAG: Final = "ufo"
"""The key of a batch's metadata that holds our name of it."""
TOO_MANY_TOKENS: Final = "token_limit_exceeded"
_ENDED: Final = ("completed", "failed", "expired", "cancelled")
_SECONDS_BETWEEN_LOOKS: Final = 0.5
_CLOCKS: Final = 3600.0  # seconds by which the provider's clock and ours may differ


@dataclass(frozen=True, slots=True)
class BatchState:
    """The provider's state of a batch: how many requests are done, the id of the file of requests
    and, once it has `ended`, the ids of the files of replies. `code` and `message` are the error of
    a whole batch."""

    id: str
    ended: bool
    done: int
    source: str
    files: tuple[str, ...]
    code: str
    message: str


class OpenAiBatches:
    """The batches of one endpoint that speaks OpenAI's protocol, Azure's included.

    Every method raises SendError where the provider cannot be asked.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._path: Any = "/chat/completions" if azure_of(endpoint.url) else "/v1/chat/completions"
        self._key = endpoint.key()
        common = {"default_headers": endpoint.header_values(), "timeout": endpoint.timeout}
        self._client: OpenAI = client_of(endpoint, self._key, OpenAI, AzureOpenAI, **common)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def line_of(self, key: str, body: Mapping[str, Any]) -> bytes:
        """Return the line of a batch's file for a request; its reply has the same key."""
        line = {"custom_id": key, "method": "POST", "url": self._path, "body": body}
        return json.dumps(line).encode() + b"\n"

    def upload(self, lines: IO[bytes], name: str) -> str:
        """Upload the lines of a batch, and return the id of the file."""
        with self._explained():
            named = (f"ufo-{name}.jsonl", lines)
            uploaded = self._client.files.create(file=named, purpose="batch")
            while str(uploaded.status) in ("pending", "running"):  # Azure reads the file first
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                uploaded = self._client.files.retrieve(uploaded.id)
        return uploaded.id

    def create(self, file: str, name: str) -> str:
        """Submit a batch of an uploaded file, and return its id; `name` is in its metadata."""
        with self._explained():
            # Sent once: without a reply, `find` asks whether the batch was accepted.
            batch = self._client.with_options(max_retries=0).batches.create(
                input_file_id=file,
                endpoint=self._path,
                completion_window="24h",
                metadata={TAG: name},
            )
        return batch.id

    def find(self, name: str, since: float) -> str | None:
        """Return the id of a batch of that name, None where none was accepted since `since`."""
        with self._explained():
            for batch in self._client.batches.list(limit=100):  # the newest first
                if (batch.metadata or {}).get(TAG) == name:
                    return batch.id
                if batch.created_at < since - _CLOCKS:
                    break
        return None

    def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        with self._explained():
            found = self._client.batches.retrieve(batch)
        counts = found.request_counts
        errors = (found.errors.data if found.errors else None) or []
        said = [f"{one.message} (line {one.line})" if one.line else one.message for one in errors]
        return BatchState(
            found.id,
            found.status in _ENDED,
            counts.completed + counts.failed if counts else 0,
            found.input_file_id,
            tuple(one for one in (found.output_file_id, found.error_file_id) if one),
            next((one.code for one in errors if one.code), found.status),
            "; ".join(text for text in said[:3] if text),
        )

    def replies(self, state: BatchState) -> Iterator[tuple[str, Reply]]:
        """Yield the key and the reply of each request of a batch that has ended, in any order."""
        with tempfile.TemporaryDirectory(prefix="ufo-batch-") as folder:
            path = os.path.join(folder, "replies.jsonl")
            for file in state.files:
                content = self._client.files.with_streaming_response.content(file)
                with self._explained(), content as response:
                    response.stream_to_file(path)
                with open(path, "rb") as lines:
                    for line in lines:
                        # A request whose line cannot be read has no reply.
                        with suppress(ValueError, KeyError, TypeError, AttributeError):
                            yield _reply(json.loads(line))

    def discard(self, files: Iterable[str]) -> None:
        """Delete files of a batch that nobody needs any more."""
        with suppress(openai.OpenAIError):
            for file in files:
                self._client.files.delete(file)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise an error of the client as a SendError."""
        try:
            yield
        except openai.APIStatusError as error:
            raise refused(self._endpoint, self._key, error.response) from None
        # A download that breaks off raises an error of the HTTP package.
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            raise broken(self._endpoint, error) from None


def _reply(line: Any) -> tuple[str, Reply]:
    """Return what a line of an output or error file says.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it has another shape.
    """
    key, response, error = str(line["custom_id"]), line.get("response"), line.get("error")
    if not response:
        code, message = str(error.get("code") or "error"), str(error.get("message") or error)
        return key, Reply(code, None, str(line.get("id") or key), message)
    status, payload = int(response["status_code"]), response.get("body")
    if status == 200:
        status, payload = inside(payload) or (status, payload)
    request_id = str(response.get("request_id") or line.get("id") or key)
    return key, Reply(str(status), payload, request_id)


def api_of(endpoint: Endpoint) -> OpenAiBatches:
    """Return the batches of an endpoint."""
    return OpenAiBatches(endpoint)
