"""Keep the windows of a stream on disk: which files each has, and which are finished.

    DIR/.streaming/NAME/run=NAME.w000001/window.json   the window is closed: these are its files
                                        /.attempt-…    it is being evaluated, like any run
                        /.attempt-…                    an engine's job: the parts of its windows
    DIR/run=NAME.w000001/                              moved in by one rename; it never changes
    DIR/.streaming/NAME/stream.json                    which command takes files: the newest alone

A stopped stream is resumed from these files. Windows are numbered, and a command closes one
by writing its `window.json`, which fails where another command has written it: so every file is in
one window, even where two commands run at once. Where one rename cannot move a folder (`gs://…`), a
window is written in its final place, with its manifest last.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from ufo.schemas import storage
from ufo.schemas.errors import RunError

WINDOW = "window.json"
EMPTY = "empty"
_MANIFEST = "manifest.json"
_STREAM = "stream.json"
_NUMBER = re.compile(r"\.w(\d{6,})$")


@dataclass(frozen=True, slots=True)
class Taken:
    """A file in a window: its path, and its size in bytes when the window was closed."""

    path: str
    size: int


def number_of(window: str) -> int:
    """Return the number in which the name of a window ends, from 1 on."""
    match = _NUMBER.search(window)
    assert match, window
    return int(match[1])


class Windows:
    """The windows of the stream `name` below the folder or prefix `output`.

    The files of a closed window never change, so each object reads them once.
    """

    def __init__(self, output: str, name: str) -> None:
        self.output = output
        self.name = name
        self.lock = storage.join(output, ".streaming", name)
        self.place = output if storage.is_remote(output) else self.lock
        self._files: dict[str, list[Taken]] = {}
        self._finished: set[str] = set()

    def named(self, number: int) -> str:
        """Return the name of a window by its number."""
        return f"{self.name}.w{number:06d}"

    def all(self) -> Iterator[tuple[str, list[Taken]]]:
        """Yield each closed window's name and files, oldest first."""
        pattern = re.compile(rf"run=({re.escape(self.name)}\.w\d{{6,}})[/\\]{re.escape(WINDOW)}$")
        found: dict[str, str] = {}
        for place in {self.place, self.output}:
            for path in self._checkpoints(place):
                match = pattern.search(path)
                if match:
                    found[match[1]] = path
        for window in sorted(found, key=number_of):
            if window not in self._files:
                content = json.loads(storage.read(self._moved(window, found[window])))
                self._files[window] = [Taken(one["path"], one["size"]) for one in content["files"]]
            yield window, self._files[window]

    def _moved(self, window: str, path: str) -> str:
        # It may have been finished since the folders were listed.
        return path if storage.exists(path) else storage.join(self.final(window), WINDOW)

    def files(self, window: str) -> list[Taken] | None:
        """Return the files of a window, None where it is not closed."""
        if window not in self._files:
            for folder in (self.staged(window), self.final(window)):
                if storage.exists(storage.join(folder, WINDOW)):
                    return dict(self.all())[window]
            return None
        return self._files[window]

    def taken(self, patterns: Sequence[str]) -> dict[str, int]:
        """Return the sizes of the files that windows have, by the paths that a pattern finds."""
        sizes = {file.path: file.size for _, files in self.all() for file in files}
        found = dict(sizes)
        for pattern in patterns:
            for path in storage.matches(pattern):
                if storage.absolute(path) in sizes:
                    found[path] = sizes[storage.absolute(path)]
        return found

    def finished(self, window: str) -> bool:
        """Return whether a window is evaluated, or was found to have no line at all."""
        if window not in self._finished and (
            storage.exists(storage.join(self.final(window), _MANIFEST))
            or storage.exists(storage.join(self.staged(window), EMPTY))
        ):
            self._finished.add(window)
        return window in self._finished

    def unfinished(self) -> list[str]:
        """Return the windows that are closed and not finished, oldest first."""
        return [window for window, _ in self.all() if not self.finished(window)]

    def next(self) -> int:
        """Return the number of the first window that is not closed."""
        return max((number_of(window) for window, _ in self.all()), default=0) + 1

    def close(self, files: Sequence[Taken]) -> str | None:
        """Close the next window with these files; return its name.

        Return None, and write nothing, where another command has put one of these files into a
        window, or closes the same window at this moment.
        """
        closed = dict(self.all())
        others = {file.path for taken in closed.values() for file in taken}
        if any(file.path in others for file in files):
            return None
        window = self.named(max(map(number_of, closed), default=0) + 1)
        folder = self.staged(window)
        storage.make_folder(folder)
        content = {
            "stream": self.name,
            "closed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "files": [{"path": file.path, "size": file.size} for file in files],
        }
        text = json.dumps(content, indent=1).encode()
        return window if storage.write_new(storage.join(folder, WINDOW), text) else None

    def publish(self, folder: str, window: str) -> None:
        """Publish the finished window in `folder`, unless it is published already.

        Raises:
            RunError: it cannot be moved.
        """
        final = self.final(window)
        if folder != final:
            staged = self.staged(window)
            try:
                if folder != staged:
                    storage.copy(storage.join(staged, WINDOW), storage.join(folder, WINDOW))
                storage.make_folder(self.output)
                move_in(folder, final)
            except OSError as error:
                if not storage.exists(storage.join(final, _MANIFEST)):
                    raise RunError(
                        f"window {window} is finished in {folder} and cannot be moved to {final}: "
                        f"{error}"
                    ) from error
            self.tidy(window)

    def tidy(self, window: str) -> None:
        """Delete what is left of the attempts at a published window."""
        staged, final = self.staged(window), self.final(window)
        if staged != final and storage.exists(storage.join(final, _MANIFEST)):
            storage.delete(staged)

    def mark_empty(self, window: str) -> None:
        """Record that no file of a window has a line."""
        storage.write(storage.join(self.staged(window), EMPTY), b"")

    def closed_at(self, window: str) -> datetime:
        """Return when a finished window was closed."""
        content = json.loads(storage.read(storage.join(self.final(window), WINDOW)))
        return datetime.fromisoformat(content["closed_at"])

    def staged(self, window: str) -> str:
        """Return the folder of a window until it is finished."""
        return storage.join(self.place, f"run={window}")

    def final(self, window: str) -> str:
        """Return the folder of a window once it is finished."""
        return storage.join(self.output, f"run={window}")

    def take_over(self) -> str:
        """Make this command the one that takes files for the stream; return an id for it.

        What a job of an earlier command was writing is deleted: such a job takes no more files.
        """
        identifier = uuid4().hex[:8]
        storage.make_folder(self.lock)
        self._gathered(identifier, ended=False)
        for path in storage.files_below(self.lock):
            match = re.match(re.escape(self.lock) + r"[/\\]\.attempt-[0-9a-f]+", path)
            if match:
                storage.delete(match[0])
        return identifier

    def end(self, identifier: str) -> None:
        """Record that the command of this id closes no further window."""
        self._gathered(identifier, ended=True)

    def ended(self, identifier: str) -> bool:
        """Return whether `end` was called, or another command has taken over."""
        found = json.loads(storage.read(storage.join(self.lock, _STREAM)))
        return bool(found["ended"]) or found["gathered_by"] != identifier

    def _gathered(self, identifier: str, ended: bool) -> None:
        text = json.dumps({"gathered_by": identifier, "ended": ended})
        storage.write(storage.join(self.lock, _STREAM), text.encode())

    def _checkpoints(self, place: str) -> list[str]:
        if storage.is_remote(place):
            return storage.matches(storage.join(place, f"run={self.name}.w*", WINDOW))
        folders = os.listdir(place) if os.path.isdir(place) else []
        paths = [os.path.join(place, folder, WINDOW) for folder in folders]
        return [path for path in paths if os.path.exists(path)]


def move_in(staged: str, final: str) -> None:
    """Publish a finished window in one step."""
    os.rename(staged, final)
