"""Find finished runs and read their manifests, without a database."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ufo.schemas import storage
from ufo.schemas.errors import REMEDY, RunError, UsageError, damaged_part, unknown_value
from ufo.schemas.storage import RemoteError
from ufo.schemas.tables import SCHEMA_VERSION, TABLES, read_rows

MANIFEST = "manifest.json"
FORMAT = "ufo-run"
RUN_PREFIX = "run="


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its folder, and what its manifest says.

    `finished_at` is in UTC; `sources` are in the user's order; `counts` has responses, units and
    failures; `files` maps each table to its part files, and `checksums` these to their SHA-256 (a
        run of before there were checksums has none). `llm` has the options of a model that judged,
    empty where none did. `title` is what people read: what its user called it, else the name of its
    input and when it was finished (in UTC).
    """

    name: str
    folder: Path
    schema_version: int
    ufo_version: str
    mode: str
    tie: str
    judge: str
    sources: tuple[str, ...]
    finished_at: datetime
    counts: dict[str, int]
    files: dict[str, tuple[Path, ...]]
    llm: Mapping[str, Any] = field(default_factory=dict)
    checksums: Mapping[Path, str] = field(default_factory=dict)
    title: str = ""


def finished_runs(directory: str | Path) -> list[Run]:
    """Return the finished runs of a folder, from the oldest to the newest.

    Raises:
        UsageError: the folder does not exist.
        RunError: a manifest that is damaged, or newer than this version can read.
    """
    root = _existing(directory)
    manifests = [path for path in root.glob(f"{RUN_PREFIX}*/{MANIFEST}") if path.is_file()]
    return sorted(map(_read_run, manifests), key=lambda run: (run.finished_at, run.name))


def choose_runs(directory: str | Path, run: str | None = None, all_runs: bool = False) -> list[Run]:
    """Return the finished run of that name, or every one, or else the newest alone; never none.

    Raises:
        UsageError: no such folder, no finished run in it, or none of that name.
        RunError: a run to be returned is damaged, or newer than this version can read.
    """
    root = _existing(directory)
    if run is not None:
        manifest = root / f"{RUN_PREFIX}{run}" / MANIFEST
        if manifest.is_file():
            return [_read_run(manifest)]
        known = [one.name for one in finished_runs(root)]
        if known:
            raise UsageError(f"{unknown_value('run', run, known)} Only finished runs can be read.")
    runs = finished_runs(root)
    if not runs:
        raise UsageError(_nothing_in(root))
    return runs if all_runs else runs[-1:]


def check_files(run: Run) -> None:
    """Raise a RunError if a part file that the manifest lists is missing."""
    missing = [path for paths in run.files.values() for path in paths if not path.is_file()]
    if missing:
        raise RunError(
            f"run {run.name!r} is damaged: {len(missing)} of its part files are missing, the first "
            f"is {str(missing[0])!r}; evaluate it again, or remove the folder."
        )


def check_part(path: str, sha256: str | None, remedy: str = REMEDY) -> None:
    """Check that a part file is as it was written; without a checksum, that it can be read.

    Raises:
        RunError: it is damaged, or gone.
    """
    try:
        if sha256 is None:
            read_rows(path, remedy=remedy)
        elif storage.sha256_of(path) != sha256:
            raise damaged_part(path, "it is not what was written, by its checksum", remedy)
    except RemoteError:
        raise
    except OSError as error:
        raise damaged_part(path, error, remedy) from error


def damage_of(folder: str, tables: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the part files that the `tables` of a run's manifest list."""
    found = []
    for table in tables.values():
        for file in table["files"]:
            try:
                check_part(storage.join(folder, file), table.get("sha256", {}).get(file))
            except RunError as error:
                found.append(error.message)
    return found


def _existing(directory: str | Path) -> Path:
    root = Path(directory)
    if storage.is_remote(str(directory)):
        raise UsageError(
            f"{str(directory)!r} is not on this machine, and only what is can be asked: copy the "
            "folder of the run here first, for example by 'gcloud storage cp -r'"
        )
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise UsageError(
            f"{str(root)!r} {what}; give the --output folder of an earlier 'ufo evaluate'."
        )
    return root


def _nothing_in(root: Path) -> str:
    if root.absolute().name.startswith(RUN_PREFIX):
        name = root.absolute().name.removeprefix(RUN_PREFIX)
        return f"{str(root)!r} is the folder of one run; give its parent, and --run {name}."
    attempts = sorted({path.parent.name for path in root.glob(f"{RUN_PREFIX}*/.attempt-*")})
    if attempts:
        names = ", ".join(name.removeprefix(RUN_PREFIX) for name in attempts)
        return (
            f"no finished run in {str(root)!r}, only unfinished ones: {names}. The same 'ufo "
            f"evaluate' command completes them."
        )
    return f"no finished run in {str(root)!r}; 'ufo evaluate --output {root}' writes one."


def _title(fingerprint: Mapping[str, Any], folder: str, finished: datetime) -> str:
    names = [str(one["name"]).rsplit("/", 1)[-1] for one in fingerprint.get("inputs", [])]
    more = f" and {len(names) - 1} more" if names[1:] else ""
    called = f"{names[0]}{more}" if names else folder.removeprefix(RUN_PREFIX)
    return f"{called}, {finished.astimezone(UTC):%d %B %Y, %H:%M}"


def _read_run(path: Path) -> Run:
    folder = path.parent
    remedy = "evaluate it again, or remove the folder"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise ValueError(f"format is {manifest['format']!r}, expected {FORMAT!r}")
        version = int(manifest["schema_version"])
        if version > SCHEMA_VERSION:
            raise RunError(
                f"run {str(folder)!r} has schema version {version}, and this ufo reads up to "
                f"{SCHEMA_VERSION}; install the ufo that wrote it "
                f"({manifest.get('ufo_version', 'a newer one')}) or a later one."
            )
        finished = datetime.fromisoformat(manifest["finished_at"])
        if finished.tzinfo is None:
            finished = finished.replace(tzinfo=UTC)
        return Run(
            name=folder.name.removeprefix(RUN_PREFIX),
            folder=folder,
            schema_version=version,
            ufo_version=str(manifest["ufo_version"]),
            mode=str(manifest["mode"]),
            tie=str(manifest["tie"]),
            judge=str(manifest["judge"]),
            sources=tuple(manifest["sources"]),
            finished_at=finished.astimezone(UTC),
            counts={name: int(n) for name, n in manifest["counts"].items()},
            files={
                table: tuple(folder / file for file in manifest["tables"][table]["files"])
                for table in TABLES
                if table in manifest["tables"]
            },
            llm=manifest["fingerprint"].get("options", {}).get("llm") or {},
            checksums={
                folder / file: digest
                for entry in manifest["tables"].values()
                for file, digest in entry.get("sha256", {}).items()
            },
            title=manifest.get("title") or _title(manifest["fingerprint"], folder.name, finished),
        )
    except KeyError as error:
        raise RunError(f"{str(path)!r} lacks {error}: the run is damaged; {remedy}.") from error
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise RunError(f"{str(path)!r} cannot be read: {error}; {remedy}.") from error
