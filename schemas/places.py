"""File systems by URI for what knows no Beam: the cache of answers, and indexes."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_SECONDS: Final = 30
"""How long a request to Google's service is tried again; its client's own limit is 15 minutes."""


def is_remote(path: str) -> bool:
    """Tell whether the path names another file system (`gs://…`, `s3://…`)."""
    return "://" in path


def place_of(uri: str) -> tuple["FileSystem", str]:
    """Return the file system that a URI names, and the path there, without a `/` at its end.

    The file systems are pyarrow's: `gs://`, `s3://`, `hdfs://`, `abfs://` and `file://`.

    Raises:
        OSError, ValueError: there is none, or it cannot be reached. Arrow's errors are among these.
    """
    from pyarrow import fs

    limited = "retry_limit_seconds" in uri or not uri.startswith("gs://")
    if not limited:
        uri = f"{uri.rstrip('/')}{'&' if '?' in uri else '?'}retry_limit_seconds={_SECONDS}"
    system, path = fs.FileSystem.from_uri(uri)
    return system, path.rstrip("/")


def said(error: Exception) -> str:
    """Return what an error of these says, without what Google's client adds for its developers."""
    return str(error).partition(" error_info=")[0]
