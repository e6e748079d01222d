"""HTTP/1.1 over asyncio streams: as much of it as an API client speaks, keep-alive included."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""

    @property
    def keep_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


@dataclass(frozen=True, slots=True)
class Events:
    """A completion as a stream of server-sent events, a few characters of its text each."""

    completion: Mapping[str, Any]

    def encoded(self) -> bytes:
        chunks = []
        for choice in self.completion["choices"]:
            message = choice["message"]
            for delta in _deltas(message):
                chunks.append([{"index": choice["index"], "delta": delta, "finish_reason": None}])
            last = {"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}
            chunks.append([last])
        about = {name: self.completion[name] for name in ("id", "created", "model")}
        about["object"] = "chat.completion.chunk"
        events = [{**about, "choices": choices} for choices in chunks]
        events.append({**about, "choices": [], "usage": self.completion["usage"]})
        lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    text = message.get("content") or ""
    for start in range(0, len(text), 16):
        yield {"content": text[start : start + 16]}
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        head = {"name": function["name"], "arguments": ""}
        yield {
            "tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": head}]
        }
        for start in range(0, len(function["arguments"]), 16):
            part = {"arguments": function["arguments"][start : start + 16]}
            yield {"tool_calls": [{"index": index, "function": part}]}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    payload: Any
    headers: Mapping[str, str]

    def encoded(self, body: bytes | None = None) -> tuple[bytes, bytes]:
        """Head and body; `body` in place of the payload's JSON."""
        kind = "application/json"
        if isinstance(self.payload, Events):
            kind, body = "text/event-stream", self.payload.encoded() if body is None else body
        if isinstance(self.payload, bytes):
            kind, body = "application/octet-stream", self.payload if body is None else body
        if body is None:
            body = json.dumps(self.payload, ensure_ascii=False).encode()
        fields = {"content-type": kind, "content-length": str(len(body))}
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in (fields | dict(self.headers)).items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), body


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Return the next request of a connection, None where the client closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = path.partition("?")
    return HttpRequest(method, path, headers, body, query)


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST, as a crashed load balancer does, and not with an orderly FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
