"""Read, write and list files, wherever they are: on this machine, in buckets or on clusters.

A path of this machine goes to the operating system, and may have any character. A URI with a scheme
(`gs://`, `s3://`, `hdfs://`, `file://`) goes to fsspec (`file_systems`).
"""

import glob
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from uuid import uuid4

from ufo.schemas.errors import UsageError
from ufo.schemas.file_systems import OBJECT_STORES, file_system, is_remote, scheme_of
from ufo.schemas.text import is_utf8

_BLOCK: Final = 1 << 20
_BUFFER: Final = 8 << 20  # each is a request
_CHANGED: Final = ("mtime", "updated", "LastModified", "last_modified", "created")
"""The names by which file systems give the time of the last change."""
_VERSIONS: Final = ("etag", "ETag", "generation", "md5Hash", "VersionId", "checksum", "ino")
"""The names by which file systems give the version of a file's content."""


class Listed(NamedTuple):
    """A file below a folder, its size in bytes, and when it was written (seconds since 1970)."""

    path: str
    size: int
    written: float


def _uri(folder: str, place: str, path: str) -> str:
    """Return the URI of a path in a file system, at or below a folder with the path `place`."""
    place, path = place.strip("/"), path.strip("/")
    return join(folder, path.removeprefix(place)) if path != place else folder


def join(folder: str, *parts: str) -> str:
    """Return the path of a file or folder below a folder."""
    if not is_remote(folder):
        return os.path.join(folder, *parts)
    first, chain, others = folder.partition("::")
    if chain and is_remote(first):  # a folder in what the others name
        return join(first, *parts) + chain + others
    scheme, _, inside = folder.partition("://")
    names = [inside.rstrip("/"), *(part.strip("/") for part in parts)]
    below = "/".join(filter(None, names))
    return f"{scheme}://{'/' * (inside[:1] == '/' != below[:1])}{below}"


def absolute(path: str) -> str:
    """Return a path that is the same in every working folder."""
    return path if is_remote(path) else os.path.abspath(path)


def exists(path: str) -> bool:
    """Return whether there is a file or folder at the path."""
    if not is_remote(path):
        return os.path.exists(path)
    with file_system(path) as (system, place):
        return _info(system, place) is not None


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted, or the one file of exactly that name.

    `*` and `?` match within a name, `**` also across folders.
    """
    if not is_remote(pattern):
        if os.path.lexists(pattern):
            return [pattern]
        return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    with file_system(pattern) as (system, place):
        info = _info(system, place)
        if info is not None and info["type"] == "file":
            return [pattern]
        if not glob.has_magic(place):
            return []
        fixed = pattern[: min(pattern.index(sign) for sign in "*?[" if sign in pattern)]
        chain = (
            "".join(pattern.partition("::")[1:]) if is_remote(pattern.partition("::")[0]) else ""
        )
        folder = fixed[: fixed.rindex("/") + 1] + chain
        with file_system(folder) as (_, above):
            infos = system.glob(place, detail=True)
            if not infos:  # `glob` takes a folder that it may not list for one without files
                with suppress(FileNotFoundError):
                    system.ls(above, detail=False)
            files = (name for name, info in infos.items() if info["type"] == "file")
            return sorted(_uri(folder, above, name) for name in files)


def _info(system: Any, place: str) -> dict[str, Any] | None:
    """Return a file system's entry of a path; None if there is nothing.

    Its `exists` and `isfile` are False also after a refusal, or without an answer."""
    try:
        return dict(system.info(place))
    except FileNotFoundError:
        return None


def open_read(path: str) -> BinaryIO:
    """Open a file's bytes as they are stored, compressed or not."""
    if not is_remote(path):
        return open(path, "rb")
    with file_system(path) as (system, place):
        return io.BufferedReader(_Reading(path, system.open(place, "rb", block_size=_BUFFER)))


class _Reading(io.RawIOBase):
    """A file of another file system, whose errors are those of this module."""

    def __init__(self, uri: str, file: Any) -> None:
        self._uri = uri
        self._file = file

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether `seek` works."""
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a place in the file, and return it."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes into a buffer; return their number, 0 at the end."""
        with file_system(self._uri):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


def size(path: str) -> int:
    """Return a file's size in bytes."""
    if not is_remote(path):
        return os.path.getsize(path)
    with file_system(path) as (system, place):
        return int(system.size(place))


def version(path: str) -> tuple[int, str]:
    """Return the size of a remote file, and its other properties that change with its content.

    These are a time, a tag or a generation, as far as its file system has them."""
    with file_system(path) as (system, place):
        info = system.info(place)
        marks = {name: info[name] for name in (*_CHANGED, *_VERSIONS) if info.get(name)}
        return int(info.get("size") or 0), repr(marks)


def read(path: str) -> bytes:
    """Return a file's bytes."""
    if is_remote(path):
        with file_system(path) as (system, place):
            return bytes(system.cat_file(place))
    with open(path, "rb") as stream:
        return stream.read()


