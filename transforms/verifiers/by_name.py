"""Create verifiers by the value of `--verifier`.

The value is one of these:

- a registered name (entry points in the group `ufo.verifiers`)
- a class in a file
- a folder with `verifier.json` that `benchmarks/training/train.py` wrote
- a cross-encoder (`ufo.transforms.verifiers.hub`): another folder, or
  `organisation/model[@revision]`
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from ufo.schemas.errors import DoesNotFit, PluginError, UsageError, unknown_value
from ufo.schemas.forks import Opened
from ufo.schemas.model_files import is_hub_name
from ufo.transforms.plugin_errors import named_errors
from ufo.transforms.plugins import Registry, Spec, absolute_type, code_of, is_file_type
from ufo.transforms.verifiers.bundled.classifier import SETTINGS, BundledVerifier
from ufo.transforms.verifiers.hub import HubVerifier
from ufo.transforms.verifiers.verifier import Verifier

VERIFIERS: Final = Registry("ufo.verifiers", Verifier, "verifier")
DEFAULT_VERIFIER: Final = "overlap"
"""The name of the default verifier."""

_SHOWN: Final = 12  # characters of a checksum

_opened: Opened[str, tuple[str, Verifier]] = Opened()


def make_verifier(name: str) -> Verifier:
    """Return the verifier of that name, not opened.

    Raises:
        UsageError: no such verifier, folder, file or class.
        PluginError: the code does not load, or is not a verifier.
    """
    if name in VERIFIERS.types() or is_file_type(name):
        verifier = VERIFIERS.make(Spec(name, name))
        verifier.name = verifier.name or name.rpartition(":")[2]
        return verifier
    if os.path.isdir(name):
        if os.path.exists(os.path.join(name, SETTINGS)):
            return BundledVerifier(name)
    elif not is_hub_name(name):
        known = [*VERIFIERS.types(), "path/to/folder", "path/to/file.py:Class", "hub/model"]
        raise UsageError(unknown_value("verifier", name, known))
    return HubVerifier(name)


def usable_name(name: str) -> str:
    """Return the name of a verifier with an absolute path, after a check that it can be used.

    Raises:
        UsageError: it is unknown, or cannot be used here.
    """
    whole = _absolute(name)
    reason = VERIFIERS.unavailable(make_verifier(whole), name)
    if reason:
        raise DoesNotFit(f"the verifier {name!r} cannot be used: {reason}")
    return whole


def content_of(name: str) -> str:
    """Return a checksum of a verifier's code and weights, or "" if it has neither."""
    with named_errors(f"verifier {name}, fingerprint()"):
        own = make_verifier(name).fingerprint()
    code = code_of(name)
    return sha256(code + own.encode()).hexdigest()[:16] if code else own


def description(name: str) -> dict[str, str]:
    """Return the entry of a verifier in a run's fingerprint, without the path of its folder."""
    return {"name": make_verifier(name).name, "content": content_of(name)}


def model_column(name: str | None) -> str:
    """Return the value of the column `model` for a verifier; None is the default one."""
    name = name or DEFAULT_VERIFIER
    content = content_of(name)[:_SHOWN]
    return make_verifier(name).name + (f"@{content}" if content else "")


def open_verifier(name: str | None) -> Verifier:
    """Return the opened verifier of that name; None is the default one.

    It is loaded once in each process, and again if its content has changed.

    Raises:
        PluginError: it does not load.
    """
    name = name or DEFAULT_VERIFIER
    content = content_of(name)
    with _opened.lock:
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


def _absolute(name: str) -> str:
    if name not in VERIFIERS.types() and os.path.isdir(name):
        return str(Path(name).resolve())
    return absolute_type(name)
