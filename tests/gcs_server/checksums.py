"""The checksums that the service keeps of an object, as base64."""

from base64 import b64encode
from hashlib import md5

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_entry(byte) for byte in range(256)]


def crc32c(data: bytes) -> str:
    """Return the CRC-32C of the bytes, big-endian."""
    found = 0xFFFFFFFF
    for byte in data:
        found = _TABLE[(found ^ byte) & 0xFF] ^ found >> 8
    return b64encode((found ^ 0xFFFFFFFF).to_bytes(4, "big")).decode()


def md5_hash(data: bytes) -> str:
    """Return the MD5 of the bytes."""
    return b64encode(md5(data, usedforsecurity=False).digest()).decode()
