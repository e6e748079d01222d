"""The server: an OpenAI endpoint on 127.0.0.1, on a loop and a thread of its own.

    with LlmServer() as server:
        client = AsyncOpenAI(base_url=server.base_url, api_key=server.key)

`server.requests` has every request with its body, in the order of arrival; `server.faults` is the
queue of what to do wrong next; `server.switches` is what the endpoint can do; `server.batches`
has the files and batches, `server.embeddings` the vectors.
"""

import asyncio
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

from . import chat as chats
from . import faults, http, shapes, tokens
from .answerers import Answerer, Anything, Kinds, Knowledge, Probe, reply_to
from .batches import Batches, LostReply
from .contexts import STATEMENTS
from .embeddings import Embeddings
from .errors import ApiError, bad, broken, no_key, unknown_model, unknown_path, wrong_key
from .log import Logged, by_step
from .offline import OfflineAnswers

KEY = "sk-test-0123456789abcdef"
MODELS = ("offline-judge", "offline-judge-small", "offline-knowledge")
_UNREAD = 40  # tokens of a prompt that are counted where the rest was read before


class LlmServer:
    """An endpoint that answers by `answerers`, the first that matches."""

    def __init__(
        self,
        answerers: Sequence[Answerer] = (),
        switches: chats.Switches | None = None,
        models: Sequence[str] = MODELS,
        keys: Sequence[str] | None = (KEY,),
    ) -> None:
        """`keys` None takes any key and none. `answerers` go before those that the server has."""
        self.judge = OfflineAnswers()
        self.knowledge = Knowledge()
        self.answerers = (*answerers, Probe(), Kinds(), self.judge, self.knowledge, Anything())
        self.switches = switches or chats.Switches()
        self.models = list(models)
        self.keys = keys
        self.key = keys[0] if keys else "none"
        self.requests: list[Logged] = []
        self.faults: deque[faults.Fault | None] = deque()
        self.mix: faults.Mix | faults.Stops | shapes.Every | None = None
        self.batches = Batches(self)
        self.embeddings = Embeddings()
        self.latency: Callable[[], float] = faults.fixed(0.0)
        # Called with each request that was carried out, before its reply is sent.
        self.carried_out: Callable[[http.HttpRequest], None] | None = None
        self.max_in_flight = 0
        self.connections = 0
        self.base_url = ""
        self._in_flight = 0
        self._answered = 0
        self._samples: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="llm-server", daemon=True)

    def __enter__(self) -> "LlmServer":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    # --- what tests ask ---

    @property
    def chats(self) -> list[Logged]:
        """The requests for a completion."""
        return [entry for entry in self.requests if entry.path.endswith("/chat/completions")]

    def by_step(self) -> dict[str, dict[str, int]]:
        """Step → calls, prompt tokens and completion tokens of what was answered."""
        return by_step(self.chats)

    # --- the thread ---

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(
            self._connection, "127.0.0.1", 0, backlog=2048, limit=2**20
        )
        host, port = server.sockets[0].getsockname()
        self.base_url = f"http://{host}:{port}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own, so that stopping the server can end it without a word on stderr.
        self.connections += 1
        task = self._loop.create_task(self._talk(reader, writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> None:
        try:
            while (request := await http.read_request(reader)) is not None:
                self._in_flight += 1
                self.max_in_flight = max(self.max_in_flight, self._in_flight)
                try:
                    keep = await self._exchange(request, reader, writer, connection)
                finally:
                    self._in_flight -= 1
                if not keep:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client went away: its right.
        finally:
            writer.close()

    async def _exchange(
        self,
        request: http.HttpRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        connection: int,
    ) -> bool:
        """Answer a request, or do what its fault says; return whether the connection is kept."""
        entry = self._logged(request, connection)
        about_models = request.method == "GET" or request.path.startswith("/api/")
        fault = None if about_models else self._fault(request)
        entry.fault = fault.kind if fault else None
        kind = entry.fault or ""
        if seconds := self.latency():
            await asyncio.sleep(seconds)
        if kind == faults.RESET:
            http.reset(writer)
            return False
        if kind == faults.HANG:
            await reader.read(1)
            return False
        try:
            response = self._response(request, entry, fault)
        except LostReply:
            http.reset(writer)
            return False
        if self.carried_out is not None:
            self.carried_out(request)
        head, body = response.encoded()
        if fault and kind == "html":
            page = b"<html><body><h1>Bad gateway</h1></body></html>"
            html = {"content-type": "text/html"}
            head, body = http.HttpResponse(fault.value, None, html).encoded(page)
        if kind == faults.TRUNCATED_BODY:
            head, body = response.encoded(body[: len(body) // 2])
        if isinstance(response.payload, bytes) and self.batches.breaks:
            self.batches.breaks -= 1
            writer.write(head + body[: len(body) // 2])
            await writer.drain()
            return False
        # Known before the client can go on: a test may read it as soon as its call returns.
        entry.status = fault.value if fault and kind == "html" else response.status
        if fault and kind == faults.DRIP:
            await _drip(writer, head, body, fault.value)
        else:
            writer.write(head + body)
            await writer.drain()
        entry.ended = time.monotonic()
        return request.keep_alive

    def _logged(self, request: http.HttpRequest, connection: int) -> Logged:
        try:
            body = json.loads(request.body) if request.body else None
        except ValueError:
            body = None
        fields = request.headers.get("authorization", ""), body, time.monotonic()
        entry = Logged(request.path, *fields, self._in_flight, connection)
        entry.query, entry.headers = request.query, request.headers
        self.requests.append(entry)
        return entry

    def _fault(self, request: http.HttpRequest) -> faults.Fault | None:
        if self.faults:
            return self.faults.popleft()
        return self.mix.next(request.body) if self.mix else None

    # --- the answer ---

    def _response(
        self, request: http.HttpRequest, entry: Logged, fault: faults.Fault | None
    ) -> http.HttpResponse:
        headers = {"x-request-id": f"req_{len(self.requests):032x}"}
        try:
            payload = self._payload(request, entry, fault)
            if isinstance(entry.body, dict) and entry.body.get("stream"):
                return http.HttpResponse(200, http.Events(payload), headers)
            return http.HttpResponse(200, payload, headers)
        except ApiError as error:
            payload = error.payload()
            if error.status == 200:
                body = payload if error.body is not None else {"error": payload["error"]}
                return http.HttpResponse(200, body, headers)
            if not self.switches.named_errors and error.status == 400:
                payload = {"error": {"message": "bad request", "type": "error", "code": 400}}
            return http.HttpResponse(error.status, payload, headers | dict(error.headers))
        except Exception as error:
            if isinstance(error, LostReply):
                raise
            return http.HttpResponse(500, broken(error).payload(), headers)

    def _payload(self, request: http.HttpRequest, entry: Logged, fault: faults.Fault | None) -> Any:
        self._authorise(request)
        route = (request.method, request.path)
        if self.switches.states:
            at, states = STATEMENTS[self.switches.states]
            if route == at:
                return states(self.models[0], self.switches.context)
        if route == ("GET", "/v1/models"):
            listed = [{"id": name, "object": "model", "owned_by": "ufo"} for name in self.models]
            return {"object": "list", "data": listed}
        if fault and (error := faults.error_of(fault)):
            raise error
        if (reply := self.batches.reply(request)) is not None:
            return reply
        if route == ("POST", "/v1/embeddings"):
            return self.embeddings.answer(entry.body)
        completions = "/v1/chat/completions"
        if self.switches.azure:
            completions = f"/openai/deployments/{self.switches.azure}/chat/completions"
        if route != ("POST", completions) or bool(self.switches.azure) != bool(request.query):
            raise unknown_path(request.method, request.path)
        return self.answer(entry.body, entry, fault)

    def answer(self, body: Any, entry: Logged, fault: faults.Fault | None) -> dict[str, Any]:
        """Return the completion that a request, or a line of a batch, gets."""
        self._check(body, entry)
        return self._completion(body, entry, fault)

    def _check(self, body: Any, entry: Logged) -> None:
        named = body.get("model") if isinstance(body, dict) else None
        if isinstance(body, dict) and named not in self.models and not self.switches.azure:
            if not isinstance(body.get("model"), str):
                raise bad("Missing required parameter: 'model'.", "model")
            raise unknown_model(body["model"])
        chats.check(body, self.switches)
        entry.prompt_tokens = chats.read_tokens(body, self.switches)

    def _authorise(self, request: http.HttpRequest) -> None:
        if self.keys is None:
            return
        authorization = request.headers.get("authorization", "")
        if self.switches.azure:
            authorization = f"Bearer {request.headers.get('api-key', '')}"
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise no_key()
        if key not in self.keys:
            raise wrong_key(key)

    def _completion(
        self, body: dict[str, Any], entry: Logged, fault: faults.Fault | None
    ) -> dict[str, Any]:
        wanted = chats.choices_wanted(body, self.switches)
        if fault and fault.kind == "ignored_n":
            wanted = 1
        prompt = json.dumps(body["messages"], ensure_ascii=False)
        choices = []
        for index in range(wanted):
            chat = chats.read(body, self.switches, self._samples[prompt])
            self._samples[prompt] += 1
            cut = entry.prompt_tokens < tokens.prompt_tokens(body)
            # A model that lost the question still says something, in the form asked for.
            reply = reply_to(chat, (Anything(),) if cut else self.answerers)
            entry.step = reply.step
            choice, cost = chats.choice(index, reply, chat, body, self.switches)
            entry.completion_tokens += cost
            if fault:
                faults.spoil(fault, choice)
            if fault and fault.kind == "shape":
                shapes.spoil(fault.value, choice)
            choices.append(choice)
        if fault and fault.kind == "no_choices":
            choices = []
        self._answered += 1
        counted = entry.prompt_tokens
        if self.switches.uncached:
            counted = min(counted, _UNREAD)
        return {
            "id": f"chatcmpl-{self._answered:024x}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model", self.switches.azure),
            "choices": choices,
            "usage": {
                "prompt_tokens": counted,
                "completion_tokens": entry.completion_tokens,
                "total_tokens": counted + entry.completion_tokens,
            },
        }


async def _drip(writer: asyncio.StreamWriter, head: bytes, body: bytes, seconds: float) -> None:
    writer.write(head)
    for start in range(0, len(body), 8):
        writer.write(body[start : start + 8])
        await writer.drain()
        await asyncio.sleep(seconds)
