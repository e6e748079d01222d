"""What a run saw of the web, in a folder: recorded once, and replayed as it was.

    DIR/searches/ab/<hash>.json   the raw reply to a query, and when it came
        pages/ab/<hash>.json      what a URL gave: status, type, reason, and the hash of its body
        bodies/ab/<SHA-256>       bodies by their content, each once
        recording.json            written first: which recording it is
        manifest.json             written last: how many of each, and a hash over all of them

A folder without a manifest is being recorded: what is in it is used, what is not is asked for and
added. One with a manifest is only read, and what is not in it is an error. Any number of processes
may record at once: a file appears as a whole under a name that its key decides, and the first to
write it has written it for all.
"""

import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from ufo.schemas.errors import RunError, UsageError
from ufo.transforms.sources.web.documents import FetchedPage

NOT_RECORDED: Final = "not_in_snapshot"
_MANIFEST: Final = "manifest.json"
_RECORDING: Final = "recording.json"
_FORMAT: Final = "ufo-web-snapshot"
_VERSION: Final = 1
_SEARCHES: Final = "searches"
_PAGES: Final = "pages"
_BODIES: Final = "bodies"


class Snapshot:
    """A folder with searches and pages.

    Raises, when it is opened:
        UsageError: the folder is another one's, damaged, or of a newer version.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.finished = self._manifest() is not None
        """Whether it is replayed."""

    def begin(self) -> str:
        """Return the id of this recording; the first process to ask makes it."""
        path = self.folder / _RECORDING
        if not path.exists() and not self.finished:
            self._put(path, json.dumps({"id": uuid4().hex}).encode())
        try:
            return str(json.loads(path.read_bytes())["id"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged(_RECORDING, error) from None

    # --- searches ---

    def search(self, key: str) -> dict[str, Any] | None:
        """Return what was recorded of a search; None where there is nothing."""
        return self._read(_SEARCHES, key)

    def keep_search(self, key: str, found: dict[str, Any], again: bool = False) -> dict[str, Any]:
        """Record a search; returns what holds, which is another's where that was first.

        With `again` it takes the place of what was recorded: a search that had failed.
        """
        return self._write(_SEARCHES, key, found, again)

    # --- pages ---

    def page(self, url: str) -> FetchedPage | None:
        """Return the page that was recorded for a URL; None where there is none."""
        entry = self._read(_PAGES, url)
        return None if entry is None else self._page(entry)

    def keep_page(self, page: FetchedPage) -> FetchedPage:
        """Record a page; returns the one that holds."""
        digest = sha256(page.body).hexdigest()
        if page.body:
            path = self._path(_BODIES, digest)
            if not path.exists():
                self._put(path, page.body)
        entry = {**asdict(replace(page, body=b"")), "body": digest if page.body else None}
        return self._page(self._write(_PAGES, page.url, entry))

    def missing(self, url: str) -> FetchedPage:
        """Return what stands for a page that was not recorded."""
        return FetchedPage(url, url, 0, "", b"", None, "", NOT_RECORDED, self.remedy)

    @property
    def remedy(self) -> str:
        """What to do about something that was not recorded."""
        return (
            f"it is not in the snapshot {self.folder}, which is replayed without network; record "
            "another with --web_snapshot and a new folder"
        )

    def finish(self) -> None:
        """Write the manifest: from now on the folder is replayed. Of a finished one, nothing."""
        if self.finished:
            return
        counts = {}
        digest = sha256()
        for kind in (_SEARCHES, _PAGES, _BODIES):
            paths = sorted(p for p in (self.folder / kind).glob("*/*") if _is_entry(p))
            counts[kind] = len(paths)
            for path in paths:
                content = path.name.encode() if kind == _BODIES else path.read_bytes()
                digest.update(path.name.encode() + sha256(content).digest())
        text = json.dumps(
            {
                "format": _FORMAT,
                "version": _VERSION,
                "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
                **counts,
                "sha256": digest.hexdigest(),
            },
            indent=1,
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._put(self.folder / _MANIFEST, text.encode())
        self.finished = True

    def _page(self, entry: dict[str, Any]) -> FetchedPage:
        try:
            body = b""
            if entry["body"]:
                path = self._path(_BODIES, entry["body"])
                body = path.read_bytes()
                if sha256(body).hexdigest() != entry["body"]:
                    raise ValueError("the body is not what was recorded")
            return FetchedPage(**{**entry, "body": body})
        except (OSError, TypeError, KeyError, ValueError) as error:
            raise self._damaged(str(entry.get("url")), error) from None

    def _manifest(self) -> dict[str, Any] | None:
        path = self.folder / _MANIFEST
        if not path.exists():
            strangers = self.folder.exists() and (
                not self.folder.is_dir()
                or {p.name.lstrip(".").partition(".json")[0] for p in self.folder.iterdir()} - _OURS
            )
            if strangers:
                raise UsageError(
                    f"--web_snapshot {str(self.folder)!r} is neither a snapshot nor empty; name a "
                    "new folder, or one that was recorded"
                )
            return None
        try:
            found = json.loads(path.read_bytes())
            known = found["format"] == _FORMAT and found["version"] <= _VERSION
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise UsageError(
                f"--web_snapshot {str(self.folder)!r}: its {_MANIFEST} is none of a snapshot that "
                "this version of ufo reads"
            )
        return dict(found)

    def _read(self, kind: str, key: str) -> dict[str, Any] | None:
        path = self._path(kind, sha256(key.encode()).hexdigest())
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise self._damaged(key, error) from None
        return dict(found)

    def _write(
        self, kind: str, key: str, entry: dict[str, Any], again: bool = False
    ) -> dict[str, Any]:
        path = self._path(kind, sha256(key.encode()).hexdigest())
        text = json.dumps(entry, ensure_ascii=True, sort_keys=True).encode()
        self._put(path, text, over=again)
        # What is replayed is what was written, down to the last digit.
        return self._read(kind, key) or entry

    def _put(self, path: Path, data: bytes, over: bool = False) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
            fresh.write_bytes(data)
            if over:
                fresh.replace(path)
                return
            try:
                os.link(fresh, path)  # unlike a rename, fails where another process was first
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        except OSError as error:
            raise RunError(
                f"the snapshot {self.folder} cannot be written: {error}; make room, or name "
                "another folder with --web_snapshot"
            ) from error

    def _path(self, kind: str, name: str) -> Path:
        return self.folder / kind / name[:2] / (name if kind == _BODIES else f"{name}.json")

    def _damaged(self, what: str, error: Exception) -> RunError:
        return RunError(
            f"the snapshot {self.folder} is damaged at {what}: {error}; take a whole copy of it, "
            "or record another"
        )


_OURS = {_SEARCHES, _PAGES, _BODIES, "recording", "manifest"}


def _is_entry(path: Path) -> bool:
    return not path.name.startswith(".")


def finish_recording(folder: str) -> None:
    """Finish the snapshot in a folder, whichever process recorded it."""
    Snapshot(folder).finish()
