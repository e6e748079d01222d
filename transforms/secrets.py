"""Read secrets of Google Secret Manager into the environment of a worker.

Only their names are sent. Each process reads a secret once, with the permissions of its account, so
that no key is in an option, an image, a job or a log.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Final

from ufo.schemas.dependencies import need
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.forks import Opened

Read = Callable[[str], bytes]
"""Returns the content of a version of a secret, by its name."""

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_SECRET: Final = re.compile(r"projects/[\w.:-]+/secrets/[\w-]+(/versions/[\w-]+)?")
_read: Opened[str, str] = Opened()


def named_secrets(text: str) -> dict[str, str]:
    """Parse `VARIABLE=projects/P/secrets/S,…`; return the name of a secret's version by variable.

    Raises:
        UsageError: the form is invalid. The message does not contain the value, which may be a key.
    """
    secrets = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        variable, equals, name = item.partition("=")
        if not _VARIABLE.fullmatch(variable) or not _SECRET.fullmatch(name):
            shown = variable if equals and _VARIABLE.fullmatch(variable) else "a part (not shown)"
            raise UsageError(
                f"--secrets: {shown} does not name a secret. A secret is named VARIABLE=projects/"
                "PROJECT/secrets/NAME, with /versions/NUMBER or the latest; no key goes into an "
                "option"
            )
        secrets[variable] = name if "/versions/" in name else f"{name}/versions/latest"
    return secrets


def into_environment(secrets: Mapping[str, str], read: Read | None = None) -> None:
    """Put the secrets into this process's environment, each read once.

    Raises:
        UsageError: the client library is not installed.
        RunError: a secret cannot be read.
    """
    if secrets and read is None:
        need("gcp", "--secrets")
    with _read.lock:
        for variable, name in secrets.items():
            if name not in _read:
                try:
                    _read[name] = (read or _from_google)(name).decode().strip()
                except Exception as error:
                    raise RunError(
                        f"the secret {name!r} cannot be read: {type(error).__name__}: {error}. The "
                        "account that asks needs the role roles/secretmanager.secretAccessor on it"
                    ) from None
            os.environ[variable] = _read[name]


def _from_google(name: str) -> bytes:
    # In an extra.
    from google.cloud import secretmanager

    client = secretmanager.SecretManagerServiceClient()
    return bytes(client.access_secret_version(name=name).payload.data)
