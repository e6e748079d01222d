"""A client for the batch APIs of providers.

`OpenAiBatches` speaks OpenAI's protocol (`/v1/files` and `/v1/batches`), which Azure and others
offer too. `batch_states.toml` has their words. A provider with another protocol, such as
Anthropic's Message Batches, is another class with the same methods.
"""

import json
import re
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any, Final

import openai
from openai import AzureOpenAI, OpenAI

from ufo.transforms.llm.batch_lines import read_lines
from ufo.transforms.llm.batch_store import Reply
from ufo.transforms.llm.endpoint import Endpoint, azure_of
from ufo.transforms.llm.errors import (
    MODEL,
    SendError,
    error_inside,
    is_page,
    of_response,
    words_of,
)
from ufo.transforms.llm.http_packages import httpx
from ufo.transforms.llm.transport import client_of, connection_error, response_error

TAG: Final = "ufo"  # the key of a batch's metadata that holds our name of it
FAILED, STOPPED, RUNNING, UNKNOWN = "failed", "stopped", "running", ""
_TABLES: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    (resources.files(__package__) / "batch_states.toml").read_text(encoding="utf-8")
)
_PROCESSED: Final = ("completed", "succeeded", "success", "failed", "errored", "error")
_LISTED: Final = 2000  # batches that are searched for one
_PAUSES: Final = (0.5, 1, 2, 4, 8, 15, 30, 60)  # until a file that was uploaded can be used


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch: the provider's `word` for it, and the `phase` that the word means.

    `done` requests are processed. `lines` is the final number of replies of a batch that failed or
    was stopped, None for any other and where it is not known. `source` and `files` are the ids of
    the files of requests and of replies, `code` and `message` the error of a whole batch.
    """

    word: str
    phase: str
    done: int
    lines: int | None
    source: str | None
    files: tuple[str, ...]
    code: str
    message: str

    @property
    def ended(self) -> bool:
        """Whether the provider works on the batch no more."""
        return self.phase not in (RUNNING, UNKNOWN)


def error_says(problem: str, words: str) -> bool:
    """Return whether an error's words mean that too much is `enqueued`, or a `file` is missing."""
    return bool(re.search(_TABLES["errors"][problem], words, re.IGNORECASE))


def phase_of(word: Any) -> str:
    """Return the phase of a batch by a provider's word for its state, in any case and spelling."""
    letters = re.sub("[^a-z]", "", str(word).lower())
    bare = re.sub("^(batch|job)?(state|status)?(?=.)", "", letters)
    return next((phase for phase, words in _TABLES["states"].items() if bare in words), UNKNOWN)


