"""Explain why a request cannot reach an address, with the remedy: a proxy, a certificate, a name.

`remedies.yaml` has the causes, by the words of Python, OpenSSL and the HTTP packages.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ufo.transforms.llm.errors import table


@contextmanager
def client_errors(where: str, kind: Callable[[str], Exception]) -> Iterator[None]:
    """Raise an error in making a client for an address as `kind`, with the remedy.

    The cause may be an unusable proxy.
    """
    try:
        yield
    except Exception as error:  # of the environment, whatever it is: nothing was asked yet
        raise kind(explain_failure(where, error, proxies())[0]) from None


def explain_failure(
    where: str, error: Exception, proxy: str, reached: bool = False, address: str = "--base_url"
) -> tuple[str, bool]:
    """Return why requests cannot reach an address, with the remedy, and whether that is final.

    `address` is the flag or variable that sets the address.
    """
    chain = list(_chain(error))
    names = ": ".join(f"{type(one).__name__}: {one}" for one in chain)
    messages = [str(one) for one in chain if str(one)] or [type(chain[-1]).__name__]
    cause = re.sub(r"[^\s/@]*@", "***@", messages[-1])
    for row in table("remedies")["connections"]:
        if re.search(row["text"], names) and (proxy or not row.get("proxied")):
            variables = ("SSL_CERT_FILE", "SSL_CERT_DIR")
            files = (f"{name}={os.environ[name]}" for name in variables if os.environ.get(name))
            message = row["says"].format(
                where=where,
                cause=cause,
                proxy=proxy,
                address=address,
                certificates=next(files, "SSL_CERT_FILE is not set"),
            )
            return message, row.get("always", False) or not reached
    broke = "the connection to {} broke" if reached else "no connection to {}"
    return f"{broke.format(where)} ({type(error).__name__}: {cause})", False


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the innermost last."""
    below: BaseException | None = error
    while below is not None:
        yield below
        group = below.exceptions[0] if isinstance(below, BaseExceptionGroup) else None
        below = group or below.__cause__ or below.__context__


def proxies(url: str = "") -> str:
    """Return the proxies on the way to a URL, or all, in words without passwords; "" for none."""
    parts, known = urlsplit(url), getproxies()
    if url and proxy_bypass(parts.hostname or ""):
        return ""
    schemes = [one for one in ("http", "https", "all") if known.get(one)]
    if url:
        schemes = [one for one in (parts.scheme, "all") if one in schemes][:1]
    shown = []
    for scheme in schemes:
        names = f"{scheme}_proxy", f"{scheme}_proxy".upper()
        variable = next((name for name in names if os.environ.get(name)), "the system's settings")
        shown.append(f"the proxy {re.sub(r'[^/@]*@', '***@', known[scheme])} ({variable})")
    return " or ".join(shown)
