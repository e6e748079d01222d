"""The HTTP client of pages."""

from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import PackageNotFoundError, version

import httpx
from hishel import CacheOptions
from hishel.httpx import AsyncCacheTransport

from transforms.llm.memory import Memory
from transforms.sources.web import robots
from transforms.sources.web.decoding import ACCEPTED
from transforms.sources.web.http_cache import StoredPages
from transforms.sources.web.transport import CheckedBackend, PageTransport, Resolve


def page_client(
    memory: Memory | None, allow_private: bool, connections: int, resolve: Resolve
) -> httpx.AsyncClient:
    """Return the client of pages: caching above checked connections, and nothing of the user's.

    It has no cookies, no passwords of a netrc file and no proxies of the environment, and follows
    no redirect by itself.
    """
    backend = CheckedBackend(allow_private, resolve)
    transport: httpx.AsyncBaseTransport = PageTransport(backend, connections)
    if memory is not None and (memory.reads or memory.writes):
        storage = StoredPages(memory, "private" if allow_private else "")
        transport = AsyncCacheTransport(transport, storage, CacheOptions(shared=False))
    return httpx.AsyncClient(
        transport=transport,
        headers={
            "user-agent": user_agent(),
            "accept": "text/html, application/xhtml+xml, application/pdf, text/plain, */*;q=0.1",
            "accept-encoding": ACCEPTED,
        },
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        timeout=httpx.Timeout(None),  # the caps hold over all of a request, not from byte to byte
        trust_env=False,
        follow_redirects=False,
    )


@cache
def user_agent() -> str:
    """Return who we say we are."""
    try:
        number = version("ufo-factuality")
    except PackageNotFoundError:
        number = "0"
    return f"{robots.NAME}/{number} (factuality evaluation)"
