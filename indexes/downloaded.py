"""Download an index from another file system, so that its files can be memory-mapped.

The copy is in the user's cache folder under the checksum of the manifest: all processes share it,
and an index that was rebuilt at the same URI is downloaded again.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from filelock import FileLock

from ufo.indexes.manifest import MANIFEST, file_sha256, listed_files, read_manifest
from ufo.schemas import storage
from ufo.schemas.errors import IndexUnusable
from ufo.schemas.folders import kept_folder

_AT_ONCE = 4
_REMEDY = (
    "give the prefix of an index that `ufo index build` made, as copied by `gcloud storage cp -r "
    "DIR gs://…`"
)


def local_index(path: str | Path) -> Path:
    """Return the local folder of an index; download one on another file system if necessary.

    Every checksum is verified after a download.

    Raises:
        IndexUnusable: the index cannot be read, or it is incomplete.
    """
    if not storage.is_remote(str(path)):
        return Path(path).expanduser().resolve()
    uri = str(path).rstrip("/")
    try:
        return _cached(uri, storage.read(storage.join(uri, MANIFEST)))
    except OSError as error:
        raise IndexUnusable(f"the index {uri} cannot be read: {error}; {_REMEDY}") from error


def _cached(uri: str, manifest: bytes) -> Path:
    """Return the folder of the index with this manifest; one process downloads, others wait."""
    above = kept_folder("indexes", sha256(manifest).hexdigest()[:32])
    here = above / "index"
    with FileLock(above / ".lock"):
        if not here.exists():
            copy = above / f"unfinished-{uuid4().hex[:8]}"
            try:
                _download(uri, copy, manifest)
                copy.rename(here)
            except IndexUnusable as error:
                message = error.message.replace(str(copy), uri)
                raise IndexUnusable(message) from error
            finally:
                shutil.rmtree(copy, ignore_errors=True)
    return here


def _download(uri: str, copy: Path, manifest: bytes) -> None:
    copy.mkdir()
    (copy / MANIFEST).write_bytes(manifest)
    files = listed_files(copy)
    wanted, room = sum(size for _, size, _ in files), shutil.disk_usage(copy).free
    if wanted > room:
        raise OSError(f"it has {wanted:,} bytes, and there is room for {room:,} in {copy.parent}")
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(partial(_fetch, uri, copy), files):
            pass
    read_manifest(copy)


def _fetch(uri: str, copy: Path, file: tuple[str, int, str]) -> None:
    name, _, digest = file
    target = copy / name
    if not target.resolve().is_relative_to(copy.resolve()):
        raise IndexUnusable(f"{copy} is not an index: it lists {name!r}, outside of its folder")
    storage.fetch(storage.join(uri, name), target)
    if file_sha256(target) != digest:
        raise IndexUnusable(
            f"{copy} is damaged: the checksum of {name} differs; copy it there again"
        )
