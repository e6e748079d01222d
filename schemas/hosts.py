"""Parse names of hosts; every other module uses these functions."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

_LONGEST: Final = 253  # characters of a name in the DNS (RFC 1035); of a label, 63
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_PATTERN = re.compile(r"[a-z0-9_*?-]{1,63}(?:\.[a-z0-9_*?-]{1,63})*")


def host_named(name: str | None, wild: bool = False) -> str:
    """Return a host in lower case, in ASCII (IDNA), without a final dot; "" if it is invalid.

    A host is an address, or labels with dots between them, none of them empty; with `wild`, labels
    may have `*` and `?` in them.
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
