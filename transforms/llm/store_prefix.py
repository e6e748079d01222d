"""Store cache entries below a prefix of any file system that pyarrow supports, one object a key.

For workers on several machines, which can share a bucket but not a SQLite file. Objects are written
atomically, and concurrent writers of one key write the same value.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from uuid import uuid4

from pyarrow import fs

from ufo.schemas.remote import RemoteError, file_system_of, is_remote, said
from ufo.transforms.llm.store import KEY, Entry, StoreError

_AT_ONCE: Final = 32


class PrefixStore:
    """A store below `gs://bucket/ufo/`, `s3://bucket/ufo/` or a local folder that ends in `/`."""

    threads = _AT_ONCE

    def __init__(self, uri: str) -> None:
        try:
            if is_remote(uri):
                self._system, self._root = file_system_of(uri)
            else:
                self._system, self._root = fs.LocalFileSystem(), uri.rstrip("/")
            self._local = isinstance(self._system, fs.LocalFileSystem)
            if self._local:
                self._system.create_dir(self._root, recursive=True)
        except RemoteError as error:
            raise StoreError(str(error)) from error
        except OSError as error:
            raise StoreError(f"{uri}: {said(error)}") from error
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="ufo-store")

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist, read concurrently."""
        values = self._all(self._get, keys)
        return {k: value for k, value in zip(keys, values, strict=True) if value is not None}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Write the entries concurrently."""
        self._all(self._put, list(entries.items()))

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        selector = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        for info in self._all(self._system.get_file_info, [selector])[0]:
            if info.is_file and KEY.fullmatch(info.base_name):
                written = info.mtime.timestamp() if info.mtime else 0.0
                yield Entry(info.base_name, info.size or 0, written)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        self._all(self._remove, keys)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()

    def _folder(self, key: str) -> str:
        # 256 folders for each kind: some file systems are slow with many files in one.
        return f"{self._root}/{key[:4]}"

    def _get(self, key: str) -> bytes | None:
        try:
            with self._system.open_input_stream(f"{self._folder(key)}/{key}") as stream:
                value: bytes = stream.read()
                return value
        except FileNotFoundError:
            return None

    def _put(self, entry: tuple[str, bytes]) -> None:
        key, value = entry
        path = f"{self._folder(key)}/{key}"
        # An object appears when it is closed; a local file is visible while it is written.
        target = f"{path}.{uuid4().hex[:8]}.tmp" if self._local else path
        if self._local:
            self._system.create_dir(self._folder(key), recursive=True)
        with self._system.open_output_stream(target) as stream:
            stream.write(value)
        if self._local:
            self._system.move(target, path)

    def _remove(self, key: str) -> None:
        try:
            self._system.delete_file(f"{self._folder(key)}/{key}")
        except FileNotFoundError:
            return

    def _all(self, operate: Any, items: Sequence[Any]) -> list[Any]:
        try:
            return list(self._threads.map(operate, items))
        except OSError as error:
            raise StoreError(f"{self._root}/: {said(error)}") from error
