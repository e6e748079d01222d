"""An index that lies on another file system, brought to this machine to be mapped.

It is kept in the user's cache folder under the checksum of its manifest, so a machine has it once
however many processes open it, and one that is built anew under the same name is another one.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from indexes.manifest import MANIFEST, file_sha256, listed_files, read_manifest
from schemas.errors import IndexUnusable
from schemas.kept import kept_folder
from schemas.places import is_remote, place_of, said

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_AT_ONCE = 4
_BLOCK = 8 << 20
_REMEDY = (
    "give the prefix of an index that `ufo index build` made, as copied by `gcloud storage cp -r "
    "DIR gs://…`; for gs:// credentials come from GOOGLE_APPLICATION_CREDENTIALS or `gcloud auth "
    "application-default login`"
)


def local_index(path: str | Path) -> Path:
    """Return the folder of an index on this machine: one of another file system is brought here,
    whole and with every checksum compared, unless it is here already.

    Raises:
        IndexUnusable: it cannot be reached, or what is there is not a whole index.
    """
    if not is_remote(str(path)):
        return Path(path).expanduser().resolve()
    uri = str(path).rstrip("/")
    try:
        system, root = place_of(uri)
        with system.open_input_stream(f"{root}/{MANIFEST}") as stream:
            manifest = stream.read()
        return _kept(system, root, uri, manifest)
    except (OSError, ValueError) as error:
        raise IndexUnusable(f"the index {uri} cannot be read: {said(error)}; {_REMEDY}") from error


def _kept(system: "FileSystem", root: str, uri: str, manifest: bytes) -> Path:
    """Return the folder with the index of this manifest, brought by one process while others
    wait."""
    from filelock import FileLock

    above = kept_folder("indexes", sha256(manifest).hexdigest()[:32])
    here = above / "index"
    with FileLock(above / ".lock"):
        if not here.exists():
            coming = above / f"coming-{uuid4().hex[:8]}"
            try:
                _bring(system, root, coming, manifest)
                coming.rename(here)
            except IndexUnusable as error:
                message = error.message.replace(str(coming), uri)
                raise IndexUnusable(message) from error
            finally:
                shutil.rmtree(coming, ignore_errors=True)
    return here


def _bring(system: "FileSystem", root: str, coming: Path, manifest: bytes) -> None:
    coming.mkdir()
    (coming / MANIFEST).write_bytes(manifest)
    files = listed_files(coming)
    wanted, room = sum(size for _, size, _ in files), shutil.disk_usage(coming).free
    if wanted > room:
        raise OSError(f"it has {wanted:,} bytes, and there is room for {room:,} in {coming.parent}")
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(partial(_copy, system, root, coming), files):
            pass
    read_manifest(coming)


def _copy(system: "FileSystem", root: str, coming: Path, file: tuple[str, int, str]) -> None:
    name, _, digest = file
    target = coming / name
    if not target.resolve().is_relative_to(coming.resolve()):
        raise IndexUnusable(f"{coming} is no index of ours: it lists {name!r}, outside of itself")
    target.parent.mkdir(parents=True, exist_ok=True)
    with system.open_input_stream(f"{root}/{name}") as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, _BLOCK)
    if file_sha256(target) != digest:
        raise IndexUnusable(
            f"{coming} is damaged: the checksum of {name} differs; copy it there again"
        )
