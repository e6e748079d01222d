"""Read and write files on this machine, in buckets and on clusters; find the cache and own folders.

A path of this machine goes to the operating system, and may have any character. A URI with a scheme
(`gs://`, `s3://`, `hdfs://`, `file://`) goes to fsspec. For most schemes fsspec needs a package,
and reads options from its own configuration.

CACHE/answers.sqlite            answers of models
CACHE/runs/HASH/run=NAME/…      runs of another file system, downloaded to be queried
CACHE/indexes/HASH/…            indexes of another file system, downloaded to be mapped
TMP/ufo-own-PID-XXXXXXXX/       locked for as long as its owner lives, the process PID

Files in the cache may be deleted at any time. A temporary folder is deleted when its process ends.
If the process was killed, a later process deletes it.
"""

import fcntl
import glob
import io
import logging
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from uuid import uuid4

from ufo.schemas.errors import RunError, UfoError, UsageError, has_cause
from ufo.schemas.text import is_utf8, without_secrets

_BLOCK: Final = 1 << 20
_BUFFER: Final = 8 << 20  # each is a request
_OBJECTS: Final = {"gs", "gcs", "s3", "s3a", "abfs", "abfss", "az", "adl", "oss"}
"""The schemes of object stores: there are no folders, and an object appears when it is whole."""
_EXTRAS: Final = {"gs": "gs", "gcs": "gs", "s3": "s3", "s3a": "s3", "abfs": "abfs", "az": "abfs"}
"""The extra with the package for a scheme; for other schemes fsspec names the package."""
_CHANGED: Final = ("mtime", "updated", "LastModified", "last_modified", "created")
"""The names by which file systems give the time of the last change."""
_VERSIONS: Final = ("etag", "ETag", "generation", "md5Hash", "VersionId", "checksum", "ino")
"""The names by which they tell one content of a file from another."""


class RemoteError(OSError):
    """A file system refused a request or could not be reached.

    `filename` is the address, and `strerror` why.
    """

    def __init__(self, _: None, why: str, uri: str) -> None:
        super().__init__(None, why, uri)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class BucketMissing(RemoteError):
    """There is no bucket of the name."""


class Refused(RemoteError):
    """A file system asks for other credentials, or for more permissions."""


class Unreachable(RemoteError):
    """A file system did not answer."""


def command_error(message: str, error: Exception) -> UfoError:
    """Return the error that ends a command because of what a file is: RunError (exit 1) where
    another machine does not answer, else UsageError (exit 2), as for a file of this machine."""
    return RunError(message) if isinstance(error, Unreachable) else UsageError(message)


class Listed(NamedTuple):
    """A file below a folder, its size in bytes, and when it was written (seconds since 1970)."""

    path: str
    size: int
    written: float


def is_remote(path: str) -> bool:
    """Return whether the path names another file system (`gs://…`, `s3://…`)."""
    return "://" in path


