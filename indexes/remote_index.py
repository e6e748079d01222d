"""Download an index from another file system, once for all processes of a machine.

It is copied to the user's cache folder, where its files are memory-mapped. Its folder is named
after the manifest's SHA-256, so a rebuilt index is downloaded again.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from filelock import FileLock

from ufo.indexes.manifest import MANIFEST, check_manifest, read_manifest
from ufo.schemas import storage
from ufo.schemas.cache_folder import cached_folder
from ufo.schemas.errors import IndexUnusable, reason_of
from ufo.schemas.file_systems import is_remote

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
    if not is_remote(str(path)):
        return Path(path).expanduser().resolve()
    uri = str(path).rstrip("/")
    try:
        return _cached_copy(uri, storage.read(storage.join(uri, MANIFEST)))
    except OSError as error:
        raise IndexUnusable(
            f"the index {uri} cannot be read: {reason_of(error)}; {_REMEDY}"
        ) from error


def _cached_copy(uri: str, manifest: bytes) -> Path:
    """Return the folder of the index with this manifest; one process downloads, others wait."""
    above = cached_folder("indexes", sha256(manifest).hexdigest()[:32])
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
    _, files, _ = check_manifest(copy)
    wanted, room = sum(size for _, size, _ in files), shutil.disk_usage(copy).free
    if wanted > room:
        raise OSError(f"it has {wanted:,} bytes, and there is room for {room:,} in {copy.parent}")
    names = [name for name, _, _ in files]
    for name in names:
        if not (copy / name).resolve().is_relative_to(copy.resolve()):
            raise IndexUnusable(f"{copy} is not an index: it lists {name!r}, outside of its folder")
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(
            lambda name: storage.fetch(storage.join(uri, name), copy / name), names
        ):
            pass
    read_manifest(copy, verify=True)