def read_range(path: str, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` to `end`; fewer where it is shorter."""
    if is_remote(path):
        with file_system(path) as (system, place):
            return bytes(system.cat_file(place, start=start, end=end)) if start < end else b""
    with open(path, "rb") as stream:
        stream.seek(start)
        return stream.read(end - start)


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing; it appears whole at the end of the block, or not at all on an error.

    A pipe or a device, as /dev/stdout may be one, is written at once: it stays what it is.
    """
    if is_remote(path):
        sink = io.BytesIO()
        yield sink
        with file_system(path) as (system, place), _whole(path, system, place) as target:
            system.pipe_file(target, sink.getvalue())
        return
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path) if os.path.islink(path) else path  # the link stays
    temporary = f"{target}.{uuid4().hex[:8]}.tmp"
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)


@contextmanager
def _whole(uri: str, system: Any, place: str) -> Iterator[str]:
    """Yield the path to write to: a temporary one where unfinished files could be seen."""
    if scheme_of(uri) in OBJECT_STORES:
        yield place
        return
    temporary = f"{place}.{uuid4().hex[:8]}.tmp"
    yield temporary
    system.mv(temporary, place)


def write(path: str, data: bytes) -> None:
    """Write a file; after an error there is no file."""
    with writing(path) as sink:
        sink.write(data)
        if not is_remote(path):
            sink.flush()
            os.fsync(sink.fileno())


def flush(paths: Iterable[str]) -> None:
    """Wait until these files are on disk. Other file systems need no such wait.

    Many files take little longer than one.
    """
    for path in paths:
        if not is_remote(path):
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a file's bytes, in hex digits."""
    digest = sha256()
    with open_read(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def fetch(path: str, here: Path) -> None:
    """Copy a file of another file system to this machine; after an error there is none."""
    here.parent.mkdir(parents=True, exist_ok=True)
    temporary = here.with_name(f".{here.name}.{uuid4().hex[:8]}.tmp")
    try:
        with file_system(path) as (system, place):
            system.get_file(place, str(temporary))
        temporary.replace(here)
    finally:
        temporary.unlink(missing_ok=True)


def send(here: str, path: str) -> None:
    """Copy a file of this machine to a path of another file system."""
    make_folder(os.path.dirname(path))
    with file_system(path) as (system, place), _whole(path, system, place) as target:
        system.put_file(here, target)


def write_new(path: str, data: bytes) -> bool:
    """Write a file unless it exists, and return whether it was written. Of several concurrent calls
    one writes. Other file systems have no lock: two calls may both write."""
    if is_remote(path):
        if exists(path):
            return False
        write(path, data)
        return True
    temporary = f"{path}.{uuid4().hex[:8]}.tmp"
    write(temporary, data)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    return True


def make_folder(path: str) -> None:
    """Create a folder and its parents if they do not exist. Object stores have no folders."""
    if not is_remote(path):
        os.makedirs(path, exist_ok=True)
    elif scheme_of(path) not in OBJECT_STORES:
        with file_system(path) as (system, place):
            system.makedirs(place, exist_ok=True)


def move(source: str, target: str) -> None:
    """Move a file within one file system."""
    if not is_remote(target):
        os.replace(source, target)
        return
    with file_system(source) as (system, place), file_system(target) as (_, there):
        # `mv` would take the names for patterns, and in an object store it is a copy as well.
        if scheme_of(target) in OBJECT_STORES or glob.has_magic(place + there):
            system.cp_file(place, there)
            system.rm_file(place)
        else:
            system.mv(place, there)


def delete(path: str) -> None:
    """Delete a file, or a folder with its content, if it exists."""
    if is_remote(path):
        with file_system(path) as (system, place):
            info = _info(system, place)
            if info is None:
                return
            if info["type"] == "file":
                system.rm_file(place)
            elif not glob.has_magic(place):
                system.rm(place, recursive=True)
            else:  # `rm` would take it for a pattern, and delete what that matches
                _delete_below(system, place, folders=scheme_of(path) not in OBJECT_STORES)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)


def _delete_below(system: Any, place: str, folders: bool) -> None:
    infos = system.find(place, withdirs=folders, detail=True)
    for name, info in sorted(infos.items(), reverse=True):
        if info["type"] == "file":
            system.rm_file(name)
        else:
            system.rmdir(name)


def files_below(folder: str) -> list[str]:
    """Return the paths of all files below a folder, sorted."""
    return [file.path for file in listed(folder)]


def listed(folder: str) -> list[Listed]:
    """Return all files below a folder, sorted by their paths.

    What another process deletes meanwhile is left out.
    """
    if not is_remote(folder):
        return list(_listed_here(folder))
    with file_system(folder) as (system, place):
        infos = system.find(place, detail=True)
        if isinstance(infos, list):  # adlfs: of a file
            infos = {name: system.info(name) for name in infos}
        return sorted(
            Listed(_uri(folder, place, name), int(info.get("size") or 0), _seconds(info))
            for name, info in infos.items()
        )


def _listed_here(folder: str) -> Iterator[Listed]:
    walk = os.walk(folder, onerror=_raise_unless_gone)
    for path in sorted(Path(parent, name) for parent, _, names in walk for name in names):
        with suppress(FileNotFoundError):
            if path.is_file():
                state = path.stat()
                yield Listed(str(path), state.st_size, state.st_mtime)


def _raise_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError):
        raise error


def _seconds(info: dict[str, Any]) -> float:
    value = next((info[name] for name in _CHANGED if info.get(name)), 0.0)
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return value.timestamp() if isinstance(value, datetime) else float(value)


def check_name(what: str, name: str, is_path: bool = True) -> None:
    """Check that a name, or all of a path, is UTF-8, as tables, databases and libraries need it.

    `what` says in the message whose name it is.

    Raises:
        UsageError: it is not.
    """
    whole = str(Path(name).absolute()) if is_path and not is_remote(name) else name
    if not is_utf8(whole):
        in_full = f", in full {whole!r}," if is_utf8(name) else ""
        raise UsageError(f"{what} {name!r}{in_full} is not UTF-8; give another")
