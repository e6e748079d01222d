"""OpenAI's files and batches: what the server holds of them, and what it does wrong on request.

A batch goes on with each `GET` of it, and its lines are answered by what answers live requests.

    server.batches.polls = 3            # the fourth GET of a batch finds it ended
    server.batches.expires.append(10)   # the next batch ends after ten of its requests
    assert not server.batches.repeated()
"""

import hashlib
import json
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs

from . import tokens
from .chat import Switches
from .errors import ApiError, bad, broken
from .faults import Fault
from .http import HttpRequest
from .log import Logged, by_step

ENDED = ("failed", "completed", "expired", "cancelled")
_LEFT = {
    "expired": "This request could not be executed before the completion window expired.",
    "cancelled": "This request was not executed: its batch was cancelled.",
}


class Endpoint(Protocol):
    """What answers the lines."""

    switches: Switches
    models: list[str]

    def answer(self, body: Any, entry: Logged, fault: Fault | None) -> dict[str, Any]: ...


class LostReply(Exception):
    """The request was carried out, and the connection ends without a reply."""


@dataclass(slots=True)
class Line:
    """A request of a batch; `entry.status` is None until it is answered."""

    batch: "Batch"
    custom_id: str
    entry: Logged
    output: dict[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        return self.entry.body


@dataclass(slots=True)
class Batch:
    """A batch as the server knows it: `stops` is how many of its lines are answered, and `end` its
    last status."""

    id: str
    file: str
    endpoint: str
    metadata: Mapping[str, str] | None
    lines: list[Line] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    stops: int | None = None
    end: str = "completed"
    status: str = "validating"
    seen: int = 0
    looks: int = 0  # of the GETs that found it ended
    tokens: int = 0
    files: dict[str, str] = field(default_factory=dict)
    created: int = field(default_factory=lambda: int(time.time()))

    def payload(self, missing: str | None) -> dict[str, Any]:
        """The batch in the API's shape; `missing` is the name of a file that there is not."""
        done = [line.entry.status for line in self.lines if line.entry.status is not None]
        failed = self.status == "failed"
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": {"object": "list", "data": self.problems} if failed else None,
            "input_file_id": self.file,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.files.get("output", missing),
            "error_file_id": self.files.get("error", missing),
            "created_at": self.created,
            "request_counts": {
                "total": 0 if failed or self.status == "validating" else len(self.lines),
                "completed": done.count(200),
                "failed": len(done) - done.count(200),
            },
            "metadata": self.metadata,
        }