@contextmanager
def _remote(uri: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system that a URI names, and the path in it.

    Raises:
        FileNotFoundError: a file that the block asks for does not exist.
        RemoteError: there is no such file system or bucket, or it refuses or cannot be reached.
    """
    from fsspec.core import url_to_fs  # with its imports only where it is needed

    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    shown = without_secrets(uri)
    try:
        if uri.startswith("://"):
            raise ValueError("it has no scheme")
        # Other processes write there, so a cached listing may be out of date.
        system, path = url_to_fs(uri, use_listings_cache=False)
        if scheme_of(uri) in _OBJECTS:
            _meet(system, path, shown)
        yield system, path
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{shown}: there is no such file") from error
    except RemoteError:
        raise
    except Exception as error:  # each client has its own
        raise _explained(uri, error) from error


_TALKATIVE: Final = ("gcsfs", "azure", "adlfs")
"""Loggers of clients that print warnings, or tracebacks of errors that they raise as well."""
_PATIENCE: Final = 20.0
"""Seconds that a bucket has for its first answer. The clients try again for up to minutes."""
_met: set[tuple[int, str]] = set()


def _meet(system: Any, path: str, shown: str) -> None:
    """Ask for the bucket of a path, once in a process, so that one that is missing or does not
    answer is known at once: a client may list a missing bucket as an empty one.

    An account without the permission to ask may be allowed to read or write files of the bucket.
    """
    bucket = system.split_path(path)[0] if hasattr(system, "split_path") else ""
    place = hash(system), bucket
    if not bucket or place in _met or not system.async_impl:
        return
    try:
        system.info(bucket, timeout=_PATIENCE)
    except FileNotFoundError as error:
        if not has_cause(error.__cause__ or error.__context__, _refuses):
            why = _said(error, bucket)
            what = f"there is no bucket {bucket!r}{why}; make it, or check its name and the account"
            raise BucketMissing(None, what, shown) from error
    except Exception as error:
        if not has_cause(error, _refuses) or has_cause(error, _lacks_credentials):
            raise
    _met.add(place)


def _explained(uri: str, error: Exception) -> RemoteError:
    """Return the error to raise for one of a client: what it is, its words, and what to do."""
    shown, scheme = without_secrets(uri), scheme_of(uri)
    text = _first_words(error) or type(error).__name__
    extra = _EXTRAS.get(scheme)
    if isinstance(error, ImportError) and extra:
        return RemoteError(None, f"{text}: pip install 'ufo-factuality[{extra}]'", shown)
    if text.startswith("Protocol not known"):
        text += "; known are file, gs, s3, abfs, hdfs and others of fsspec"
    elif has_cause(error, _refuses):
        known = f"; {_CREDENTIALS[extra]}" if extra else ""
        return Refused(None, f"access is refused: {text}{known}", shown)
    elif has_cause(error, _does_not_answer):
        waited = f"in {_PATIENCE:.0f} seconds" if isinstance(error, TimeoutError) else f"({text})"
        known = f"; check the network and the endpoint; {_CREDENTIALS[extra]}" if extra else ""
        return Unreachable(None, f"it does not answer {waited}{known}", shown)
    return RemoteError(None, text, shown)


_CREDENTIALS: Final = {
    "gs": "credentials come from GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth application-default"
    " login`, the endpoint from STORAGE_EMULATOR_HOST",
    "s3": "credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, the "
    "endpoint from AWS_ENDPOINT_URL",
    "abfs": "account and credentials come from AZURE_STORAGE_CONNECTION_STRING, or from "
    "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN or "
    "`az login`",
}
"""Where the client of each extra looks for what it needs."""
_NO_CREDENTIALS: Final = re.compile(r"Credential|ClientAuthentication|RefreshError|ProfileNotFound")
_NO_ANSWER: Final = re.compile(r"Connect|Timeout|ServiceRe|ProxyError|SSLError|TransportError")
_REFUSALS: Final = {"401", "403"}


def _lacks_credentials(error: BaseException) -> bool:
    # The classes are of packages that may not be installed.
    named = _NO_CREDENTIALS.search(type(error).__name__)
    return bool(named) or "with credentials" in str(error)


def _refuses(error: BaseException) -> bool:
    codes = {str(getattr(error, name, None)) for name in ("code", "status", "status_code")}
    if isinstance(error, PermissionError) or codes & _REFUSALS or _lacks_credentials(error):
        return True
    return isinstance(error, OSError) and str(error).startswith("Forbidden")


def _does_not_answer(error: BaseException) -> bool:
    kinds = (ConnectionError, TimeoutError, socket.gaierror)
    return isinstance(error, kinds) or bool(_NO_ANSWER.search(type(error).__name__))


def _words(error: BaseException) -> str:
    """Return what an error says in one line, without identifiers of requests and secrets."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not _OF_REQUESTS.match(line)]
    return without_secrets(" ".join(said[:2]))[:_LONGEST_WORDS]


def _first_words(error: BaseException | None) -> str:
    """Return what an error says, or, where it says nothing, one that it was raised from."""
    while error is not None:
        if words := _words(error):
            return words
        error = error.__cause__ or error.__context__
    return ""


def _said(error: BaseException, path: str) -> str:
    """Return what the other side said of a missing path in brackets; "" if nothing but the path."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = _words(error)
    return f" ({text})" if " " in text and path not in text else ""


_OF_REQUESTS: Final = re.compile(r"RequestId:|Time:|ErrorCode:|Content:|<")
_LONGEST_WORDS: Final = 300


def scheme_of(uri: str) -> str:
    """Return the scheme of a URI."""
    return uri.partition("://")[0]


def _uri(folder: str, place: str, path: str) -> str:
    """Return the URI of a path in a file system, at or below a folder with the path `place`."""
    place, path = place.strip("/"), path.strip("/")
    return join(folder, path.removeprefix(place)) if path != place else folder


def join(folder: str, *parts: str) -> str:
    """Return the path of something below a folder."""
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
    """Return the path as a process with another working folder finds it."""
    return path if is_remote(path) else os.path.abspath(path)


def exists(path: str) -> bool:
    """Return whether there is a file or folder at the path."""
    if not is_remote(path):
        return os.path.exists(path)
    with _remote(path) as (system, place):
        return _info(system, place) is not None


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern matches, sorted; a file of that very name is one.

    `*` and `?` match within a name, `**` also across folders.
    """
    if not is_remote(pattern):
        if os.path.lexists(pattern):
            return [pattern]
        return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))
    with _remote(pattern) as (system, place):
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
        with _remote(folder) as (_, above):
            found = system.glob(place, detail=True)
            if not found:  # `glob` takes a folder that it may not list for one without files
                with suppress(FileNotFoundError):
                    system.ls(above, detail=False)
            files = (name for name, info in found.items() if info["type"] == "file")
            return sorted(_uri(folder, above, name) for name in files)


