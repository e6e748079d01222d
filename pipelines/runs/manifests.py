"""The manifest of a finished run, read by whoever goes on from the run or tells of it."""

import json
from typing import Any

from schemas import storage
from schemas.errors import RunError

_NEEDED = ("attempt", "counts", "finished_at", "fingerprint", "tables")


def manifest_of(folder: str) -> dict[str, Any] | None:
    """Return the manifest of the finished run in a folder, None where there is none.

    Raises:
        RunError: there is one, and it is damaged.
    """
    path = storage.join(folder, "manifest.json")
    if not storage.exists(path):
        return None
    try:
        manifest: dict[str, Any] = json.loads(storage.read(path))
        lacking = [name for name in _NEEDED if name not in manifest]
    except (ValueError, TypeError) as error:
        raise _damaged(path, folder, str(error)) from error
    if lacking or not isinstance(manifest, dict):
        raise _damaged(path, folder, f"it lacks {', '.join(lacking)}")
    return manifest


def _damaged(path: str, folder: str, why: str) -> RunError:
    return RunError(f"{path!r} is damaged: {why}; remove {folder!r}, and evaluate it again.")
