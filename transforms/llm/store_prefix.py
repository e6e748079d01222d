"""Store cache entries below a prefix of any file system, one object a key.

For workers on several machines, which can share a bucket but not a SQLite file. Objects are written
atomically, and concurrent writers of one key write the same value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ufo.schemas import storage
from ufo.transforms.llm.store import KEY, Entry, StoreError

_AT_ONCE: Final = 32


class PrefixStore:
    """A store below `gs://bucket/ufo/`, `s3://bucket/ufo/` or a local folder that ends in `/`."""

    threads = _AT_ONCE

    def __init__(self, uri: str) -> None:
        self._root = uri.rstrip("/")
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="ufo-store")
        self._all(storage.make_folder, [self._root])

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that exist, read concurrently."""
        values = self._all(self._get, keys)
        return {k: value for k, value in zip(keys, values, strict=True) if value is not None}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Write the entries concurrently."""
        self._all(self._put, list(entries.items()))

    def entries(self) -> Iterator[Entry]:
        """Yield every entry."""
        for file in self._all(storage.listed, [self._root])[0]:
            name = file.path.replace("\\", "/").rpartition("/")[2]
            if KEY.fullmatch(name):
                yield Entry(name, file.size, file.written)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete these keys."""
        self._all(lambda key: storage.delete(self._path(key)), keys)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown()

    def _path(self, key: str) -> str:
        # 256 folders for each kind: some file systems are slow with many files in one.
        return storage.join(self._root, key[:4], key)

    def _get(self, key: str) -> bytes | None:
        try:
            return storage.read(self._path(key))
        except FileNotFoundError:
            return None

    def _put(self, entry: tuple[str, bytes]) -> None:
        key, value = entry
        storage.make_folder(storage.join(self._root, key[:4]))
        with storage.writing(self._path(key)) as sink:
            sink.write(value)

    def _all(self, operate: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        try:
            return list(self._threads.map(operate, items))
        except OSError as error:
            raise StoreError(f"{self._root}/: {error}") from error
