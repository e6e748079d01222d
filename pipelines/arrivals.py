"""Find the files of a stream, and additions to files, that are in no window yet.

A file is recognised by its content (`runs/window_files.py`). Its dates only say when to read that
again, so that a look does not read all files of a large folder.
"""

import glob
import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain

from ufo.pipelines.runs.window_files import (
    LOST,
    MARKED,
    UNUSABLE,
    ArrivedFile,
    Content,
    WindowFile,
    first_gap,
)
from ufo.schemas import storage
from ufo.schemas.file_systems import is_remote

_LOOKS_GONE = 2  # after so many a file is gone, not renamed: its new name is known by then
_SHOWN = 5
_INEXACT = 2_000_000_000  # the greatest error of a file's dates in nanoseconds
_NO_FILE = -1  # as a size: a folder, a pipe or a link to nothing


@dataclass(frozen=True, slots=True)
class State:
    """The state of a file, which changes with its content: size and dates, or a remote version.

    `identity` is the same for all names of one file of this machine; a remote file has none.
    """

    size: int
    dates: tuple[int, ...] = ()  # nanoseconds since 1970
    version: str = ""
    identity: tuple[int, int] | None = None


class Arrivals:
    """The files that match the patterns and are in no window yet.

    A file counts as arrived once two looks in a row find it unchanged and not empty: a file that is
    still being written is not read. `unsettled` says whether the last look found such a file.
    """

    def __init__(
        self, patterns: Sequence[str], taken: Iterable[WindowFile], say: Callable[[str], None]
    ) -> None:
        self.unsettled = False
        self._patterns = patterns
        self._say = say
        self._said: set[str] = set()
        self._moved = 0
        self._seen: dict[str, State] = {}
        self._judged: dict[str, int] = {}  # when, in nanoseconds since 1970
        self._waiting: dict[str, ArrivedFile] = {}
        self._gone: dict[str, int] = {}  # how many looks have missed a waiting file
        self._homes: dict[WindowFile, str] = {}  # under which other name a taken file is now
        self.know(taken)

    def know(self, taken: Iterable[WindowFile]) -> None:
        """Replace the known files of windows, which have grown or have new outcomes."""
        self._by_path: dict[str, list[WindowFile]] = defaultdict(list)
        self._by_head: dict[tuple[int, str], list[WindowFile]] = defaultdict(list)
        for taken_file in taken:
            self._by_path[taken_file.file.path].append(taken_file)
            if taken_file.outcome == LOST:
                self._judged.pop(taken_file.file.path, None)  # it may be back
            elif taken_file.file.first is not None:
                self._by_head[min(taken_file.file.size, MARKED), taken_file.file.first].append(
                    taken_file
                )
        self._lengths = sorted({length for length, _ in self._by_head})

    def look(self) -> list[ArrivedFile]:
        """Return the files that wait for a window, in order of arrival."""
        self.unsettled = False
        present = self._present()
        for path, state in present.items():
            self._look_at(path, state)
        for path in [path for path in self._seen if path not in present]:
            self._miss(path)
        return list(self._waiting.values())

    def unmatched_patterns(self) -> list[str]:
        """Return the patterns that no file matches now."""
        return [pattern for pattern in self._patterns if not any(_paths(pattern))]

    def take_waiting(self) -> list[ArrivedFile]:
        """Return the files for the next window, which then no longer wait.

        These are each waiting file as it is now, and those that have waited and are gone.
        """
        files: list[ArrivedFile] = []
        for path, file in [*self._waiting.items()]:
            news: ArrivedFile | None = file
            if path in self._gone:
                if self._gone[path] < _LOOKS_GONE:
                    continue
                del self._gone[path], self._seen[path]
            else:
                news = self._news(path)
            del self._waiting[path]
            self._judged.pop(path, None)  # the window may take only some of what is new
            if news is not None:
                files.append(news)
        return files

    def found_at(self, file: ArrivedFile) -> str | None:
        """Return the path at which a file of a window is now, if it was renamed."""
        if file.is_without_checksums:  # it cannot be recognised
            return None
        for path, state in self._present().items():
            if path == file.path or state.size <= 0:
                continue
            content = Content(path, state.size)
            own = (one for one in self._by_path.get(path, ()) if one.outcome != LOST)
            if content.begins_with(file) and not any(content.begins_with(one.file) for one in own):
                return path
        return None

    def _look_at(self, path: str, state: State) -> None:
        self._gone.pop(path, None)
        if self._seen.get(path) != state:
            self._seen[path] = state
            self._judged.pop(path, None)
            self._waiting.pop(path, None)
            self.unsettled |= state.size != 0
        elif path not in self._judged or _is_recent(state, self._judged[path]):
            self._judged[path] = time.time_ns()
            news = self._news(path) if state.size else None
            if news is None:
                self._waiting.pop(path, None)
            else:
                self._waiting[path] = news

    def _miss(self, path: str) -> None:
        """Note that a file is gone.

        A file that waited stays in the next window, unless it waits under another name by now.
        """
        self._judged.pop(path, None)
        if path not in self._waiting:
            del self._seen[path]
            return
        self._gone[path] = self._gone.get(path, 0) + 1
        self.unsettled |= self._gone[path] < _LOOKS_GONE
        if any(self._is_renamed(path, other) for other in self._waiting.values()):
            del self._waiting[path], self._gone[path], self._seen[path]

    def _is_renamed(self, path: str, other: ArrivedFile) -> bool:
        """Return whether a file that is gone waits under another name."""
        gone = self._waiting[path]
        same = (other.first, other.last, other.size) == (gone.first, gone.last, gone.size)
        return same and other.path not in self._gone and other.path != path

    def _news(self, path: str) -> ArrivedFile | None:
        """Return the part of a file that no window has taken: all, an addition, or None."""
        size = max(0, self._seen[path].size)
        content = Content(path, size)
        content.marks(size)  # whether it can be read
        try:
            own = [one for one in self._by_path.get(path, ()) if _contains(content, one)]
            if content.problem is not None:
                news = None if own else content.arrived_file(0, size)
            else:
                news = self._range(content, own)
            if _state(path) == self._seen[path]:
                return news
        except OSError:
            pass
        self._judged.pop(path, None)  # it was changed meanwhile: the next look finds out
        return None

    def _range(self, content: Content, own: Sequence[WindowFile]) -> ArrivedFile | None:
        """Return the first range of a file that no window has taken, None if there is none.

        Windows have taken ranges under its name (`own`), or under names from which it was moved.
        """
        path, size = content.path, content.size
        covered = [(taken_file.file.start, taken_file.file.size) for taken_file in own]
        moved = None
        for taken_file in self._moved_here(content):
            # Of two files of the same content, each is one of those that were taken.
            if _adds_to(covered, taken_file.file):
                covered.append((taken_file.file.start, taken_file.file.size))
                self._homes[taken_file] = path
                moved = taken_file
        gap = first_gap(covered, size)
        if moved is not None:
            old, what = moved.file.path, "; what was added to it is new" if gap else ""
            self._say_moved(
                f"{path} is {old}, renamed or moved, which window {moved.window} has taken{what}."
            )
        elif gap == (0, size) and (earlier := self._by_path.get(path)):
            self._say_replaced(path, earlier)
        if gap is None:
            return None
        start, end = gap
        if start:
            start = content.line_start(start)
            if content.is_blank(start, end):
                return None
        return content.arrived_file(start, end)

    def _say_replaced(self, path: str, earlier: Sequence[WindowFile]) -> None:
        if any(one.outcome not in (LOST, UNUSABLE) for one in earlier):
            self._say_once(
                f"{path} has another content than the file that window {earlier[-1].window} has "
                "taken: it is a new file."
            )

    def _moved_here(self, content: Content) -> Iterator[WindowFile]:
        """Yield the taken files that were moved to this file, the earliest bytes first.

        Their content is in this file, and no longer under their own name.
        """
        taken_files = [
            taken_file
            for head in self._heads(content)
            for taken_file in self._by_head.get(head, ())
            if taken_file.file.path != content.path and _contains(content, taken_file)
        ]
        for taken_file in sorted(taken_files, key=lambda one: (one.file.start, -one.file.size)):
            home = self._homes.get(taken_file, content.path)
            if not _is_at(taken_file, taken_file.file.path) and (
                home == content.path or not _is_at(taken_file, home)
            ):
                yield taken_file

    def _heads(self, content: Content) -> Iterator[tuple[int, str]]:
        digest, at = sha256(), 0
        for length in self._lengths:
            if length > len(content.head):
                return
            digest.update(content.head[at:length])
            at = length
            yield length, digest.copy().hexdigest()

    def _say_moved(self, text: str) -> None:
        new = text not in self._said
        self._said.add(text)
        self._moved += new
        if new and self._moved <= _SHOWN:
            self._say(text)
        elif new and self._moved == _SHOWN + 1:
            self._say("More files were renamed or moved, and are not named.")

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def _present(self) -> dict[str, State]:
        """Return the files of the patterns with their states, each under one name."""
        present: dict[str, State] = {}
        names: dict[tuple[int, int], str] = {}
        for path in dict.fromkeys(chain.from_iterable(map(_paths, self._patterns))):
            state = _state(path)
            if state is None:
                continue
            other = names.get(state.identity) if state.identity else None
            if other is not None:
                better = self._is_better_name(path, other)
                kept, dropped = (path, other) if better else (other, path)
                self._say_once(f"{dropped} and {kept} are one file: it is read as the latter.")
                if not better:
                    continue
                del present[other]
            present[path] = state
            if state.identity:
                names[state.identity] = path
        return present

    def _is_better_name(self, path: str, other: str) -> bool:
        """Return whether `path` is the better of two names of a file.

        A name that a window has is the best; else the file's own name is better than a link's.
        """
        return (path in self._by_path, not os.path.islink(path)) > (
            other in self._by_path,
            not os.path.islink(other),
        )


