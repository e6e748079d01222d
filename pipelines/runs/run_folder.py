"""The folder of a run before the run: who may write it, and what is finished there already."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from filelock import FileLock, Timeout

from pipelines.runs.attempt import differences, tidy
from pipelines.runs.manifests import manifest_of
from schemas import storage
from schemas.errors import UsageError


@contextmanager
def only_one(output: str, folder: str, name: str) -> Iterator[None]:
    """Hold the run's lock, so that two commands do not write one folder."""
    if storage.is_remote(output):
        try:
            storage.files_below(folder)
        except OSError as error:
            raise UsageError(f"--output {output!r} cannot be written: {error}") from error
        yield
        return
    try:
        os.makedirs(folder, exist_ok=True)
        lock = FileLock(os.path.join(folder, ".lock"))
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"run {name!r} in {output!r} is being written by another process; wait for it, or "
            "give this one a name of its own with --run"
        ) from None
    except OSError as error:
        raise UsageError(f"--output {output!r} cannot be written: {error}") from error
    try:
        yield
    finally:
        # Deleted while it is held; who waits for a lock on a deleted file is told to try again.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def earlier_manifest(folder: str) -> dict[str, Any] | None:
    """Return the manifest of the finished run in a folder, None where there is none.

    Raises:
        RunError: there is one, and it is damaged.
    """
    manifest = manifest_of(folder)
    if manifest is not None:
        tidy(folder, manifest)
    return manifest


def tell_changes(
    say: Callable[[str], None],
    name: str,
    earlier: Mapping[str, Any],
    fingerprint: Mapping[str, Any],
) -> None:
    """Tell that a finished run is left as it is, and in what it differs from this command."""
    changed = differences(earlier["fingerprint"], fingerprint)
    say(f"Run {name} is finished; left as it is (--if_finished skip).")
    if changed:
        say("  It was made with other inputs or options: " + "; ".join(changed))
