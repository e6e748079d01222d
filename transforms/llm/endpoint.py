"""Describe the endpoint of a model by plain values, which can be sent to workers; no API keys."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from ufo.schemas.hosts import host_of, is_address
from ufo.transforms.llm.base import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4o-mini"
NO_KEY = "none"
"""Sent as the key where there is none: local servers need no key, but the header must be there."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an OpenAI-compatible endpoint.

    Without `base_url` the address is OPENAI_BASE_URL, else OpenAI's. `api_key_env` names the
    environment variable with the key. `timeout` is of one whole request, in seconds.
    """

    model: str = DEFAULT_MODEL
    base_url: str | None = None
    api_key_env: str = KEY_VARIABLE
    timeout: float = 300.0

    @property
    def url(self) -> str:
        """The base URL; read from the environment where it is not given.

        Raises:
            LlmError: it is not an http(s) URL, or it contains a password.
        """
        url = self.base_url or os.environ.get(URL_VARIABLE, "").strip() or OPENAI_URL
        try:
            check_url(url, "base URL" if self.base_url else URL_VARIABLE, self.api_key_env)
        except ValueError as error:
            raise LlmError(str(error), final=True) from None
        return url.rstrip("/")

    @property
    def place(self) -> tuple[str | None, str]:
        """The address and the key's variable, which several models may share."""
        return self.base_url, self.api_key_env

    @property
    def shown_url(self) -> str:
        """The base URL without its query, for messages."""
        return self.url.partition("?")[0]

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine, and so shares its processors with the run."""
        return on_this_machine(self.url)

    def key(self) -> str:
        """Return the API key, or `NO_KEY` where none is set for an endpoint other than OpenAI's.

        Raises:
            LlmError: there is no key for OpenAI's endpoint, or it cannot be sent in a header.
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
                f"the key in {self.api_key_env} has characters that a key cannot have; set it "
                "again",
                final=True,
            )
        return key

    @property
    def configured(self) -> bool:
        """Whether the user set a key or a base URL."""
        return any((self.base_url, os.environ.get(self.api_key_env), os.environ.get(URL_VARIABLE)))


def check_url(url: str, what: str, key_variable: str = KEY_VARIABLE) -> None:
    """Raise a ValueError unless `url` can be that of an endpoint; `what` is where it stands."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{what} {url!r}: {error}") from None
    if parts.username or parts.password:
        raise ValueError(
            f"{what} of {host_of(url)} holds a user name or password; "
            f"put the key into the environment variable {key_variable}"
        )
    if parts.scheme not in ("http", "https") or not host_of(url):
        raise ValueError(
            f"{what} {url!r} is not an http:// or https:// URL; "
            "an example is http://localhost:8000/v1"
        )


def on_this_machine(url: str) -> bool:
    """Return whether the host of a URL is this machine: `localhost`, 127.0.0.1, ::1, 0.0.0.0, …"""
    host = host_of(url)
    if not is_address(host):
        return host == "localhost" or host.endswith(".localhost")
    address = ip_address(host)
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
    """Return the endpoint of each role; model and address default to the verifier's.

    The keys of the extractor and of the knowledge model are read from EXTRACTOR_API_KEY and
    KNOWLEDGE_API_KEY where these are set, else from OPENAI_API_KEY.
    """
    by_role: Mapping[str, tuple[str | None, str | None]] = {
        VERIFIER: (model, base_url),
        EXTRACTOR: (extractor_model, extractor_base_url),
        KNOWLEDGE: (knowledge_model, knowledge_base_url),
    }
    result = {}
    for role, (role_model, role_url) in by_role.items():
        role_key = f"{role.upper()}_API_KEY"
        result[role] = Endpoint(
            role_model or model or DEFAULT_MODEL,
            role_url or base_url,
            role_key if os.environ.get(role_key) else KEY_VARIABLE,
            timeout,
        )
    return result
