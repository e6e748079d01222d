"""Keys for workers whose environment nobody can set: read from Google Secret Manager where needed.

What travels to a worker is the name of a secret. Each process reads it once, by the rights of the
account it runs as, and puts it into its own environment, where keys are looked for. So no key is in
an option, an image, a job or a log.
"""

import os
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.errors import RunError, UsageError

Read = Callable[[str], bytes]
"""The content of a version of a secret, by its name."""

_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_SECRET: Final = re.compile(r"projects/[\w.:-]+/secrets/[\w-]+(/versions/[\w-]+)?")
_read: dict[str, str] = {}
_lock = threading.Lock()


def named_secrets(text: str) -> dict[str, str]:
    """Return the variables in `VARIABLE=projects/P/secrets/S,…`, each with its version's name.

    Raises:
        UsageError: it is none of that form. What follows the variable is not repeated: it may be
            the key itself.
    """
    found = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        variable, equals, name = item.partition("=")
        if not _VARIABLE.fullmatch(variable) or not _SECRET.fullmatch(name):
            shown = variable if equals and _VARIABLE.fullmatch(variable) else "a part (not shown)"
            raise UsageError(
                f"--secrets: {shown} does not name a secret. A secret is named VARIABLE=projects/"
                "PROJECT/secrets/NAME, with /versions/NUMBER or the latest; no key goes into an "
                "option"
            )
        found[variable] = name if "/versions/" in name else f"{name}/versions/latest"
    return found


def into_environment(secrets: Mapping[str, str], read: Read | None = None) -> None:
    """Put the secrets into this process's environment, each read once.

    Raises:
        UsageError: what reads them is not installed.
        RunError: a secret cannot be read.
    """
    with _lock:
        for variable, name in secrets.items():
            if name not in _read:
                _read[name] = _text(name, read or from_google)
            os.environ[variable] = _read[name]


def _text(name: str, read: Read) -> str:
    try:
        return read(name).decode().strip()
    except UsageError:
        raise
    except Exception as error:
        raise RunError(
            f"the secret {name!r} cannot be read: {type(error).__name__}: {error}. The account "
            "that asks needs the role roles/secretmanager.secretAccessor on it"
        ) from None


def from_google(name: str, client: Any = None) -> bytes:
    """Return the content of a version of a secret; `client` is Google's, where it is not the usual.

    Raises:
        UsageError: the client is not installed.
    """
    try:
        from google.cloud import secretmanager
    except ImportError as error:
        raise UsageError(
            f"--secrets needs Google's client: pip install 'ufo-factuality[gcp]' ({error})"
        ) from error
    client = client or secretmanager.SecretManagerServiceClient()
    return bytes(client.access_secret_version(name=name).payload.data)
