"""Refuse the URLs and addresses that are not of the public web.

A host name does not show its address, which may change a moment later (DNS rebinding). So only the
form of a URL is checked here. Addresses are checked where the connection is made
(`ufo.transforms.sources.web.transport`). The refused ranges are the special ones of the IANA
registries (RFC 6890), as in Python's `ipaddress`, and addresses that contain such an address.
"""

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from ufo.schemas.text import host_of

PORTS: Final = frozenset({80, 443, 8000, 8008, 8080, 8443, 8888})
_LONGEST: Final = 4096

Address = IPv4Address | IPv6Address

_NAT64: Final = IPv6Network("64:ff9b::/96")
_UNICAST: Final = IPv6Network("2000::/3")
# Ranges that Python does not know as special: metadata and DNS of clouds, relays of 6to4, and
# ranges that were registered later.
_INTERNAL: Final = (
    *map(ip_network, ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24")),
    *map(ip_network, ("2001::/23", "2002::/16", "3fff::/20")),
)
_ISATAP: Final = (0x00005EFE, 0x02005EFE)  # RFC 5214, before the last 32 bits


class RefusedAddress(Exception):
    """An error for a URL or address from which no page is fetched; the message says why."""


def checked_url(url: str, allow_private: bool = False) -> str:
    """Return the URL to request, without its fragment.

    Ports other than those of web servers are refused as well, unless `allow_private`.

    Raises:
        RefusedAddress: it is not an http(s) URL, or one with a user name, an odd port or control
            characters.
    """
    url = url.strip(" ")
    if len(url) > _LONGEST or any(ord(c) < 32 or ord(c) == 127 or c == "\\" for c in url):
        raise RefusedAddress("the URL is over 4096 characters, or has ones that no URL has")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise RefusedAddress(f"no URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise RefusedAddress(f"the scheme {parts.scheme!r} is neither http nor https")
    if " " in parts.netloc:
        raise RefusedAddress("the host has a space in it")
    if "@" in parts.netloc:
        raise RefusedAddress("the URL holds a user name")
    if not host_of(url):
        raise RefusedAddress("the URL names no host")
    if port == 0 or (port is not None and port not in PORTS and not allow_private):
        ports = ", ".join(map(str, sorted(PORTS)))
        raise RefusedAddress(f"port {port} is none of a web server ({ports})")
    return url.partition("#")[0]


def literal(host: str) -> Address | None:
    """Return the address that a host spells, as a resolver would read it; None for a name.

    Most resolvers (`inet_aton`) also accept other spellings of an IPv4 address: one number, octal
    or hexadecimal parts, or fewer than four parts. They are read here in the same way on every
    system.
    """
    host = host.strip("[]").rstrip(".")
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host)) if host.isascii() and " " not in host else None
    except OSError:
        return None


def why_refused(address: Address) -> str | None:
    """Return why no page is fetched from an address, as its kind; None for a public address."""
    if isinstance(address, IPv6Address):
        return _why_refused_6(address)
    if any(address in network for network in _INTERNAL if network.version == 4):
        return "an internal address of a network"
    return _kind(address)


def _why_refused_6(address: IPv6Address) -> str | None:
    if address.ipv4_mapped is not None:
        inner = why_refused(address.ipv4_mapped)
        return inner and f"{inner} mapped into IPv6"
    if address in _NAT64:
        # NAT64, the way to IPv4 from IPv6 networks: the inner address counts.
        inner = why_refused(IPv4Address(int(address) & 0xFFFFFFFF))
        return inner and f"{inner} behind NAT64"
    if any(address in network for network in _INTERNAL if network.version == 6):
        return "an address for another use (6to4, Teredo, documentation)"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "an address that contains another one (ISATAP)"
    return _kind(address) or (None if address in _UNICAST else "no public address")


def _kind(address: Address) -> str | None:
    for kind in ("loopback", "unspecified", "link_local", "multicast", "private", "reserved"):
        if getattr(address, f"is_{kind}"):
            return f"a {kind.replace('_', '-')} address"
    return None if address.is_global else "no public address"
