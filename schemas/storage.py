"""Files on this machine, in buckets and on clusters, by path or URI.

Paths of this machine go to the operating system, with any character in their names. What has a
scheme (`gs://`, `s3://`, `hdfs://`, `abfs://`, `file://`) goes to pyarrow's file systems, see
`ufo.schemas.remote`.
"""

import glob
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final, cast
from uuid import uuid4

from ufo.schemas.remote import (
    RemoteFile,
    content,
    explained,
    file_system_of,
    info,
    join_uri,
    listed,
    matching,
)
from ufo.schemas.remote import (
    is_remote as is_remote,
)

_BLOCK: Final = 1 << 20
_BUFFER: Final = 8 << 20  # each is a request


def join(folder: str, *parts: str) -> str:
    """Return the path of something below a folder."""
    return join_uri(folder, *parts) if is_remote(folder) else os.path.join(folder, *parts)


def absolute(path: str) -> str:
    """Return the path as a process with another working folder finds it."""
    return path if is_remote(path) else os.path.abspath(path)


def exists(path: str) -> bool:
    """Return whether there is a file or folder at the path."""
    if not is_remote(path):
        return os.path.exists(path)
    return bool(info(path).type)


def is_folder(path: str) -> bool:
    """Return whether a local path is a folder."""
    return os.path.isdir(path)


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted; a file of that very name is one.

    `*` and `?` match within a name, `**` also across folders.
    """
    if not is_remote(pattern):
        if os.path.lexists(pattern):
            return [pattern]
        return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    return matching(pattern)


def open_read(path: str) -> BinaryIO:
    """Open a file's bytes as they are stored, compressed or not."""
    if not is_remote(path):
        return open(path, "rb")
    return cast(BinaryIO, io.BufferedReader(RemoteFile(path), _BUFFER))


def size(path: str) -> int:
    """Return a file's size in bytes."""
    if not is_remote(path):
        return os.path.getsize(path)
    found = info(path)
    if not found.is_file:
        raise FileNotFoundError(f"{path}: there is no such file")
    return int(found.size)


def read(path: str) -> bytes:
    """Return a file's bytes."""
    if is_remote(path):
        return content(path)
    with open(path, "rb") as stream:
        return stream.read()


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Open a file to write, under a temporary name; it is moved into place when the block
    ends: whole, or not there."""
    if is_remote(path):
        system, place = file_system_of(path)
        temporary = f"{place}.{uuid4().hex[:8]}.tmp"
        with explained(path):
            with system.open_output_stream(temporary) as sink:
                yield sink
            system.move(temporary, place)
        return
    temporary = f"{path}.{uuid4().hex[:8]}.tmp"
    with open(temporary, "wb") as sink:
        yield sink
    os.replace(temporary, path)


def write(path: str, data: bytes) -> None:
    """Write a file: whole, or not there."""
    with writing(path) as sink:
        sink.write(data)
        if not is_remote(path):
            sink.flush()
            os.fsync(sink.fileno())


def flush(paths: Iterable[str]) -> None:
    """Wait until these files are on disk; on other file systems they are once written.

    It costs little more for many files than for one.
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
    """Copy a file of another file system to a path of this machine: whole, or not there."""
    here.parent.mkdir(parents=True, exist_ok=True)
    temporary = here.with_name(f".{here.name}.{uuid4().hex[:8]}.tmp")
    system, place = file_system_of(path)
    try:
        with (
            open(temporary, "wb") as sink,
            explained(path),
            system.open_input_stream(place, compression=None) as source,
        ):
            shutil.copyfileobj(source, sink, _BLOCK)
        temporary.replace(here)
    finally:
        temporary.unlink(missing_ok=True)


def send(here: str, path: str) -> None:
    """Copy a file of this machine to a path of another file system."""
    make_folder(os.path.dirname(path))
    with open(here, "rb") as source, writing(path) as sink:
        shutil.copyfileobj(source, sink, _BLOCK)


def write_new(path: str, data: bytes) -> bool:
    """Write a file where there is none, and return whether that was so; of several calls at once
    one does. On other file systems than this machine's it is only checked first, without a lock."""
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
    """Create a folder and its parents if they do not exist. Buckets have no folders."""
    if not is_remote(path):
        os.makedirs(path, exist_ok=True)
        return
    system, place = file_system_of(path)
    if system.type_name in ("local", "hdfs"):
        with explained(path):
            system.create_dir(place, recursive=True)


def move(source: str, target: str) -> None:
    """Move a file within one file system."""
    if not is_remote(target):
        os.replace(source, target)
        return
    system, place = file_system_of(target)
    with explained(target):
        system.move(file_system_of(source)[1], place)


def copy(source: str, target: str) -> None:
    """Copy a file within one file system: whole, or not there."""
    if is_remote(target):
        system, place = file_system_of(target)
        with explained(target):
            system.copy_file(file_system_of(source)[1], place)
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
    """Delete a file, or a folder with its content, if it exists."""
    if is_remote(path):
        system, place = file_system_of(path)
        found = info(path)
        with explained(path), suppress(FileNotFoundError):  # a folder in a bucket is only a name
            if found.is_file:
                system.delete_file(place)
            elif found.type:
                system.delete_dir(place)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)


def files_below(folder: str) -> list[str]:
    """Return the paths of all files below a folder, sorted."""
    if is_remote(folder):
        return listed(folder)
    return sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
