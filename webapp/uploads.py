"""Evaluate uploaded files as ordinary runs, each in a separate process.

It is a process and not a thread. So a million rows are evaluated as by `ufo evaluate`, on every
core, and neither the memory nor a crash of the evaluation affects the service.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from filelock import FileLock, Timeout

from ufo.pipelines.options.doors import in_fields
from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED, EXIT_USAGE, RunError
from ufo.schemas.tables import manifest_of
from ufo.webapp.limits import Refused
from ufo.webapp.problems import Conflict, NotFound
from ufo.webapp.trash import discard, restore

State = Literal["waiting", "running", "finished", "failed", "deleted", "stopped"]
"""An upload is stopped by a person or by the end of its service."""
Phase = Literal["starting", "reading", "evaluating"]
_KEPT = ("failed", "stopped")  # their file and results are kept, to be resumed
OVER = ("finished", "deleted", *_KEPT)

FOLDER = ".uploads"
_STATUS = "status.json"
_OWNER = "UFO_OWNER"  # the variable with the process at whose end the command ends
_MOST_WAITING = 20
_LOG_LINES = 20
_LOG_WIDTH = 1_000
_PROGRESS = "progress"  # the message of the command's log lines on its progress
_READING = "reading"  # the message of the line before the input is read
_WRONG_FILE = ("NothingUsable", "NothingToEvaluate")  # kinds of errors
_ENDING_SECONDS = 20.0


@dataclass
class UploadStatus:
    """The state of an upload. `run` is the name of its run once it is finished.

    `done` and `total` count responses; the total of a compressed file is 0 until it is finished.
    `phase` is what a running one does, for `seconds` in all. `resumable` is false where the same
    file would fail again. `log` has the last lines that the evaluation printed.
    """

    id: str
    name: str
    state: State = "waiting"
    done: int = 0
    total: int = 0
    run: str | None = None
    exit_code: int | None = None
    phase: Phase = "starting"
    seconds: float = 0.0
    resumable: bool = True
    log: list[str] = field(default_factory=list)


@dataclass
class Upload:
    """An upload, its folder and the flags of its command.

    The service that evaluates it holds its lock. So another service over the same folder does not
    consider it stopped.
    """

    status: UploadStatus
    folder: Path
    flags: list[str]
    work: "asyncio.Task[None] | None" = None
    began: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.lock = FileLock(self.folder / ".lock", thread_local=False)
        self.run_name = f"upload-{self.status.id}"
        self.run = self.folder.parent.parent / f"run={self.run_name}"

    @property
    def file(self) -> Path:
        """The file as it was sent, under its own name, which rows and messages show."""
        # The user's name may have folders, or characters with a meaning in file patterns.
        name = re.sub(r"[^\w .()-]", "_", self.status.name.replace("\\", "/").split("/")[-1])
        return self.folder / "input" / (name.strip(" .")[:100] or "responses")

    def read_log_line(self, line: str) -> None:
        """Update the state by a line of the command's log: JSON, or text before logging starts."""
        try:
            event = dict(json.loads(line))
        except (ValueError, TypeError):
            event = {"message": line}
        if "of" in event:
            self.status.phase = "evaluating"
            self.status.done, self.status.total = event["responses"], event["of"]
        if event["message"] == _READING:
            self.status.phase = "reading"
        if event.get("kind") in _WRONG_FILE:
            self.status.resumable = False
        if event["message"] not in (_PROGRESS, _READING) and "chunk" not in event:
            # The user knows the file's name, but not the service's folders.
            message = str(event["message"]).replace(str(self.file), self.status.name)
            results = re.escape(str(self.run.parent))
            self.add_to_log(in_fields(re.sub(rf"{results}[^\s'\";]*", "its run", message)))

    def add_to_log(self, text: str) -> None:
        """Add a line to the log, of which only the last lines are kept."""
        self.status.log = [*self.status.log, text[:_LOG_WIDTH]][-_LOG_LINES:]

    async def states(self, pulse_seconds: float) -> AsyncIterator[dict[str, Any]]:
        """Yield the state at each change, and every `pulse_seconds`, until the upload is over."""
        while True:
            changed = self.changed
            self.update_seconds()
            yield asdict(self.status)
            if self.status.state in OVER:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), pulse_seconds)

    def update_seconds(self) -> None:
        """Update the time since the evaluation began."""
        if self.status.state == "running":
            self.status.seconds = round(time.monotonic() - self.began, 1)

    def notify(self) -> None:
        """Wake the tasks that wait for a change of the state."""
        self.changed.set()
        self.changed = asyncio.Event()

    def keep(self) -> None:
        """Write the state to the folder."""
        text = json.dumps(asdict(self.status) | {"flags": self.flags})
        (self.folder / _STATUS).write_text(text, encoding="utf-8")

    def hold(self) -> None:
        """Lock an upload that stopped or failed.

        Raises:
            Conflict: another service over the same folder has resumed it.
        """
        gone = Conflict("another service has finished the upload")
        if not self.file.exists():
            raise gone
        try:
            self.lock.acquire(blocking=False)
        except Timeout:
            raise Conflict("another service is evaluating the upload") from None
        if not self.file.exists():
            self.lock.release()
            raise gone


