"""Files of inputs and runs: plain paths here, every other file system through Beam.

Local paths do not go through Beam, whose `match` and `delete` read `[` and `*` in a folder's name
as patterns, and whose import is most of a command's start. Whatever goes wrong on another file
system is an OSError that says what to do.
"""

import glob
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from uuid import uuid4

from pipelines.remote import explained, ready, stream
from schemas.places import is_remote as is_remote

if TYPE_CHECKING:
    from apache_beam.io.filesystems import FileSystems


_BLOCK = 1 << 20


def _beam(path: str) -> "type[FileSystems]":
    from pipelines.logs import quiet_beam

    quiet_beam()
    from apache_beam.io.filesystems import FileSystems

    ready(path)
    return cast("type[FileSystems]", FileSystems)


def join(folder: str, *parts: str) -> str:
    """Return the path of something below a folder."""
    if is_remote(folder):
        scheme, _, rest = folder.partition("://")
        return f"{scheme}://" + "/".join([rest.rstrip("/"), *(part.strip("/") for part in parts)])
    return os.path.join(folder, *parts)


def absolute(path: str) -> str:
    """Return the path as a process with another working folder finds it."""
    return path if is_remote(path) else os.path.abspath(path)


def exists(path: str) -> bool:
    """Tell whether there is a file or folder at the path."""
    if not is_remote(path):
        return os.path.exists(path)
    with explained(path):
        return bool(_beam(path).exists(path))


def is_folder(path: str) -> bool:
    """Tell whether a local path is a folder."""
    return os.path.isdir(path)


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted; a file of that very name is one."""
    if is_remote(pattern):
        with explained(pattern):
            return sorted(found.path for found in _beam(pattern).match([pattern])[0].metadata_list)
    if os.path.lexists(pattern):
        return [pattern]
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def open_read(path: str) -> BinaryIO:
    """Open a file's bytes as they are stored, compressed or not."""
    if not is_remote(path):
        return open(path, "rb")
    with explained(path):
        beam = _beam(path)
        from apache_beam.io.filesystem import CompressionTypes

        found = beam.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return stream(path, found)


def size(path: str) -> int:
    """Return a file's size in bytes."""
    if not is_remote(path):
        return os.path.getsize(path)
    with explained(path):
        return int(_beam(path).match([path])[0].metadata_list[0].size_in_bytes)


def read(path: str) -> bytes:
    """Return a file's bytes."""
    with open_read(path) as stream:
        return stream.read()


def write(path: str, data: bytes) -> None:
    """Write a file under a temporary name and move it into place: whole, or not there."""
    temporary = f"{path}.{uuid4().hex[:8]}.tmp"
    if is_remote(path):
        with explained(path):
            with _beam(path).create(temporary, "application/octet-stream") as sink:
                sink.write(data)
            _beam(path).rename([temporary], [path])
        return
    with open(temporary, "wb") as sink:
        sink.write(data)
        sink.flush()
        os.fsync(sink.fileno())
    os.replace(temporary, path)


def fetch(path: str, here: Path) -> None:
    """Copy a file of another file system to a path of this machine: whole, or not there."""
    here.parent.mkdir(parents=True, exist_ok=True)
    temporary = here.with_name(f".{here.name}.{uuid4().hex[:8]}.tmp")
    try:
        with open(temporary, "wb") as sink, open_read(path) as source:
            shutil.copyfileobj(source, sink, _BLOCK)
        temporary.replace(here)
    finally:
        temporary.unlink(missing_ok=True)


def send(here: str, path: str) -> None:
    """Copy a file of this machine to a path of another file system."""
    with (
        open(here, "rb") as source,
        explained(path),
        _beam(path).create(path, "application/octet-stream") as sink,
    ):
        shutil.copyfileobj(source, sink, _BLOCK)


def write_new(path: str, data: bytes) -> bool:
    """Write a file where there is none, and tell whether that was so; of several who try at once
    one does. Other file systems than this machine's are looked at first, which is no lock."""
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
    """Make a folder and those above it; one that is there is left alone."""
    if not is_remote(path):
        os.makedirs(path, exist_ok=True)
    # Object stores have no folders, and Beam's `mkdirs` fails where one exists.


def move(source: str, target: str) -> None:
    """Move a file within one file system."""
    if is_remote(target):
        with explained(target):
            _beam(target).rename([source], [target])
    else:
        os.replace(source, target)


def copy(source: str, target: str) -> None:
    """Give a file a second place within one file system: whole, or not there."""
    if is_remote(target):
        with explained(target):
            _beam(target).copy([source], [target])
        return
    temporary = f"{target}.{uuid4().hex[:8]}.tmp"
    try:
        os.link(source, temporary)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        shutil.copyfile(source, temporary)
    os.replace(temporary, target)


def delete(path: str) -> None:
    """Delete a file, or a folder with all in it; nothing there is nothing to do."""
    if is_remote(path):
        with explained(path):
            found = _beam(path).match([path, path.rstrip("/") + "/**"])
            paths = [item.path for match in found for item in match.metadata_list]
            if paths:
                _beam(path).delete(paths)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)


def files_below(folder: str) -> list[str]:
    """Return the paths of all files below a folder, sorted."""
    if is_remote(folder):
        return matches(folder.rstrip("/") + "/**")
    return sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