class OpenAiBatches:
    """The batches of one endpoint that speaks OpenAI's protocol, Azure's included.

    Every method raises SendError where the provider cannot be asked. Its status is 404 where the
    provider does not know a batch or a file, or has no batches.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._path: Any = "/chat/completions" if azure_of(endpoint.url) else "/v1/chat/completions"
        self._key = endpoint.key()
        headers, timeout = endpoint.header_values(), endpoint.timeout
        common = {"default_headers": headers, "timeout": timeout, "max_retries": 0}
        self._client: OpenAI = client_of(endpoint, self._key, OpenAI, AzureOpenAI, **common)

    def close(self) -> None:
        self._client.close()

    def line_of(self, key: str, body: Mapping[str, Any]) -> bytes:
        """Return the line of a batch's file for a request; its reply has the same key."""
        line = {"custom_id": key, "method": "POST", "url": self._path, "body": body}
        return json.dumps(line).encode() + b"\n"

    def upload(self, lines: IO[bytes], name: str) -> str:
        """Upload the lines of a batch, and return the id of the file."""
        with self._explained(again=False):
            file = self._client.files.create(file=(f"ufo-{name}.jsonl", lines), purpose="batch")
            file_id = self._id(file)
            for pause in _PAUSES:
                if phase_of(file.status) != RUNNING:  # Azure reads the file first
                    break
                time.sleep(pause)
                with suppress(openai.NotFoundError):
                    file = self._client.files.retrieve(file_id)
            return file_id

    def create(self, file: str, name: str) -> str:
        """Submit a batch of an uploaded file, and return its id; `name` is in its metadata."""
        batch: Any = {"endpoint": self._path, "completion_window": "24h", "metadata": {TAG: name}}
        pauses = iter(_PAUSES)
        while True:
            try:
                with self._explained(again=False):
                    return self._id(self._client.batches.create(input_file_id=file, **batch))
            except SendError as error:
                pause = next(pauses, None)
                if pause is None or not error_says("file", error.message):
                    raise
            time.sleep(pause)

    def find(self, name: str, file: str) -> str | None:
        """Return the id of the listed batch of this name, else of this file, else None.

        Some providers keep no names.
        """
        with self._explained():
            listed = self._client.batches.list(limit=100)
            self._raise_error_in(listed)
            for batch in islice(listed, _LISTED):  # the newest first
                if (batch.metadata or {}).get(TAG) == name or batch.input_file_id == file:
                    return batch.id
        return None

    def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        with self._explained():
            shown = json.loads(self._client.batches.with_raw_response.retrieve(batch).content)
            counts = shown.get("request_counts") or {}
            word = str(shown.get("status") or shown.get("state") or "")
            if not word:
                self._raise_error_in(shown)
            phase = phase_of(word)
            done = sum(_count(counts.get(name)) for name in _PROCESSED)
            counted = phase == FAILED or (
                phase == STOPPED and (done or _count(counts.get("total")))
            )
            code, message = _error(shown.get("errors") or shown.get("error"), self._key)
            files = (shown.get("output_file_id"), shown.get("error_file_id"))
            return BatchState(
                word,
                phase,
                done,
                done if counted else None,
                shown.get("input_file_id"),
                tuple(file for file in files if file and isinstance(file, str)),
                code or word,
                message,
            )

    def replies(self, file: str) -> Iterator[tuple[str, Reply] | None]:
        """Yield key and reply of each line in a file of replies, None for an unreadable line.

        The lines are in any order. A file that does not exist yet has none.
        """
        with TemporaryFile(prefix="ufo-batch-") as lines:
            content = self._client.files.with_streaming_response.content(file)
            try:
                with self._explained(), content as response:
                    lines.writelines(response.iter_bytes())
            except SendError as error:
                if error.status != "404":
                    raise
            lines.seek(0)
            yield from read_lines(lines)

    def discard(self, files: Iterable[str | None]) -> None:
        """Delete files of a batch that nobody needs any more."""
        with suppress(openai.OpenAIError):
            for file in filter(None, files):
                self._client.files.delete(file)

    def _id(self, shown: Any) -> str:
        """Return the id of a new file or batch."""
        if not getattr(shown, "id", None):
            self._raise_error_in(shown)
            raise ValueError("it has no id")
        return str(shown.id)

    def _raise_error_in(self, shown: Any) -> None:
        """Raise the error that a response of status 200 holds in place of a file or a batch."""
        payload = shown if isinstance(shown, str | dict) else shown.to_dict(warnings=False)
        error = error_inside(payload)
        if error or is_page(payload):
            status, body = error or (200, payload)
            in_it = error is not None
            raise of_response(self._endpoint, self._key, status, {}, body, time.time(), in_it)

    @contextmanager
    def _explained(self, again: bool = True) -> Iterator[None]:
        """Raise an error of the client, or of reading its result, as a SendError.

        An unreadable result is transient where `again`.
        """
        where = self._endpoint.shown_url
        try:
            yield
        except openai.APIStatusError as error:
            refusal = response_error(self._endpoint, self._key, error.response)
            # The file or the batch is missing or too large, not a request to the model.
            if error.status_code in (404, 405, 413) and refusal.kind != MODEL:
                status = "413" if error.status_code == 413 else "404"
                words = words_of(error.body, self._key)[0][:300] or "not found"
                asked = f"{error.request.method} {error.request.url.path}"
                message = f"{where} answered {error.status_code} to {asked}: {words}"
                refusal = SendError(message, status)
            raise refusal from None
        # A download that breaks off raises an error of the HTTP package.
        except (openai.APIConnectionError, httpx.TransportError) as error:
            raise connection_error(self._endpoint, error) from None
        except (AttributeError, KeyError, TypeError, ValueError):
            message = f"{where} answered with something that is no batch and no file"
            raise SendError(message, "garbled", transient=again) from None


def _count(value: Any) -> int:
    """Return a number of requests, also from text; 0 for anything else."""
    return int(value) if re.fullmatch("[0-9]{1,9}", str(value)) else 0


def _error(errors: Any, key: str) -> tuple[str, str]:
    """Return the code and the words of the errors of a batch: a list, an object or a text."""
    if isinstance(errors, Mapping):
        errors = errors.get("data") or [errors]
    if not errors:
        return "", ""
    first = errors[0] if isinstance(errors, list) else errors
    line = first.get("line") if isinstance(first, Mapping) else None
    words, *_ = words_of({"errors": errors}, key)
    _, codes, _ = words_of(first, key)
    return codes.partition(" ")[0], f"{words} (line {line})" if line else words
