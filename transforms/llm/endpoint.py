"""Describe where a model is, as plain values that travel to workers; keys stay outside."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from transforms.llm.base import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4o-mini"
NO_KEY = "none"
"""Sent where there is no key: servers of one's own want none, but the header has to be there."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an OpenAI-compatible endpoint.

    `base_url` None is OPENAI_BASE_URL, else OpenAI's own. `api_key_env` names the environment
    variable with the key. `timeout` is in seconds, of one request from first byte to last.
    """

    model: str = DEFAULT_MODEL
    base_url: str | None = None
    api_key_env: str = KEY_VARIABLE
    timeout: float = 300.0

    @property
    def url(self) -> str:
        """The base URL; read from the environment where it is not given.

        Raises:
            LlmError: it is no http(s) URL, or it holds a password.
        """
        url = self.base_url or os.environ.get(URL_VARIABLE, "").strip() or OPENAI_URL
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError as error:
            raise LlmError(f"base URL {url!r}: {error}", final=True) from None
        if parts.username or parts.password:
            raise LlmError(
                f"the base URL of {parts.hostname} holds a user name or password; "
                f"put the key into the environment variable {self.api_key_env}",
                final=True,
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise LlmError(
                f"base URL {url!r} is no http:// or https:// URL; "
                "one looks like http://localhost:8000/v1",
                final=True,
            )
        return url.rstrip("/")

    @property
    def place(self) -> tuple[str | None, str]:
        """What endpoints of several models have in common: the address and the key's variable."""
        return self.base_url, self.api_key_env

    @property
    def shown_url(self) -> str:
        """The base URL without its query, for messages."""
        return self.url.partition("?")[0]

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine, and shares its processors with us."""
        return on_this_machine(self.url)

    def key(self) -> str:
        """Return the key, or `NO_KEY` for an endpoint of one's own.

        Raises:
            LlmError: no key, and OpenAI's endpoint wants one; or one that no header can hold.
        """
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            if self.url == OPENAI_URL:
                raise LlmError(
                    f"{OPENAI_URL} wants a key: set {self.api_key_env}, or name another endpoint "
                    f"with --base_url or {URL_VARIABLE}",
                    final=True,
                )
            return NO_KEY
        if not (key.isascii() and key.isprintable()):
            raise LlmError(
                f"the key in {self.api_key_env} has characters that no key has; set it again",
                final=True,
            )
        return key

    @property
    def configured(self) -> bool:
        """Whether the user named an endpoint at all: by a key or by a base URL."""
        return any((self.base_url, os.environ.get(self.api_key_env), os.environ.get(URL_VARIABLE)))


def on_this_machine(url: str) -> bool:
    """Tell whether a URL is of this machine: `localhost`, 127.0.0.1, ::1 or the like."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def endpoints(
    model: str | None = None,
    base_url: str | None = None,
    extractor_model: str | None = None,
    extractor_base_url: str | None = None,
    knowledge_model: str | None = None,
    knowledge_base_url: str | None = None,
    timeout: float = Endpoint().timeout,
) -> dict[str, Endpoint]:
    """Return the endpoint of each role; what a role does not have is the verifier's.

    The key of the extractor is in EXTRACTOR_API_KEY and that of the knowledge model in
    KNOWLEDGE_API_KEY, where these are set.
    """
    given: Mapping[str, tuple[str | None, str | None]] = {
        VERIFIER: (model, base_url),
        EXTRACTOR: (extractor_model, extractor_base_url),
        KNOWLEDGE: (knowledge_model, knowledge_base_url),
    }
    found = {}
    for role, (its_model, its_url) in given.items():
        own_key = f"{role.upper()}_API_KEY"
        found[role] = Endpoint(
            its_model or model or DEFAULT_MODEL,
            its_url or base_url,
            own_key if os.environ.get(own_key) else KEY_VARIABLE,
            timeout,
        )
    return found
