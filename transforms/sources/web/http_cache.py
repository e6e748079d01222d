"""Pages as HTTP caching has them (RFC 9111, by hishel), kept in the store of all answers."""

import base64
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Final

from hishel import AsyncBaseStorage, Entry, Headers, Request, Response

from ufo.transforms.llm.memory import Memory, key_of

_MOST_BYTES: Final = 1024 * 1024
_VARIANTS: Final = 4  # of one URL, by what the reply varies with
# Without any of these a reply can neither be given again nor asked about.
_USEFUL: Final = ("cache-control", "etag", "expires", "last-modified")


class StoredPages(AsyncBaseStorage):
    """hishel's storage over the memory that keeps searches and completions.

    A reply of over 1 MiB is not kept, nor one whose body was not read to its end, nor one that HTTP
    caching could never use. What comes from here needs no connection, so pages of private hosts
    have a `space` of their own.
    """

    def __init__(self, memory: Memory, space: str = "") -> None:
        super().__init__(max_stream_size=_MOST_BYTES)
        self._memory = memory
        self._space = space
        self._keys: dict[uuid.UUID, str] = {}

    async def create_entry(
        self,
        request: Request,
        response: Response,
        key: str,
        *,
        ttl: float | None = None,
        tti: float | None = None,
    ) -> Entry:
        """Return the entry; it is kept once its stream was read to the end."""
        entry = Entry(uuid.uuid4(), request, response)
        if not any(name in response.headers for name in _USEFUL):
            return entry
        saving = replace(response, stream=self._saving(entry, key))
        return replace(entry, response=saving)

    async def get_entries(self, key: str) -> list[Entry]:
        """Return what is kept of a URL."""
        entries = [_read(value) for value in await self._kept(key)]
        found = [entry for entry in entries if entry is not None]
        self._keys |= {entry.id: key for entry in found}
        return found

    async def update_headers(self, id: uuid.UUID, headers: Headers) -> None:
        """Keep the headers of a reply that was found to be still good."""
        key = self._keys.get(id)
        if key is not None:
            kept = await self._kept(key)
            for value in kept:
                if value.get("id") == id.hex:
                    value["headers"] = _lists(headers)
            await self._put(key, kept)

    async def remove_entry(self, id: uuid.UUID) -> None:
        """Forget a reply."""
        key = self._keys.pop(id, None)
        if key is not None:
            kept = await self._kept(key)
            await self._put(key, [value for value in kept if value.get("id") != id.hex])

    async def _saving(self, entry: Entry, key: str) -> AsyncIterator[bytes]:
        stream = entry.response.stream
        assert isinstance(stream, AsyncIterator)
        body: bytearray | None = bytearray()
        async for part in stream:
            if body is not None:
                body += part
                if len(body) > _MOST_BYTES:
                    body = None
            yield part
        if body is not None:
            fresh = _written(entry, bytes(body))
            others = await self._kept(key)
            await self._put(key, [fresh, *others][:_VARIANTS])

    async def _kept(self, key: str) -> list[dict[str, Any]]:
        stored = key_of("p", self._space, key)
        value = (await self._memory.get_many([stored])).get(stored)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

    async def _put(self, key: str, values: list[dict[str, Any]]) -> None:
        await self._memory.put_many({key_of("p", self._space, key): values})


def _written(entry: Entry, body: bytes) -> dict[str, Any]:
    return {
        "id": entry.id.hex,
        "method": entry.request.method,
        "url": entry.request.url,
        "asked": _lists(entry.request.headers),
        "status": entry.response.status_code,
        "headers": _lists(entry.response.headers),
        "body": base64.b64encode(body).decode(),
    }


def _read(value: dict[str, Any]) -> Entry | None:
    try:
        body = base64.b64decode(value["body"])
        request = Request(value["method"], value["url"], Headers(value["asked"]))
        response = Response(value["status"], Headers(value["headers"]), _stream(body))
        return Entry(uuid.UUID(value["id"]), request, response)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


async def _stream(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _lists(headers: Headers) -> dict[str, list[str]]:
    return {name: list(headers.get_list(name) or ()) for name in headers}
