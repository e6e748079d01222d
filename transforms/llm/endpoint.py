"""Describe the endpoint of a model by plain values without API keys, which are sent to workers."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from ufo.schemas.errors import UsageError
from ufo.schemas.text import host_of, is_address, is_utf8
from ufo.transforms.llm.request import EXTRACTOR, KNOWLEDGE, VERIFIER, LlmError

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_MODEL = "gpt-4o-mini"
NO_KEY = "none"
"""Sent as the key where there is none: local servers need no key, but the header must be there."""

# The `openai` package reads the same variables.
AZURE_URL_VARIABLE: Final = "AZURE_OPENAI_ENDPOINT"
AZURE_TOKEN_VARIABLE: Final = "AZURE_OPENAI_AD_TOKEN"  # noqa: S105
_AZURE_KEY_VARIABLE: Final = "AZURE_OPENAI_API_KEY"
_AZURE_VERSION_VARIABLE: Final = "OPENAI_API_VERSION"
_AZURE_VERSION: Final = "2024-10-21"  # the last dated version that is not a preview
_AZURE_HOSTS: Final = (".openai.azure.com", ".openai.azure.us", ".cognitiveservices.azure.com")
_VERSION_FIELD: Final = "api-version"
_DEPLOYMENT: Final = re.compile(r"/openai/deployments/([^/]+)")
_HEADER: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(\w+)")
# Fields of a request that ufo writes itself.
_OWN_FIELDS: Final = ("model", "messages", "tools", "tool_choice", "response_format", "n", "stream")


@dataclass(frozen=True, slots=True)
class Azure:
    """An Azure OpenAI resource: its address, the API's version, and a deployment.

    Without a deployment, the model's name is used.
    """

    address: str
    version: str
    deployment: str | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at an OpenAI-compatible endpoint.

    Without `base_url` the address is OPENAI_BASE_URL, else AZURE_OPENAI_ENDPOINT, else OpenAI's.
    `api_key_env` names the environment variable with the key. `timeout` is of one whole request, in
    seconds. `headers` are further headers, each by the environment variable that holds its value.
    `body` is the JSON of fields to add to each request.
    """

    model: str = DEFAULT_MODEL
    base_url: str | None = None
    api_key_env: str = KEY_VARIABLE
    timeout: float = 300.0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = "{}"

    @property
    def url(self) -> str:
        """The base URL; read from the environment where it is not given.

        Raises:
            LlmError: it is not an http(s) URL, or it contains a password.
        """
        url = self.base_url or _url_of_environment()
        try:
            check_url(url, "base URL" if self.base_url else URL_VARIABLE, self.api_key_env)
        except ValueError as error:
            raise LlmError(str(error), final=True) from None
        return url.rstrip("/")

    @property
    def place(self) -> tuple[str | None, str]:
        """The base URL and the key's variable, which the models of one endpoint share."""
        return self.base_url, self.api_key_env

    @property
    def shown_url(self) -> str:
        """The base URL without its query, for messages."""
        return self.url.partition("?")[0]

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine, and so shares its processors with the run."""
        return on_this_machine(self.url)

    @property
    def added(self) -> dict[str, Any]:
        """The fields to add to each request."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields

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

    def header_values(self) -> dict[str, str]:
        """Return the further headers with their values.

        Raises:
            LlmError: a variable is not set, or its value cannot be sent in a header.
        """
        values = {}
        for name, variable in self.headers:
            value = os.environ.get(variable, "").strip()
            if not (value and value.isascii() and value.isprintable()):
                raise LlmError(
                    f"--header {name}={variable}: the environment variable {variable} is not set, "
                    "or has characters that a header cannot have; set it",
                    final=True,
                )
            values[name] = value
        return values

    def with_run_settings(self, run: "Endpoint") -> "Endpoint":
        """Return this endpoint with a run's time-out; at the same address also headers and body."""
        if self.base_url != run.base_url:
            return replace(self, timeout=run.timeout)
        return replace(self, timeout=run.timeout, headers=run.headers, body=run.body)

    @property
    def configured(self) -> bool:
        """Whether the user set a key or a base URL."""
        names = (self.api_key_env, URL_VARIABLE, AZURE_URL_VARIABLE)
        return bool(self.base_url) or any(map(os.environ.get, names))


def _url_of_environment() -> str:
    url = os.environ.get(URL_VARIABLE, "").strip()
    azure = os.environ.get(AZURE_URL_VARIABLE, "").strip().rstrip("/")
    if azure and not url and _VERSION_FIELD not in azure:
        azure += f"?{_VERSION_FIELD}={os.environ.get(_AZURE_VERSION_VARIABLE) or _AZURE_VERSION}"
    return url or azure or OPENAI_URL


