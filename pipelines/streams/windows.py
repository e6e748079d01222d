"""The windows of a stream on disk: a log of which files each has, and where each is finished.

    DIR/.streaming/NAME/run=NAME.w000001/window.json   the window is closed: these are its files
                                        /.attempt-…    it is being evaluated, like any run
                        /.attempt-…                    an engine's job: the parts of its windows
    DIR/run=NAME.w000001/                              moved in by one rename; it never changes
    DIR/.streaming/NAME/stream.json                    who gathers files: the newest command alone

The log is what a stream goes on from: a window has the next number, and one who closes it writes
`window.json` where nobody has, so that every file is in one window, whoever gathers. Where one
rename cannot move a folder (`gs://…`), a window is written in its place, its manifest last.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import uuid4

from pipelines import storage
from pipelines.streams.arrivals import Taken
from schemas.errors import RunError

WINDOW = "window.json"
EMPTY = "empty"
_MANIFEST = "manifest.json"
_STREAM = "stream.json"
_NUMBER = re.compile(r"\.w(\d{6,})$")


def number_of(window: str) -> int:
    """Return the number of a window, from 1, of which its name ends."""
    match = _NUMBER.search(window)
    assert match, window
    return int(match[1])


class Windows:
    """The windows of the stream `name` below the folder or prefix `output`.

    What they have is read once by each object: it never changes.
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
        """Tell whether a window is evaluated; one without a line is as soon as that is known."""
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
        """Write down which files the next window has; returns its name. From here on they are its.

        Nothing is written, and None returned, where another has closed a window since with one of
        them, or closes that window at this moment.
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
        """Have a finished window in `folder` seen by readers: in one step, or it is there already.

        Raises:
            RunError: it cannot be moved to where readers look.
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
        """Delete what is left of the attempts at a window that readers see."""
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
        """Be the one who gathers files for this stream; returns the id by which to know.

        What an engine's job of an earlier command was writing is deleted: a job that is still there
        gathers no more.
        """
        identifier = uuid4().hex[:8]
        storage.make_folder(self.lock)
        text = json.dumps({"gathered_by": identifier, "ended": False})
        storage.write(storage.join(self.lock, _STREAM), text.encode())
        for path in storage.files_below(self.lock):
            match = re.match(re.escape(self.lock) + r"[/\\]\.attempt-[0-9a-f]+", path)
            if match:
                storage.delete(match[0])
        return identifier

    def gathered_by(self, identifier: str) -> bool:
        """Tell whether nobody has taken over since."""
        return bool(self._stream().get("gathered_by") == identifier)

    def end(self, identifier: str) -> None:
        """Record that no window will follow of those that `identifier` gathers."""
        text = json.dumps({"gathered_by": identifier, "ended": True})
        storage.write(storage.join(self.lock, _STREAM), text.encode())

    def ended(self, identifier: str) -> bool:
        """Tell whether `end` was called, or another has taken over."""
        return bool(self._stream().get("ended")) or not self.gathered_by(identifier)

    def _stream(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(storage.read(storage.join(self.lock, _STREAM)))
        return found

    def _checkpoints(self, place: str) -> list[str]:
        if storage.is_remote(place):
            return storage.matches(storage.join(place, f"run={self.name}.w*", WINDOW))
        folders = os.listdir(place) if os.path.isdir(place) else []
        paths = [os.path.join(place, folder, WINDOW) for folder in folders]
        return [path for path in paths if os.path.exists(path)]


def move_in(staged: str, final: str) -> None:
    """Move a finished window to where readers look, in one step."""
    os.rename(staged, final)
