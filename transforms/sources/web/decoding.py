"""Bodies under a cap, in whichever content coding: a bomb stops where it passes the cap."""

import zlib
from collections.abc import AsyncIterator, Callable
from typing import Final

ACCEPTED: Final = "gzip, deflate"
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS}


class TooLarge(Exception):
    """A body is over the cap, as it came or decoded."""


class Undecodable(Exception):
    """A body is in a coding that was not asked for, or broken."""


async def read_body(parts: AsyncIterator[bytes], coding: str, most: int) -> bytes:
    """Return a body decoded, of at most `most` bytes before and after decoding.

    `coding` is the Content-Encoding header. Never holds more than the cap and one part of the
    stream (64 KiB): a decoder is asked for no more than there is still room for.

    Raises:
        TooLarge, Undecodable: see there.
    """
    decode = _decoder(coding)
    came = 0
    body = bytearray()
    async for part in parts:
        came += len(part)
        if came > most:
            raise TooLarge
        body += decode(part, most - len(body) + 1)
        if len(body) > most:
            raise TooLarge
    return bytes(body)


def _decoder(coding: str) -> Callable[[bytes, int], bytes]:
    names = [name.strip().lower() for name in coding.split(",") if name.strip()]
    names = [name for name in names if name != "identity"]
    if not names:
        return lambda part, room: part
    # Codings upon each other multiply what a bomb can do, and no server of pages needs them.
    if len(names) > 1 or names[0] not in (*_WINDOWS, "deflate"):
        raise Undecodable(coding)
    return _Inflating(_WINDOWS.get(names[0])).decode


class _Inflating:
    """`deflate` is zlib's format by RFC 9110, and raw deflate with some servers."""

    def __init__(self, window: int | None) -> None:
        self._inflate = zlib.decompressobj(window) if window else None

    def decode(self, part: bytes, room: int) -> bytes:
        if self._inflate is None and part:
            zlibs = part[0] & 0x0F == 8
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS if zlibs else -zlib.MAX_WBITS)
        if self._inflate is None or self._inflate.eof:
            return b""
        try:
            return self._inflate.decompress(self._inflate.unconsumed_tail + part, room)
        except zlib.error as error:
            raise Undecodable(str(error)) from None
