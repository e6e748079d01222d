"""Read and write the manifest of an index folder.

`manifest.json` is written last. It lists every file with its size and SHA-256, and has a checksum
of its own. So an unfinished, damaged or newer index is refused, with a remedy, before any other
file is read.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ufo.schemas import storage
from ufo.schemas.errors import IndexUnusable
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
    manifest, files, fingerprint = check_manifest(path)
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


def check_manifest(path: Path) -> tuple[dict[str, Any], list[tuple[str, int, str]], str]:
    """Return the manifest in `path`, the files that it lists, and its own SHA-256.

    A file has its name, its size in bytes and its SHA-256, and need not exist."""
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
