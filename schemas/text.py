"""Make texts from outside safe to store and to show.

All text from outside passes through here: input, references, service requests, documents of an
index, replies of models and of the web. Where such texts are shown, a spreadsheet must not run them
and a terminal must not obey them.
"""

import codecs
import os
import re
import shlex
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

REPLACEMENT: Final = "\ufffd"
_UNSTORABLE: Final = re.compile("[\ud800-\udfff\x00]")
_FORMULA: Final = r"^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""The beginning of a text that a spreadsheet takes for a formula, also after an apostrophe."""
_STARTS = re.compile(_FORMULA)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Characters that control a terminal or the order of letters (C0, escape, C1 and bidi controls),
and what stands for a byte that is not UTF-8."""


_MARKS: Final = (  # the longer first, since one of UTF-32 begins as one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


_FIRST_BYTES: Final = frozenset(mark[:1] for mark, _ in _MARKS)


def marked_encoding(head: bytes) -> str | None:
    """Return the encoding that a byte order mark names; None without one, or for UTF-8."""
    if head[:1] not in _FIRST_BYTES:  # fast path, for most texts
        return None
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def decode(body: bytes, where: str = "") -> str:
    """Decode a text in UTF-8, or in the encoding that its byte order mark names.

    `where` says in the message to what the bytes belong.

    Raises:
        ValueError: it is in another encoding; the message says what to do.
    """
    encoding = marked_encoding(body) or "utf-8"
    try:
        return body.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        named = encoding.upper()
        raise ValueError(
            f"not {named}: byte {error.start + 1}{where} is invalid; convert a file in another "
            "encoding, as by `iconv -f windows-1252 -t utf-8`"
        ) from None


def replace_nul(value: Any) -> Any:
    """Return a JSON value with U+FFFD for each NUL in its texts; offsets stay the same."""
    if isinstance(value, str):
        return value.replace("\0", REPLACEMENT)
    if isinstance(value, list):
        return [replace_nul(item) for item in value]
    if isinstance(value, dict):
        return {replace_nul(key): replace_nul(item) for key, item in value.items()}
    return value


def storable(text: str) -> str:
    """Return the text with U+FFFD for each NUL and each lone surrogate."""
    if text.isascii() and "\0" not in text:  # fast path, for most texts
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


def quantity(n: int, noun: str, several: str = "") -> str:
    """Return a number with its noun: `1 claim`, `2 claims`; `several` is an irregular plural."""
    return f"{n:,} {noun if n == 1 else several or f'{noun}s'}"


def escape_formula(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would run it as a formula.

    A formula after apostrophes gets another one. A number stays unchanged."""
    return f"'{text}" if _STARTS.match(text) and not _NUMBER.fullmatch(text) else text


def unescape_formula(text: str) -> str:
    """Return the original of a text that `escape_formula` returned."""
    return text[1:] if escape_formula(text[1:]) == text else text


def is_utf8(text: str) -> bool:
    """Return whether an argument or a file's name is UTF-8; if not, it has lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escaped(text: str) -> str:
    r"""Return the text with each byte that is not UTF-8 escaped as in `repr` (`\udcff`)."""
    return text.encode(errors="backslashreplace").decode()


def shell_command(words: Iterable[str]) -> str:
    """Return a command line for a shell; only bash and zsh read a word that is not UTF-8."""
    return " ".join(shlex.quote(word) if is_utf8(word) else _in_bytes(word) for word in words)


def _in_bytes(word: str) -> str:
    shown = (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in os.fsencode(word))
    return "$'" + "".join(f"\\{one}" if one in "'\\" else one for one in shown) + "'"


def visible(text: str) -> str:
    """Return the text with all control characters but line ends and tabs escaped (`\\x1b`)."""
    return _STEERING.sub(lambda found: _written(found[0]), text)


_PASSWORD: Final = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]+@")
_SECRET: Final = re.compile(
    r"\b(sig|signature|password|secret|[\w-]*(?:account_?key|access_?key|api_?key|token|credential"
    r"|-signature|shared_?access_?signature))=[^&;\s'\"]+",
    re.IGNORECASE,
)


def hide_secrets(text: str) -> str:
    """Return a text with `…` in place of passwords and keys in addresses and connection strings.

    `container@account` is no password.
    """
    return _SECRET.sub(r"\1=…", _PASSWORD.sub("…@", text))


def escaped_json(text: str) -> str:
    r"""Return the JSON with control characters escaped (`\u009b`): the same value."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _written(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


_LONGEST: Final = 253  # characters of a name in the DNS (RFC 1035); of a label, 63
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_PATTERN = re.compile(r"[a-z0-9_*?-]{1,63}(?:\.[a-z0-9_*?-]{1,63})*")


def host_named(name: str | None, wild: bool = False) -> str:
    """Return a host in lower case, in ASCII (IDNA), without a final dot; "" if it is invalid.

    A host is an address, or non-empty labels with dots between them. With `wild`, labels may have
    `*` and `?`.
    """
    host = (name or "").strip().lower().removesuffix(".")
    if len(host) > _LONGEST:
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return ""
    if (_PATTERN if wild else _NAME).fullmatch(host):
        return host
    address = host.removeprefix("[").removesuffix("]")
    return address if is_address(address) else ""


def host_of(url: str | None) -> str:
    """Return the host of a URL as `host_named` writes it; "" if it has none."""
    try:
        return host_named(urlsplit(url).hostname) if url else ""
    except ValueError:
        return ""


def host_in(authority: str) -> str:
    """Return the host of `host` or `host:port`, as in a header; "" if it is invalid."""
    url = f"//{authority}"
    try:
        _ = urlsplit(url).port
    except ValueError:
        return ""
    return "" if any(one in authority for one in "@/?#\\") else host_of(url)


def is_address(host: str) -> bool:
    """Return whether a host is an IP address, and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
