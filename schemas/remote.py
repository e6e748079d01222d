"""File systems by URI: buckets, clusters and `file://`, all through pyarrow.

What pyarrow has no client of its own for goes to fsspec, if that is installed with a package for
the scheme. An error of one is a RemoteError that says what to do. Options of a file system can
follow a URI, as in `s3://bucket/folder?region=eu-west-1`.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import pyarrow as pa
from pyarrow import fs

_SECONDS: Final = 30
"""How long a request to Google's service is tried again; its client's own limit is 15 minutes."""
_URI: Final = re.compile(r"([^:/]+://[^/?]*)/*(.*?)(\?\w+=.*)?", re.DOTALL)
_PATTERN: Final = re.compile(r"\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)
_WILDCARDS: Final = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
_LOGIN: Final = (
    "no credentials were found, or these are not accepted: run `gcloud auth application-default "
    "login`, or name a key file in GOOGLE_APPLICATION_CREDENTIALS"
)
_REMEDIES: Final = {  # by what stands in an error
    "access token": _LOGIN,
    "UNAUTHENTICATED": _LOGIN,
    "PERMISSION_DENIED": "the credentials do not reach so far: give their account the role Storage "
    "Object User on the bucket",
    "ACCESS_DENIED": "the credentials do not reach so far: let them list, read and write there",
    "NOT_FOUND": "there is no such bucket or object; check the path",
    "NO_SUCH_BUCKET": "there is no such bucket; check the path",
    "Unrecognized filesystem": "there is no such file system; known are abfs://, file://, gs://, "
    "hdfs://, s3:// and what fsspec knows where it is installed",
    "libjvm": "hdfs:// needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH",
    "libhdfs": "hdfs:// needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH",
}


class RemoteError(OSError):
    """A file system refused a request or could not be reached; the message has the remedy."""


def is_remote(path: str) -> bool:
    """Return whether the path names another file system (`gs://…`, `s3://…`)."""
    return "://" in path


def file_system_of(uri: str) -> tuple[fs.FileSystem, str]:
    """Return the file system that a URI names, and the path there, without a `/` at its end.

    Raises:
        RemoteError: there is none, or it cannot be reached.
    """
    root, path, query = split(uri)
    with explained(uri):
        system, base = _file_system(root, query)
    return system, base + path.rstrip("/")


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Convert errors of a file system to RemoteErrors that name the remedy."""
    try:
        yield
    except RemoteError:
        raise
    except (OSError, ValueError, NotImplementedError) as error:  # Arrow's are among these
        text = said(error)
        remedy = next((known for sign, known in _REMEDIES.items() if sign in text), "")
        raise RemoteError(f"{path}: {remedy} ({text})" if remedy else f"{path}: {text}") from error


def said(error: Exception) -> str:
    """Return an error's message, without the details that Google's client adds for developers."""
    return str(error).partition(" error_info=")[0]


def split(uri: str) -> tuple[str, str, str]:
    """Return scheme and host of a URI, the path below them, and the options that follow."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise RemoteError(f"{uri} is not the URI of a file")
    return found[1], found[2], found[3] or ""


@cache
def _file_system(root: str, query: str) -> tuple[fs.FileSystem, str]:
    """Return the file system, and what its paths begin with: the bucket, or a `/`."""
    if root.startswith("gs://") and "retry_limit_seconds" not in query:
        query = f"{query}{'&' if query else '?'}retry_limit_seconds={_SECONDS}"
    system, base = _opened(f"{root}/{query}")
    return system, base.rstrip("/") + "/" if base else ""


def _opened(uri: str) -> tuple[fs.FileSystem, str]:
    try:
        system, base = fs.FileSystem.from_uri(uri)
    except pa.ArrowInvalid as unknown:
        if "Unrecognized filesystem" not in str(unknown):
            raise
        try:
            system, base = fs.FileSystem.from_uri(f"fsspec+{uri}")
        except (ImportError, ValueError) as error:  # no fsspec, no package for the scheme
            raise pa.ArrowInvalid(f"{unknown}; {error}") from error
    return system, base


def join_uri(folder: str, *parts: str) -> str:
    """Return the URI of something below a folder."""
    root, path, query = split(folder)
    names = [path.rstrip("/"), *(part.strip("/") for part in parts)]
    return "/".join([root, *filter(None, names)]) + query


def info(uri: str) -> fs.FileInfo:
    """Return whether a URI is a file, a folder or nothing, and its size."""
    system, path = file_system_of(uri)
    with explained(uri):
        return system.get_file_info(path)


def listed(folder: str, deep: bool = True) -> list[str]:
    """Return the files in a folder, with `deep` also those below it, sorted."""
    root, _, query = split(folder)
    system, path = file_system_of(folder)
    with explained(folder):
        base = _file_system(root, query)[1]
        selector = fs.FileSelector(path, allow_not_found=True, recursive=deep)
        paths = [found.path for found in system.get_file_info(selector) if found.is_file]
    return sorted(f"{root}/{path.removeprefix(base).lstrip('/')}{query}" for path in paths)


def content(uri: str) -> bytes:
    """Return a file's bytes as they are stored.

    It is read as a stream: a file of Google's service that is opened for random access sends its
    first request while pyarrow holds the GIL, and no other thread of the process runs meanwhile.
    """
    system, path = file_system_of(uri)
    with explained(uri), system.open_input_stream(path, compression=None) as stream:
        return bytes(stream.read())


class RemoteFile(io.RawIOBase):
    """A file with random access; buffer it, since each read is a request."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._at = 0
        system, path = file_system_of(uri)
        with explained(uri):
            self._file = system.open_input_file(path)
            if self._file.closed:  # pyarrow closes an object that its first request read whole
                self._file = pa.BufferReader(content(uri))
            self._size = self._file.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0  # from the end on, Google's service has an error in place of no bytes
        with explained(self._uri):
            data = self._file.read_at(wanted, self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def matching(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted."""
    root, path, query = split(pattern)
    fixed = re.split(r"[*?[]", path, maxsplit=1)[0]
    if fixed == path:
        return [pattern] if info(pattern).is_file else []
    wanted = re.compile("".join(map(_as_regex, _PATTERN.findall(path))), re.DOTALL)
    deep = "/" in path[len(fixed) :] or "**" in path
    found = listed(join_uri(root, fixed.rpartition("/")[0]) + query, deep)
    return [uri for uri in found if wanted.fullmatch(split(uri)[1])]


def _as_regex(part: str) -> str:
    if len(part) > 2:  # a set of characters
        inside = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[^{inside[1:]}]" if inside[0] == "!" else f"[{inside}]"
    return _WILDCARDS.get(part) or re.escape(part)
