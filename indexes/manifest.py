"""Write and verify the manifest of an index folder, and download an index from a bucket.

`manifest.json` is written last. It lists every file with its size and SHA-256, and has a checksum
of its own. So an unfinished, damaged or newer index is refused, with a remedy, before any other
file is read. A remote index is copied to the user's cache folder, where its files are
memory-mapped. All processes share the copy. Its folder is named after the manifest's SHA-256, so a
rebuilt index is downloaded again.
"""

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock

from ufo.schemas import storage
from ufo.schemas.cache_folder import kept_folder
from ufo.schemas.errors import IndexUnusable, reason_of
from ufo.schemas.file_systems import is_remote
from ufo.schemas.state_files import state_bytes, state_in

FORMAT = "ufo-index"
VERSION = 4
MANIFEST = "manifest.json"

_SMALL = 1 << 20  # bytes of a file whose checksum takes about a millisecond
REBUILD = "build it again with `ufo index build --input DUMP --output {path}`"


def is_index(path: Path) -> bool:
    """Return whether `path` has the manifest of an index, of any version, damaged or not."""
    try:
        return bool(json.loads((path / MANIFEST).read_bytes())["format"] == FORMAT)
    except (OSError, ValueError, TypeError, KeyError):
        return False


def write_manifest(path: Path, files: Sequence[str], content: dict[str, Any]) -> None:
    """Write the manifest of the finished folder `path`, listing `files` (names inside it)."""
    entries = [
        {
            "path": name,
            "bytes": (path / name).stat().st_size,
            "sha256": storage.sha256_of(str(path / name)),
        }
        for name in files
    ]
    manifest = {"format": FORMAT, "version": VERSION, **content, "files": entries}
    (path / MANIFEST).write_bytes(state_bytes(manifest))


def read_manifest(path: Path, *, verify: bool = False) -> tuple[dict[str, Any], str]:
    """Return the manifest of the index folder `path` and the SHA-256 of its bytes.

    Compares the sizes of all files, and the checksums of small files (up to 1 MiB) or with `verify`
    of all files.

    Raises:
        IndexUnusable: the folder is not a complete index of a known version.
    """
    manifest, files, fingerprint = _checked(path)
    rebuild = REBUILD.format(path=path)
    for name, size, digest in files:
        file = path / name
        actual_size = file.stat().st_size if file.exists() else "no"
        if actual_size != size:
            raise IndexUnusable(
                f"{path} is damaged: {name} has {actual_size} bytes where the manifest says "
                f"{size}; {rebuild}"
            )
        if (verify or size <= _SMALL) and storage.sha256_of(str(file)) != digest:
            raise IndexUnusable(f"{path} is damaged: the checksum of {name} differs; {rebuild}")
    return manifest, fingerprint


def _checked(path: Path) -> tuple[dict[str, Any], list[tuple[str, int, str]], str]:
    """Return the manifest in `path`, the name, bytes and SHA-256 of each file that it lists, and
    its own SHA-256. The files need not exist."""
    rebuild = REBUILD.format(path=path)
    try:
        raw = (path / MANIFEST).read_bytes()
    except OSError as error:  # no folder, another kind of folder, or a stopped build
        raise IndexUnusable(
            f"{path} is not a finished index: its {MANIFEST} cannot be read ({error.strerror}); "
            f"{rebuild}"
        ) from None
    try:
        manifest = state_in(raw)
        kind, version = manifest["format"], manifest["version"]
    except (ValueError, KeyError):
        kind = version = None
    if kind != FORMAT:
        raise IndexUnusable(
            f"{path} is not an index: its {MANIFEST} is damaged or of another kind; {rebuild}"
        )
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise IndexUnusable(
            f"{path} is an index of another format ({version!r}, readable here: {VERSION}); "
            f"{'upgrade ufo, or ' * newer}{rebuild}"
        )
    try:
        _ = {key: int(value) for key, value in manifest["counts"].items()}
        files = [(str(e["path"]), int(e["bytes"]), str(e["sha256"])) for e in manifest["files"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IndexUnusable(
            f"{path / MANIFEST} is damaged: an entry is missing; {rebuild}"
        ) from None
    return manifest, files, sha256(raw).hexdigest()


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
        return _cached(uri, storage.read(storage.join(uri, MANIFEST)))
    except OSError as error:
        raise IndexUnusable(
            f"the index {uri} cannot be read: {reason_of(error)}; {_REMEDY}"
        ) from error


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
    _, files, _ = _checked(copy)
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