def _info(system: Any, place: str) -> dict[str, Any] | None:
    """Return what a file system knows of a path; None if there is nothing. Its `exists` and
    `isfile` would also say so of what is refused, or does not answer."""
    try:
        return dict(system.info(place))
    except FileNotFoundError:
        return None


def open_read(path: str) -> BinaryIO:
    """Open a file's bytes as they are stored, compressed or not."""
    if not is_remote(path):
        return open(path, "rb")
    with _remote(path) as (system, place):
        return io.BufferedReader(_Reading(path, system.open(place, "rb", block_size=_BUFFER)))


class _Reading(io.RawIOBase):
    """A file of another file system, whose errors are those of this module."""

    def __init__(self, uri: str, file: Any) -> None:
        self._uri = uri
        self._file = file

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return whether it can be read from any place."""
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a place; return which it is."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes into a buffer; return how many there were."""
        with _remote(self._uri):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close it."""
        super().close()
        self._file.close()


def size(path: str) -> int:
    """Return a file's size in bytes."""
    if not is_remote(path):
        return os.path.getsize(path)
    with _remote(path) as (system, place):
        return int(system.size(place))


def version(path: str) -> tuple[int, str]:
    """Return the size of a file of another file system, and what else changes with its content as
    that tells it: a time, a tag or a generation."""
    with _remote(path) as (system, place):
        info = system.info(place)
        told = {name: info[name] for name in (*_CHANGED, *_VERSIONS) if info.get(name)}
        return int(info.get("size") or 0), repr(told)


def read(path: str) -> bytes:
    """Return a file's bytes."""
    if is_remote(path):
        with _remote(path) as (system, place):
            return bytes(system.cat_file(place))
    with open(path, "rb") as stream:
        return stream.read()