def azure_of(url: str) -> Azure | None:
    """Return the Azure OpenAI resource at a URL, None for any other server.

    Azure's `/v1` counts as another, since it speaks as OpenAI's does.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    version = dict(parse_qsl(parts.query)).get(_VERSION_FIELD, "")
    if path.endswith("/v1") or not (version or host_of(url).endswith(_AZURE_HOSTS)):
        return None
    deployment = _DEPLOYMENT.search(path)
    return Azure(
        f"{parts.scheme}://{parts.netloc}{path.partition('/openai')[0]}",
        version or os.environ.get(_AZURE_VERSION_VARIABLE) or _AZURE_VERSION,
        deployment[1] if deployment else None,
    )


@lru_cache(maxsize=256)  # it is asked for with every request
def check_url(url: str, option: str, key_variable: str = KEY_VARIABLE) -> None:
    """Raise a ValueError unless a URL can be an endpoint's; `option` sets it, for the message."""
    try:
        if not is_utf8(url):
            raise ValueError("it is not UTF-8")
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{option} {url!r}: {error}") from None
    if parts.username or parts.password:
        raise ValueError(
            f"{option} of {host_of(url)} holds a user name or password; "
            f"put the key into the environment variable {key_variable}"
        )
    if parts.scheme not in ("http", "https") or not host_of(url):
        raise ValueError(
            f"{option} {url!r} is not an http:// or https:// URL; "
            "an example is http://localhost:8000/v1"
        )


def header_of(text: str) -> tuple[str, str]:
    """Parse `NAME=VARIABLE`: a header and the environment variable that holds its value.

    Raises:
        UsageError: it has another form.
    """
    match = _HEADER.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"--header {text!r} is not NAME=VARIABLE, a header's name and the environment variable "
            "that holds its value, such as X-Title=MY_TITLE"
        )
    return match[1], match[2]


def added_fields(text: str, effort: str | None = None) -> str:
    """Return the JSON of the fields to add to each request: `text`, and the reasoning effort.

    Raises:
        UsageError: the text is not a JSON object, or has a field that ufo writes itself.
    """
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise UsageError(f"--body_json is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UsageError('--body_json is not a JSON object, such as {"top_k": 1}')
    for name in _OWN_FIELDS:
        if name in fields:
            raise UsageError(f"--body_json has {name!r}, a field that ufo writes itself")
    effort_field = {"reasoning_effort": effort} if effort else {}
    return json.dumps(fields | effort_field, sort_keys=True)


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
    header: Iterable[str] | None = None,
    body_json: str | None = None,
    reasoning_effort: str | None = None,
) -> dict[str, Endpoint]:
    """Return the endpoint of each role; model and address default to the verifier's.

    The keys of the extractor and the knowledge model are in EXTRACTOR_API_KEY and KNOWLEDGE_API_KEY
    where these are set, else in OPENAI_API_KEY. Azure's are in AZURE_OPENAI_API_KEY or
    AZURE_OPENAI_AD_TOKEN. Headers and body fields are sent only to `base_url` and roles that share
    it: a secret for one host must not reach another.

    Raises:
        UsageError: a header or the body has another form.
    """
    headers = tuple(map(header_of, header or ()))
    body = added_fields(body_json or "{}", reasoning_effort)
    by_role: Mapping[str, tuple[str | None, str | None]] = {
        VERIFIER: (model, base_url),
        EXTRACTOR: (extractor_model, extractor_base_url),
        KNOWLEDGE: (knowledge_model, knowledge_base_url),
    }
    result = {}
    for role, (role_model, role_url) in by_role.items():
        url = role_url or base_url
        name, key = role_model or model or DEFAULT_MODEL, _key_variable(role, url)
        result[role] = Endpoint(name, url, key, timeout)
        if url == base_url:
            result[role] = replace(result[role], headers=headers, body=body)
    return result


def _key_variable(role: str, url: str | None) -> str:
    own = f"{role.upper()}_API_KEY"
    if os.environ.get(own):
        return own
    try:
        azure = azure_of(url or _url_of_environment())
    except ValueError:  # not a URL; reported where it is used
        azure = None
    if azure is None:
        return KEY_VARIABLE
    names = (_AZURE_KEY_VARIABLE, AZURE_TOKEN_VARIABLE, KEY_VARIABLE)
    return next(filter(os.environ.get, names), _AZURE_KEY_VARIABLE)
