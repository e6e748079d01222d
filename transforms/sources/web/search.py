"""Search engines behind one small protocol: how one is asked, and what its replies mean.

A backend knows an API and nothing else. Sending, limits, retries, the cache and what is shared by
equal queries are the same for all (`ufo.transforms.sources.web.searcher`). A further engine is a
file with a class, and a line in `BACKENDS`.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import urlsplit

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.hosts import host_of
from ufo.schemas.text import storable
from ufo.transforms.llm.failures import SendError

BACKENDS = {
    "serper": "ufo.transforms.sources.web.serper:Serper",
    "searxng": "ufo.transforms.sources.web.searxng:Searxng",
    "brave": "ufo.transforms.sources.web.brave:Brave",
}
_LOCALE = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{2}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Locale:
    """In which language and for which country to search: `en`, `GB`; empty for the engine's own."""

    language: str = ""
    country: str = ""

    def __str__(self) -> str:
        return "-".join(part for part in (self.language, self.country) if part)


def locale_of(text: str) -> Locale:
    """Return the locale that a text like `en` or `en-GB` names; an empty one names none.

    Raises:
        UsageError: it is neither.
    """
    match = _LOCALE.fullmatch(text)
    if text and not match:
        raise UsageError(
            f"--locale {text!r} is not a language or language-COUNTRY, such as en or en-GB"
        )
    return Locale(match[1].lower(), (match[2] or "").upper()) if match else Locale()


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that an engine found: a page, by its address, and what it says of it.

    `text` is the snippet, None where there is none. One that `stands_alone` is the engine's own
    answer to the query (an answer box), and no page is fetched for it.
    """

    url: str | None
    title: str | None
    text: str | None
    published_at: str | None = None
    stands_alone: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request to an engine. `headers` may hold its key, and are never shown."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str | int] = field(default_factory=dict)
    json: Any = None


class SearchBackend(Protocol):
    """One search API. `batch` is how many queries a request can have.

    The key is read from `key_variable`, the address from `url_variable`, else it is `default_url`
    (None: there is no public one).
    """

    name: str
    batch: int
    key_variable: str | None
    url_variable: str
    default_url: str | None

    def call(self, queries: Sequence[str], count: int, locale: Locale, key: str) -> Call:
        """Return the request for up to `batch` queries, with `count` results each."""
        ...

    def split(self, payload: Any, queries: int) -> Sequence[Any] | None:
        """Return the raw reply to each query; None where the payload is not a reply to them."""
        ...

    def answers(self, reply: Any) -> bool:
        """Return whether a raw reply has the shape of one, even if nothing was found."""
        ...

    def results(self, reply: Any) -> Iterator[Result]:
        """Yield what was found, best first; whatever is missing or of a wrong type is left out."""
        ...

    def refused(self, status: int, text: str, url: str) -> SendError | None:
        """Return what a status means that is this API's own way to say something, else None."""
        ...


def backend_of(name: str) -> SearchBackend:
    """Return the backend of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in BACKENDS:
        raise UsageError(unknown_value("--search", name, BACKENDS))
    module, _, kind = BACKENDS[name].partition(":")
    made: SearchBackend = getattr(import_module(module), kind)()
    return made


def unavailable(backend: SearchBackend) -> str | None:
    """Return why a backend cannot be asked, with the remedy, or None where it can."""
    key, url = variable(backend.key_variable), variable(backend.url_variable)
    if not (url or (key and backend.default_url)):
        wanted = backend.url_variable
        if backend.key_variable and backend.default_url:
            wanted = f"{backend.key_variable} (or {backend.url_variable})"
        return f"it needs a search engine: set {wanted}"
    if not (key.isascii() and key.isprintable()):
        return f"the key in {backend.key_variable} has characters that no key has; set it again"
    if url and not _usable(url):
        name = backend.url_variable
        return f"{name} is not an http:// or https:// URL (without user name); set it again"
    return None


def address_of(backend: SearchBackend) -> str:
    """Return the base URL of a backend, without a query or a slash at the end."""
    url = variable(backend.url_variable) or backend.default_url or ""
    return url.partition("?")[0].rstrip("/")


def variable(name: str | None) -> str:
    """Return an environment variable without spaces around; empty where it is not set."""
    return os.environ.get(name, "").strip() if name else ""


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host_of(url)) and not parts.username


# --- what replies are read with ---


def object_of(value: object) -> Mapping[str, Any]:
    """Return a JSON object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """Return a JSON array; an empty one where it is none."""
    return value if isinstance(value, list) else []


def text_of(item: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that has a text; what no table can hold is replaced."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return storable(value.strip())
    return None


def day_of(text: str | None) -> str | None:
    """Return a date as ISO 8601; one like "3 days ago" is not a date."""
    text = (text or "").strip()
    for shape in ("%b %d, %Y", "%d %b %Y", "%Y-%m-%d"):
        try:
            return datetime.strptime(text, shape).date().isoformat()
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return None