class Uploads:
    """The uploads of a results folder, on the service's event loop."""

    def __init__(self, results: Path, command: Sequence[str], at_once: int) -> None:
        self._results = results.absolute()
        self._command = list(command)
        self._places = asyncio.Semaphore(at_once)
        self._known: dict[str, Upload] = {}
        self._load()

    def listed(self) -> list[Upload]:
        """Return all uploads, the newest first."""
        return [one for one in self._known.values() if one.status.state != "deleted"][::-1]

    def by_id(self, identifier: str) -> Upload:
        """Return the upload of that id.

        Raises:
            NotFound: there is none.
        """
        upload = self._known.get(identifier)
        if upload is None or upload.status.state == "deleted":
            raise NotFound("no upload has that id; /upload lists all")
        return upload

    async def take(
        self, name: str, chunks: AsyncIterator[bytes], flags: Mapping[str, object], most: int
    ) -> Upload:
        """Store a file of responses of up to `most` bytes, and start its evaluation.

        Raises:
            Refused: it is too large, or too many are waiting.
        """
        if sum(one.status.state == "waiting" for one in self._known.values()) >= _MOST_WAITING:
            raise Refused(429, f"{_MOST_WAITING} uploads are waiting", "wait for one to end", 30.0)
        status = UploadStatus(uuid4().hex[:16], name)
        folder = self._results / FOLDER / status.id
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner only
        folder.mkdir()
        words = [
            f"--{key}" if value is True else f"--{key}={value}"
            for key, values in flags.items()
            for value in (values if isinstance(values, list) else [values])
            if value is not False
        ]
        upload = Upload(status, folder, [*words, f"--title={name}"])
        try:
            await _write(upload.file, chunks, most)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        upload.lock.acquire(blocking=False)
        self._known[status.id] = upload
        self._begin(upload)
        return upload

    async def cancel(self, identifier: str) -> Upload:
        """Stop an upload that is under way, or delete one that is over: with its file and what it
        has of its run, unless the run is finished.

        Raises:
            Conflict: another service has resumed it.
        """
        upload = self.by_id(identifier)
        if upload.status.state not in OVER and upload.work is not None:
            upload.work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await upload.work
            return upload
        is_kept = upload.status.state in _KEPT
        if is_kept:
            upload.hold()
        upload.keep()  # else a restored upload of an earlier service would be under way
        discard(upload.folder)
        if is_kept and upload.run.exists():
            discard(upload.run)
        upload.lock.release()
        upload.status.state = "deleted"
        return upload

    def restore(self, identifier: str) -> Upload:
        """Bring back an upload that was deleted, to its place.

        Raises:
            NotFound: it was not deleted within the last hour.
        """
        folder = self._results / FOLDER / identifier
        restore(folder)
        upload = self._known[identifier] = _saved(folder / _STATUS)
        with contextlib.suppress(NotFound):
            restore(upload.run)
        return upload

    async def resume(self, identifier: str) -> Upload:
        """Resume an upload that stopped or failed.

        Raises:
            Conflict: it did not stop or fail, the same file would fail again, or another service
                has resumed it.
        """
        upload = self.by_id(identifier)
        if upload.status.state not in _KEPT:
            raise Conflict(f"the upload is {upload.status.state}, and did not stop or fail")
        if not upload.status.resumable:
            raise Conflict("the same file would fail again: change the file or its columns")
        upload.hold()
        self._begin(upload)
        return upload

    async def close(self) -> None:
        """Stop the waiting uploads, then the running ones."""
        tasks = [upload.work for upload in self.listed() if upload.work is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, upload: Upload) -> None:
        upload.status.state = "waiting"
        upload.keep()
        upload.work = asyncio.create_task(self._evaluate(upload))
        upload.notify()

    async def _evaluate(self, upload: Upload) -> None:
        status = upload.status
        state: State = "failed"
        try:
            async with self._places:
                status.state, status.phase = "running", "starting"
                upload.began = time.monotonic()
                upload.notify()
                status.exit_code = await self._run(upload)
            manifest = manifest_of(str(upload.run))
            # A run without a usable judgement is finished, too, and its rows have the reasons.
            if status.exit_code in (EXIT_DONE, EXIT_FAILED) and manifest is not None:
                status.total = status.done = int(manifest["counts"]["responses"])
                status.run = upload.run_name
                state = "finished"
                shutil.rmtree(upload.file.parent, ignore_errors=True)
        except asyncio.CancelledError:
            state = "stopped"
            raise
        except (OSError, ValueError, RunError) as error:
            upload.add_to_log(f"the evaluation could not be done: {error}")
        finally:
            upload.update_seconds()
            status.state = state
            status.resumable = status.resumable and status.exit_code != EXIT_USAGE
            upload.keep()
            upload.lock.release()
            upload.notify()

    async def _run(self, upload: Upload) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            "--input",
            str(upload.file),
            "--output",
            str(self._results),
            "--run",
            upload.run_name,
            *upload.flags,
            "--log_format=json",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=upload.folder,
            env={**os.environ, _OWNER: str(os.getpid())},
            start_new_session=True,
        )
        assert process.stderr is not None
        try:
            async for line in _lines(process.stderr):
                upload.read_log_line(line)
                upload.notify()
            return await process.wait()
        finally:
            await _end(process)

    def _load(self) -> None:
        """Find the uploads of earlier services; unfinished ones can be resumed.

        Uploads that another service is evaluating are left to it.
        """
        paths = (self._results / FOLDER).glob(f"*/{_STATUS}")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime):
            try:
                upload = _saved(path)
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if upload.status.state not in OVER:
                try:
                    with upload.lock.acquire(blocking=False):
                        upload.status.state = "stopped"
                except Timeout:
                    continue
                upload.add_to_log("the service ended before it was finished; resume it")
            self._known[upload.status.id] = upload


def _saved(path: Path) -> Upload:
    """Return an upload as `Upload.keep` has written it."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    flags = saved.pop("flags")
    return Upload(UploadStatus(**saved), path.parent, flags)


async def _write(path: Path, chunks: AsyncIterator[bytes], most: int) -> None:
    """Write a file of up to `most` bytes.

    Raises:
        Refused: it is larger.
    """
    size = 0
    path.parent.mkdir()
    with path.open("wb") as out:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                remedy = "split it, or evaluate it with `ufo evaluate`"
                raise Refused(413, f"the file is larger than {most:,} bytes", remedy, 0.0)
            out.write(chunk)


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Yield the lines of a stream; a line may have any length and any bytes."""
    rest = b""
    while chunk := await stream.read(65_536):
        *whole, rest = re.split(rb"[\r\n]+", rest + chunk)
        for line in whole:
            yield line.decode("utf-8", "replace")
        rest = rest[-65_536:]
    if rest:
        yield rest.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process and its children: by SIGTERM, and after some seconds by SIGKILL."""
    # Not by SIGINT: a service that a shell started with `&` ignores it, as do its children.
    for number, seconds in ((signal.SIGTERM, _ENDING_SECONDS), (signal.SIGKILL, None)):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