def read_range(path: str, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` to `end`; fewer where it is shorter."""
    if is_remote(path):
        with _remote(path) as (system, place):
            return bytes(system.cat_file(place, start=start, end=end)) if start < end else b""
    with open(path, "rb") as stream:
        stream.seek(start)
        return stream.read(end - start)


@contextmanager
def writing(path: str) -> Iterator[BinaryIO]:
    """Open a file to write; it appears when the block ends, whole, or not at all after an error.

    A pipe or a device, as /dev/stdout may be one, is written at once: it stays what it is.
    """
    if is_remote(path):
        sink = io.BytesIO()
        yield sink
        with _remote(path) as (system, place), _whole(path, system, place) as target:
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
    if scheme_of(uri) in _OBJECTS:
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
        with _remote(path) as (system, place):
            system.get_file(place, str(temporary))
        temporary.replace(here)
    finally:
        temporary.unlink(missing_ok=True)


def send(here: str, path: str) -> None:
    """Copy a file of this machine to a path of another file system."""
    make_folder(os.path.dirname(path))
    with _remote(path) as (system, place), _whole(path, system, place) as target:
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
    elif scheme_of(path) not in _OBJECTS:
        with _remote(path) as (system, place):
            system.makedirs(place, exist_ok=True)


def move(source: str, target: str) -> None:
    """Move a file within one file system."""
    if not is_remote(target):
        os.replace(source, target)
        return
    with _remote(source) as (system, place), _remote(target) as (_, there):
        # `mv` would take the names for patterns, and in an object store it is a copy as well.
        if scheme_of(target) in _OBJECTS or glob.has_magic(place + there):
            system.cp_file(place, there)
            system.rm_file(place)
        else:
            system.mv(place, there)


def delete(path: str) -> None:
    """Delete a file, or a folder with its content, if it exists."""
    if is_remote(path):
        with _remote(path) as (system, place):
            info = _info(system, place)
            if info is None:
                return
            if info["type"] == "file":
                system.rm_file(place)
            elif not glob.has_magic(place):
                system.rm(place, recursive=True)
            else:  # `rm` would take it for a pattern, and delete what that matches
                _delete_below(system, place, folders=scheme_of(path) not in _OBJECTS)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)


def _delete_below(system: Any, place: str, folders: bool) -> None:
    found = system.find(place, withdirs=folders, detail=True)
    for name, info in sorted(found.items(), reverse=True):
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
    with _remote(folder) as (system, place):
        found = system.find(place, detail=True)
        if isinstance(found, list):  # adlfs: of a file
            found = {name: system.info(name) for name in found}
        return sorted(
            Listed(_uri(folder, place, name), int(info.get("size") or 0), _seconds(info))
            for name, info in found.items()
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


DAYS_UNUSED: Final = 30
"""A folder unused for so many days is deleted when the next one is made."""

_USED: Final = ".used"
_DAY: Final = 86_400.0
_SEMAPHORES: Final = Path("/dev/shm")  # noqa: S108 - where Linux has those of loky's processes
_OWN: Final = re.compile(r"ufo-own-(\d+)-\w+")
_VARIABLE: Final = "TMPDIR"


# --- the cache ---------------------------------------------------------------------------------


OFF: Final = "off"
"""The value in place of a cache's URI that means: keep no answer."""
CACHE_VARIABLE: Final = "UFO_CACHE"


def cache_folder() -> Path:
    """Return ufo's folder in the user's cache folder of the platform; it may not exist."""
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "ufo"


def default_cache() -> str:
    """Return the URI in UFO_CACHE, else the path of a file in the platform's cache folder."""
    uri = os.environ.get(CACHE_VARIABLE, "").strip()
    if uri:
        return checked_cache(uri, CACHE_VARIABLE)
    return str(cache_folder() / "answers.sqlite")


def checked_cache(uri: str, what: str = "--cache") -> str:
    """Return the URI of a cache with a local path made absolute.

    Raises:
        UsageError: it is neither `off`, nor a `.sqlite` file, nor a prefix that ends in `/`.
    """
    remote, prefix = is_remote(uri), uri.endswith("/")
    if uri == OFF or (remote and prefix):
        return uri
    if not remote and (prefix or uri.endswith(".sqlite")):
        return str(Path(uri).expanduser().absolute()) + ("/" if prefix else "")
    raise UsageError(
        f"{what} {uri!r} cannot be a cache: name a file that ends in .sqlite, a folder or bucket "
        "prefix that ends in / (gs://bucket/ufo/), or off"
    )


def kept_folder(kind: str, name: str) -> Path:
    """Return the folder CACHE/kind/name, created if it is missing; it counts as used now.

    Folders of the same kind that were not used for DAYS_UNUSED are removed. Where the cache folder
    cannot be written, as in a container, the folder for temporary files is used.
    """
    above = cache_folder() / kind
    try:
        above.mkdir(parents=True, exist_ok=True)
        writable = os.access(above, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        above = Path(shared_folder()) / f"ufo-{_user()}" / kind
        above.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = above / name
    folder.mkdir(exist_ok=True)
    (folder / _USED).touch()
    _remove_unused(above)
    return folder


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")


def _remove_unused(above: Path) -> None:
    for folder in above.iterdir():
        with suppress(OSError):  # another process may be at it
            if time.time() - (folder / _USED).stat().st_mtime > DAYS_UNUSED * _DAY:
                # One rename, so that no reader finds a half-deleted folder.
                gone = folder.rename(above / f".gone-{uuid4().hex}")
                shutil.rmtree(gone)


# --- temporary files -----------------------------------------------------------------------------


def check_name(what: str, name: str, is_path: bool = True) -> None:
    """Check that a text of the system, or all of a path, is UTF-8: tables, databases and libraries
    take no other. `what` names it in the message.

    Raises:
        UsageError: it is not.
    """
    whole = str(Path(name).absolute()) if is_path and not is_remote(name) else name
    if not is_utf8(whole):
        found = f", in full {whole!r}," if is_utf8(name) else ""
        raise UsageError(f"{what} {name!r}{found} is not UTF-8; give another")


def check_temporary_folder() -> None:
    """Check that the folder for temporary files can be used.

    Raises:
        UsageError: its path is not UTF-8.
    """
    check_name("the folder for temporary files (TMPDIR)", shared_folder())


def shared_folder() -> str:
    """Return the folder for temporary files that several processes use in turn."""
    folder = tempfile.gettempdir()
    above, name = os.path.split(folder)
    return above if _OWN.fullmatch(name) else folder


@contextmanager
def temporary_folder(within: str | None = None, prefix: str = "ufo-") -> Iterator[str]:
    """Yield a new folder that is deleted with this context, but not by a forked child.

    The standard library's `TemporaryDirectory` is deleted at the end of a child, too.
    """
    folder, process = tempfile.mkdtemp(prefix=prefix, dir=within), os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def own_folder() -> Iterator[str | None]:
    """Yield a folder that is deleted with this context; None where none can be written.

    Removes the folders of killed processes, with their semaphores and spilt queries. These are
    found by the process id.
    """
    with ExitStack() as stack:
        try:
            shared = shared_folder()
            _remove_left(shared)
            made = temporary_folder(shared, f"ufo-own-{os.getpid()}-")
            folder = stack.enter_context(made)
        except OSError:
            yield None
            return
        stack.enter_context(_locked(folder))
        yield folder


@contextmanager
def temporary_files_in_own_folder() -> Iterator[None]:
    """Put temporary files of this process and its children into a folder of this context."""
    with own_folder() as folder:
        if folder is None:
            yield
            return
        before = tempfile.tempdir, os.environ.get(_VARIABLE)
        tempfile.tempdir = os.environ[_VARIABLE] = folder
        try:
            yield
        finally:
            tempfile.tempdir, variable = before
            if variable is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = variable


@contextmanager
def _locked(folder: str | Path) -> Iterator[None]:
    """Hold the lock of a folder, which is released when this process ends in any way.

    Raises:
        OSError: another process holds it, or the folder is gone.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_left(shared: str) -> None:
    for folder in Path(shared).glob("ufo-own-*"):
        found = _OWN.fullmatch(folder.name)
        if not found or _lives(number := int(found[1])):
            continue
        # The process may live in another container, under this id: then it holds the lock.
        with suppress(OSError), _locked(folder):
            for path in _SEMAPHORES.glob(f"sem.loky-{number}-*"):
                with suppress(OSError):
                    path.unlink()
            shutil.rmtree(Path(shared) / f"ufo-duckdb-{number}", ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)


def _lives(number: int) -> bool:
    """Return whether another process with this id is alive."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # of another user
    return number != os.getpid()