class Batches:
    """The files and batches of an endpoint. A queue holds what becomes of the next batch, of the
    one after it, and so on; None for one that is left alone."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.polls = 0  # how often a batch is asked for before it has ended
        self.expires: deque[int | None] = deque()  # after so many of its requests
        self.cancels: deque[int | None] = deque()  # likewise
        self.fails: deque[tuple[str, str] | None] = deque()  # with this code and message
        # Of a line's body: its error, or how its answer is spoiled.
        self.line_faults: Callable[[Any], ApiError | Fault | None] | None = None
        self.loses = 0  # so many replies to the creation of a batch
        self.loses_files = 0  # so many replies to an upload
        self.breaks = 0  # so many downloads end in their middle
        self.refuses: ApiError | None = None  # what the creation of a batch is answered
        self.pending = 0  # so many GETs of a file until it can be used, as Azure's
        self.late = 0  # so many lists of batches leave out the newest
        self.disturbs: deque[ApiError] = deque()  # what the next GETs are answered
        self.token_limit: int | None = None  # over the batches that have not ended
        # How a batch is shown, and what is in a file of replies; `batch_profiles` has examples.
        self.shows: Callable[[Batch, dict[str, Any]], dict[str, Any]] = lambda batch, shown: shown
        self.writes: Callable[[list[dict[str, Any]]], bytes] = written
        # What the so-manieth download of a file gets.
        self.downloads: Callable[[int, bytes], bytes] = lambda time, content: content
        self.unknown = 0  # so many GETs of a batch do not find it
        self.unread = 0  # so many creations of a batch do not find the file
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, tuple[dict[str, Any], bytes]] = {}
        self._endpoint = endpoint
        self._kept = 0
        self._downloads: Counter[str] = Counter()
        self._repeated: list[tuple[Line, Line]] = []
        self._before: dict[str, list[Line]] = defaultdict(list)

    # --- what tests ask ---

    @property
    def requests(self) -> list[Line]:
        """The requests of all batches that were accepted, in the order of arrival."""
        accepted = (batch for batch in self.batches.values() if batch.status != "failed")
        return [line for batch in accepted for line in batch.lines]

    @property
    def sent(self) -> int:
        return len(self.requests)

    def by_step(self) -> dict[str, dict[str, int]]:
        """Step → calls, prompt tokens and completion tokens of what was answered."""
        return by_step(line.entry for line in self.requests)

    def repeated(self) -> list[tuple[Line, Line]]:
        """Return the pairs of requests of one body, or of one `custom_id`, in two batches, where
        the first had an answer, or could still get one, when the second came."""
        return [pair for pair in self._repeated if pair[1].batch.status != "failed"]

    # --- what clients ask ---

    def reply(self, request: HttpRequest) -> Any:
        """Return what a request for files or batches is answered, None where it is for others."""
        azure = bool(self._endpoint.switches.azure)
        query = {name: values[-1] for name, values in parse_qs(request.query).items()}
        _, root, *rest = request.path.split("/")
        if root != ("openai" if azure else "v1") or azure != ("api-version" in query):
            return None
        if request.method == "GET" and self.disturbs:
            raise self.disturbs.popleft()
        match (request.method, *rest):
            case ("POST", "files"):
                return self._upload(request)
            case ("GET", "files", name):
                self.pending = max(self.pending - 1, 0)
                return self._file(name)[0] | self._readiness
            case ("GET", "files", name, "content"):
                self._downloads[name] += 1
                return self.downloads(self._downloads[name], self._file(name)[1])
            case ("DELETE", "files", name):
                del self.files[self._file(name)[0]["id"]]
                return {"id": name, "object": "file", "deleted": True}
            case ("POST", "batches"):
                return self._create(json.loads(request.body))
            case ("GET", "batches"):
                listed = [self._payload(batch) for batch in self.batches.values()]
                if self.late:
                    self.late -= 1
                    listed.pop()
                return _page(listed, query)
            case ("GET", "batches", name):
                if self.unknown:
                    self.unknown -= 1
                    raise ApiError(404, f"No batch found with id '{name}'.")
                self._go_on(self._batch(name))
                return self._payload(self._batch(name))
        return None

    def _payload(self, batch: Batch) -> dict[str, Any]:
        return self.shows(batch, batch.payload("" if self._endpoint.switches.azure else None))

    def _file(self, name: str) -> tuple[dict[str, Any], bytes]:
        if name not in self.files:
            raise ApiError(404, f"No such File object: {name}", param="id")
        return self.files[name]

    def _batch(self, name: str) -> Batch:
        if name not in self.batches:
            raise ApiError(404, f"No batch found with id '{name}'.")
        return self.batches[name]

    def _upload(self, request: HttpRequest) -> dict[str, Any]:
        form = _form(request)
        if form.get("purpose", ("", b""))[1] != b"batch":
            raise bad("Invalid value for 'purpose'.", "purpose")
        about = self._keep(*form["file"]) | self._readiness
        if self.loses_files:
            self.loses_files -= 1
            raise LostReply
        return about

    @property
    def _readiness(self) -> dict[str, str]:
        return {"status": "pending" if self.pending else "processed"}

    def _keep(self, filename: str, content: bytes) -> dict[str, Any]:
        self._kept += 1
        about = {"id": f"file-{self._kept:024x}", "object": "file", "filename": filename}
        self.files[about["id"]] = about, content
        return about

    def _create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if self.refuses is not None:
            raise self.refuses
        azure = self._endpoint.switches.azure
        if asked.get("endpoint") != ("/chat/completions" if azure else "/v1/chat/completions"):
            raise bad(f"Invalid value: {asked.get('endpoint')!r}.", "endpoint", "invalid_value")
        if asked.get("completion_window") != "24h":
            raise bad("Invalid value: supported is '24h'.", "completion_window", "invalid_value")
        metadata = asked["metadata"]
        assert all(len(name) <= 64 and len(value) <= 512 for name, value in metadata.items())
        if self.pending:
            raise bad("The file is not processed yet.", "input_file_id")
        name = asked.get("input_file_id")
        if self.unread:
            self.unread -= 1
            raise bad(f"No such File object: {name}", "input_file_id")
        if name not in self.files:
            raise bad(f"Cannot find file {name}, or it is not yours.", "file_id")
        batch = Batch(f"batch_{len(self.batches):032x}", name, asked["endpoint"], metadata)
        self.batches[batch.id] = batch
        self._read(batch, self.files[name][1])
        if self.fails and (fails := self.fails.popleft()) and not batch.problems:
            batch.problems = [_problem(*fails)]
        for end, queue in (("expired", self.expires), ("cancelled", self.cancels)):
            if queue and (stop := queue.popleft()) is not None:
                batch.stops, batch.end = stop, end
        if self.loses:
            self.loses -= 1
            raise LostReply
        return self._payload(batch)

    def _read(self, batch: Batch, content: bytes) -> None:
        """Read the lines of a batch's file, and note what is wrong with them."""
        batch.problems = [*_problems(content, batch.endpoint, self._known)][:100]
        if batch.problems:
            return
        for text in content.splitlines():
            line = json.loads(text)
            entry = Logged(batch.endpoint, "", line["body"], time.monotonic(), 0, 0)
            batch.lines.append(Line(batch, line["custom_id"], entry))
        batch.tokens = sum(tokens.prompt_tokens(line.body) for line in batch.lines)
        running = (other for other in self.batches.values() if other.status not in ENDED)
        limit = self.token_limit
        if limit is not None and sum(one.tokens for one in running if not one.problems) > limit:
            message = (
                f"Enqueued token limit reached for {batch.lines[0].body['model']} in organization "
                f"org-test. Limit: {limit:,} enqueued tokens. Please try again once some "
                "in_progress batches have been completed."
            )
            batch.problems = [_problem("token_limit_exceeded", message)]
        for line in batch.lines:
            for key in (json.dumps(line.body, sort_keys=True), line.custom_id):
                for first in self._before[key]:
                    waits = first.entry.status is None and first.batch.status not in ENDED
                    other = first.batch is not batch
                    if other and (waits or first.entry.status == 200):
                        self._repeated.append((first, line))
                self._before[key].append(line)

    @property
    def _known(self) -> Sequence[str]:
        """The models that there are."""
        azure = self._endpoint.switches.azure
        return (azure,) if azure else self._endpoint.models

    def _go_on(self, batch: Batch) -> None:
        """Do what is done between two looks at a batch."""
        if batch.status in ENDED:
            batch.looks += 1
            return
        if batch.problems:
            batch.status = "failed"
            return
        batch.seen += 1
        batch.status = "in_progress"
        stops = len(batch.lines) if batch.stops is None else min(batch.stops, len(batch.lines))
        for line in batch.lines[: stops * batch.seen // (self.polls + 1)]:
            if line.entry.status is None:
                self._ask(line)
        if batch.seen > self.polls:
            self._finish(batch)

    def _ask(self, line: Line) -> None:
        try:
            fault = self.line_faults(line.body) if self.line_faults is not None else None
            if isinstance(fault, ApiError):
                raise fault
            body = self._endpoint.answer(line.body, line.entry, fault)
            line.entry.status = 200
        except ApiError as error:
            line.entry.status, body = error.status, error.payload()
        except Exception as error:
            line.entry.status, body = 500, broken(error).payload()
        request = hashlib.sha256(f"{line.batch.id}/{line.custom_id}".encode()).hexdigest()[:32]
        line.output = {"status_code": line.entry.status, "request_id": request, "body": body}

    def _finish(self, batch: Batch) -> None:
        files: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for number, line in reversed([*enumerate(batch.lines)]):
            error = None
            if line.entry.status is None:
                error = {"code": f"batch_{batch.end}", "message": _LEFT[batch.end]}
            row = {
                "id": f"batch_req_{batch.id[-8:]}{number:08x}",
                "custom_id": line.custom_id,
                "response": line.output or None,
                "error": error,
            }
            line.output = {}
            kind = "output" if line.entry.status == 200 else "error"
            files[kind].append(row)
        for kind, rows in files.items():
            about = self._keep(f"{batch.id}_{kind}.jsonl", self.writes(rows))
            batch.files[kind] = about["id"]
        batch.status = batch.end


def written(rows: list[dict[str, Any]]) -> bytes:
    """The rows as lines of JSON."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def _problem(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "line": line, "param": None}


def _problems(content: bytes, endpoint: str, known: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what the API has against an input file."""
    lines = [json.loads(text) for text in content.splitlines()]
    if not lines:
        yield _problem("empty_file", "The input file is empty.")
    names = Counter(line["custom_id"] for line in lines)
    for number, line in enumerate(lines, 1):
        name, model = line["custom_id"], line["body"].get("model")
        if line["method"] != "POST" or line["url"] != endpoint:
            message = "The URL provided for this request does not match the batch endpoint."
            yield _problem("url_mismatch", message, number)
        if names[name] > 1:
            message = f"The custom_id '{name}' of this request is a duplicate of another one."
            yield _problem("duplicate_custom_id", message, number)
        if model not in known:
            message = f"The provided model '{model}' is not supported by the Batch API."
            yield _problem("model_not_found", message, number)
        if model != lines[0]["body"].get("model"):
            message = "The models of the requests differ: a batch is for one model."
            yield _problem("model_mismatch", message, number)


def _page(rows: Sequence[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
    """A page of a list, the newest first."""
    newest = list(reversed(rows))
    ids = [row["id"] for row in newest]
    limit = int(query.get("limit", 20))
    start = ids.index(query["after"]) + 1 if "after" in query else 0
    shown = newest[start : start + limit]
    return {"object": "list", "data": shown, "has_more": start + limit < len(newest)}


def _form(request: HttpRequest) -> dict[str, tuple[str, bytes]]:
    """Name → file name and content of the parts of a form."""
    boundary = request.headers.get("content-type", "").partition("boundary=")[2].strip('"')
    form = {}
    for part in request.body.split(f"--{boundary}".encode())[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        fields = dict(re.findall(r'(\w+)="([^"]*)"', head.decode()))
        form[fields["name"]] = fields.get("filename", ""), content.removesuffix(b"\r\n")
    return form
