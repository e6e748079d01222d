"""From `--verifier` to a verifier: a registered name, a folder, a file's class, a model hub's name.

Verifiers are entry points in the group `ufo.verifiers`. A folder with `verifier.json` is one that
`ufo judges fit` or `benchmarks/train_verifier.py` wrote; another folder, and a name like
`organisation/model[@revision]`, is a cross-encoder (`transforms.verifiers.hub`).
"""

import os
import threading
from hashlib import sha256
from pathlib import Path
from typing import Final

from schemas.errors import PluginError, UsageError, unknown_value
from schemas.models import is_hub_name
from transforms.registry import Registry, Spec, absolute_type, code_of, is_file_type
from transforms.verifiers.base import Verifier
from transforms.verifiers.bundled.verifier import SETTINGS, BundledVerifier
from transforms.verifiers.fitted import FittedVerifier, is_fitted, read_fit
from transforms.verifiers.hub import HubVerifier

VERIFIERS: Final = Registry("ufo.verifiers", Verifier, "verifier")
DEFAULT: Final = "overlap"
"""The verifier where none is named."""
FALLBACK: Final = "overlap"
"""The verifier where what DEFAULT needs is not installed; it needs nothing."""

_SHOWN: Final = 12  # characters of a checksum

_lock = threading.Lock()
_opened: dict[str, tuple[str, Verifier]] = {}


def make_verifier(name: str) -> Verifier:
    """Return the verifier of that name, not opened.

    Raises:
        UsageError: no such verifier, folder, file or class, or a fitted one whose base has changed.
        PluginError: the code behind it does not load, or is no verifier.
    """
    if name in VERIFIERS.types() or is_file_type(name):
        found = VERIFIERS.make(Spec(name, name))
        found.name = found.name or name.rpartition(":")[2]
        return found
    if os.path.isdir(name):
        if is_fitted(name):
            return _fitted(name)
        if os.path.exists(os.path.join(name, SETTINGS)):
            return BundledVerifier(name)
    elif not is_hub_name(name):
        known = [*VERIFIERS.types(), "path/to/folder", "path/to/file.py:Class", "hub/model"]
        raise UsageError(unknown_value("verifier", name, known))
    return HubVerifier(name)


def usable(name: str) -> str:
    """Return the name of a verifier that can be used here, with the whole path of what is a path.

    Raises:
        UsageError: there is none of that name, or it cannot be used here.
    """
    whole = _absolute(name)
    reason = make_verifier(whole).unavailable()
    if reason:
        raise UsageError(f"the verifier {name!r} cannot be used: {reason}")
    return whole


def default_verifier() -> tuple[str, str]:
    """Return the verifier where none is named, and why it is not DEFAULT (empty where it is)."""
    reason = make_verifier(DEFAULT).unavailable() if DEFAULT != FALLBACK else None
    return (FALLBACK, reason) if reason else (DEFAULT, "")


def content_of(name: str) -> str:
    """Return a checksum of what the judgements of a verifier depend on, empty where it has none."""
    code, own = code_of(name), make_verifier(name).fingerprint()
    return sha256(code + own.encode()).hexdigest()[:16] if code else own


def described(name: str) -> dict[str, str]:
    """Return what a run's fingerprint says of a verifier; where a folder lies is not of it."""
    return {"name": make_verifier(name).name, "content": content_of(name)}


def shown(name: str | None) -> str:
    """Return what the column `model` says of a verifier, None being the default one."""
    name = name or default_verifier()[0]
    content = content_of(name)[:_SHOWN]
    return make_verifier(name).name + (f"@{content}" if content else "")


def opened(name: str | None) -> Verifier:
    """Return the verifier of that name (None: the default one), open; it is loaded once in a
    process and stays loaded.

    One whose content has changed since is loaded anew.

    Raises:
        PluginError: it does not load, which every further response would meet.
    """
    name = name or default_verifier()[0]
    content = content_of(name)
    with _lock:
        known = _opened.get(name)
        if known is None or known[0] != content:
            verifier = make_verifier(name)
            try:
                verifier.open()
            except UsageError:
                raise
            except Exception as error:
                raise PluginError(
                    f"the verifier {name!r} does not load: {type(error).__name__}: {error}"
                ) from error
            known = _opened[name] = (content, verifier)
        return known[1]


def _fitted(folder: str) -> Verifier:
    fit = read_fit(folder)
    base = make_verifier(fit.base)
    # One that cannot be used here says so itself, with the remedy.
    if base.unavailable() is None and (now := content_of(fit.base)) != fit.fingerprint:
        raise UsageError(
            f"the verifier {folder!r} was fitted to {fit.base!r} with the checksum "
            f"{fit.fingerprint!r}, which is {now!r} now; fit it again: ufo judges fit RESULTS "
            f"--verifier {fit.base} --output {folder}"
        )
    return FittedVerifier(Path(folder).resolve().name, base, fit)


def _absolute(name: str) -> str:
    if name not in VERIFIERS.types() and os.path.isdir(name):
        return str(Path(name).resolve())
    return absolute_type(name)
