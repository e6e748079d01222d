"""Write and verify the manifest of an index folder, and copy an index here from a bucket.

`manifest.json` is written last and lists every file with its size and SHA-256, so that an
unfinished, damaged or newer index is refused with a remedy before any other file is read. The copy
of a remote index, whose files are memory-mapped, is in the user's cache folder under the checksum
of its manifest: all processes share it, and an index that was rebuilt is downloaded again.
"""

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock

from ufo.schemas import storage
from ufo.schemas.errors import IndexUnusable
from ufo.schemas.storage import kept_folder

FORMAT = "ufo-index"
VERSION = 3
MANIFEST = "manifest.json"

_SMALL = 1 << 20  # bytes of a file whose checksum takes about a millisecond
REBUILD = "build it again with `ufo index build --input DUMP --output {path}`"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hex digits."""
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def is_index(path: Path) -> bool:
    """Return whether `path` has the manifest of an index, of any version."""
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def write_manifest(path: Path, files: Sequence[str], content: dict[str, Any]) -> None:
    """Write the manifest of the finished folder `path`, listing `files` (names inside it)."""
    entries = [
        {
            "path": name,
            "bytes": (path / name).stat().st_size,
            "sha256": file_sha256(path / name),
        }
        for name in files
    ]
    manifest = {"format": FORMAT, "version": VERSION, **content, "files": entries}
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (path / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(path: Path, *, verify: bool = False) -> tuple[dict[str, Any], str]:
    """Return the manifest of the index folder `path` and the SHA-256 of its bytes.

    Compares the sizes of all files and the checksums of small ones (up to 1 MiB), with `verify`
    those of all.

    Raises:
        IndexUnusable: the folder is not a complete index of a known version.
    """
    manifest, raw = _checked(path)
    rebuild = REBUILD.format(path=path)
    for name, size, digest in _entries(path, manifest):
        try:
            actual = (path / name).stat().st_size
        except OSError:
            raise IndexUnusable(f"{path} is damaged: {name} is missing; {rebuild}") from None
        if actual != size:
            raise IndexUnusable(
                f"{path} is damaged: {name} has {actual} bytes where the manifest says {size}; "
                f"{rebuild}"
            )
        if (verify or size <= _SMALL) and file_sha256(path / name) != digest:
            raise IndexUnusable(f"{path} is damaged: the checksum of {name} differs; {rebuild}")
    return manifest, sha256(raw).hexdigest()


def listed_files(path: Path) -> list[tuple[str, int, str]]:
    """Return name, bytes and SHA-256 of each file that the manifest in `path` lists.

    The files need not exist. Raises IndexUnusable as `read_manifest` does.
    """
    return _entries(path, _checked(path)[0])


def _checked(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the manifest in `path` and its bytes, after checking its format and version."""
    rebuild = REBUILD.format(path=path)
    if not path.exists():
        raise IndexUnusable(f"no index at {path}: no such folder; give its folder, or {rebuild}")
    if not path.is_dir():
        raise IndexUnusable(f"{path} is not an index but a file; give an index folder, or make one")
    try:
        raw = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise IndexUnusable(
            f"{path} is not a finished index: it has no {MANIFEST} (another kind of folder, or a "
            f"build that was stopped); {rebuild}"
        ) from None
    except OSError as error:
        raise IndexUnusable(f"cannot read {path / MANIFEST}: {error.strerror}") from None
    try:
        manifest = json.loads(raw)
    except ValueError:
        raise IndexUnusable(f"{path / MANIFEST} is damaged: it is not JSON; {rebuild}") from None
    _check_format(path, manifest, rebuild)
    return manifest, raw


def _check_format(path: Path, manifest: object, rebuild: str) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise IndexUnusable(f"{path} is not an index: its {MANIFEST} is of another kind; {rebuild}")
    version = manifest.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise IndexUnusable(
            f"{path} was built by {'a newer' if newer else 'an older'} ufo (index version "
            f"{version!r}, readable here: {VERSION}); {'upgrade ufo, or ' * newer}{rebuild}"
        )


def _entries(path: Path, manifest: dict[str, Any]) -> list[tuple[str, int, str]]:
    try:
        _ = {key: int(value) for key, value in manifest["counts"].items()}
        return [(str(e["path"]), int(e["bytes"]), str(e["sha256"])) for e in manifest["files"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IndexUnusable(
            f"{path / MANIFEST} is damaged: an entry is missing; {REBUILD.format(path=path)}"
        ) from None


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