def _paths(pattern: str) -> Iterator[str]:
    """Yield the paths that match a pattern."""
    if is_remote(pattern):
        yield from storage.matches(pattern)
    elif os.path.lexists(pattern):
        yield os.path.abspath(pattern)
    else:
        # A folder counts as a match only where the pattern's last part is more than wildcards.
        named = re.search(r"[^*?/\\]", re.split(r"[/\\]", pattern)[-1])
        for path in sorted(glob.glob(pattern, recursive=True)):
            if named or not os.path.isdir(path):
                yield os.path.abspath(path)


def _contains(content: Content, taken: WindowFile) -> bool:
    """Return whether a file begins with the bytes that a window has taken.

    An unusable file must be the same as a whole: an addition may be what it lacked.
    """
    if taken.outcome == LOST:
        return False
    if taken.outcome == UNUSABLE and taken.file.size != content.size:
        return False
    return content.begins_with(taken.file)


def _is_at(taken: WindowFile, path: str) -> bool:
    """Return whether the file at a path still has the bytes that a window has taken."""
    state = _state(path)
    return state is not None and Content(path, max(0, state.size)).begins_with(taken.file)


def _adds_to(covered: Sequence[tuple[int, int]], file: ArrivedFile) -> bool:
    """Return whether a range has a part that is not covered yet."""
    inside = [(max(start, file.start), min(end, file.size)) for start, end in covered]
    ranges = [(start - file.start, end - file.start) for start, end in inside if start < end]
    return first_gap(ranges, file.size - file.start) is not None


def _is_recent(state: State, judged: int) -> bool:
    """Return whether a file may have changed since it was judged without a change of its dates.

    Dates are only as exact as the file system, so a file that was written just before may have.
    """
    return any(abs(judged - date) < _INEXACT for date in state.dates)


def _state(path: str) -> State | None:
    """Return the state of a file; None if it was deleted meanwhile."""
    try:
        if is_remote(path):
            size, version = storage.version(path)
            return State(size, version=version)
        status = os.stat(path)
    except (OSError, IndexError):
        if is_remote(path) or not os.path.lexists(path):
            return None
        return State(_NO_FILE)
    if not stat.S_ISREG(status.st_mode):
        return State(_NO_FILE)
    dates = status.st_mtime_ns, status.st_ctime_ns
    return State(status.st_size, dates, identity=(status.st_dev, status.st_ino))
