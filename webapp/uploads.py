"""Evaluate uploaded files, each in a process of its own, as ordinary runs.

A process and not a thread, because then a million rows are evaluated as `ufo evaluate` does it, on
every core, and neither its memory nor its end is the service's.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from ufo.schemas.errors import EXIT_DONE, EXIT_FAILED
from ufo.webapp.limits import Refused
from ufo.webapp.problems import Conflict, NotFound
from ufo.webapp.upload_process import end, lines, write

WAITING = "waiting"
RUNNING = "running"
FINISHED = "finished"
FAILED = "failed"
DELETED = "deleted"
STOPPED = "stopped"  # by a person or by the end of the service; it can be resumed
OVER = (FINISHED, FAILED, DELETED, STOPPED)
_KEPT = (FAILED, STOPPED)  # with the file and what is done, to be resumed or deleted

FOLDER = ".uploads"
_STATUS = "status.json"
_OWNER = "UFO_OWNER"  # the process that the command ends with
_MOST_WAITING = 20
_LOG_LINES = 20
_LOG_WIDTH = 1_000
_PROGRESS = "progress"  # the message of the command's log lines that say how far it is


@dataclass
class Upload:
    """An upload and its state (see `answers.UploadStatus`).

    The service that evaluates it holds its lock, so that another service over the same folder does
    not take it for stopped.
    """

    id: str
    name: str
    folder: Path
    flags: list[str]
    state: str = WAITING
    done: int = 0
    total: int = 0
    exit_code: int | None = None
    log: deque[str] = field(default_factory=lambda: deque(maxlen=_LOG_LINES))
    work: "asyncio.Task[None] | None" = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.lock = FileLock(self.folder / ".lock", thread_local=False)

    @property
    def run(self) -> str:
        """The name of its run."""
        return f"upload-{self.id}"

    @property
    def file(self) -> Path:
        """The file as it was sent, under its own name, so that rows and messages show that one."""
        # A name is the user's: it may have folders, or characters that patterns of files have.
        name = re.sub(r"[^\w .()-]", "_", self.name.replace("\\", "/").split("/")[-1])
        return self.folder / "input" / (name.strip(" .")[:100] or "responses")

    def status(self) -> dict[str, object]:
        """Return what the page shows of it."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "run": self.run if self.state == FINISHED else None,
            "exit_code": self.exit_code,
            "log": list(self.log),
        }

    def hear(self, line: str) -> None:
        """Take in a line of the command's log: JSON, but for what it says before it logs."""
        try:
            event = dict(json.loads(line))
        except (ValueError, TypeError):
            event = {"message": line}
        if "of" in event:
            self.done, self.total = event["responses"], event["of"]
        if event["message"] != _PROGRESS and "chunk" not in event:
            # The user knows the file's name, and no folder of the service.
            said = str(event["message"]).replace(str(self.file), self.name)
            results = re.escape(str(self.folder.parent.parent))
            self.log.append(re.sub(rf"{results}[^\s'\";]*", "its run", said)[:_LOG_WIDTH])

    def tell(self) -> None:
        """Wake the tasks that wait for a change of the state."""
        self.changed.set()
        self.changed = asyncio.Event()


class Uploads:
    """The uploads of a results folder, on the service's event loop."""

    def __init__(self, results: Path, command: Sequence[str], at_once: int) -> None:
        self._results = results
        self._command = list(command)
        self._places = asyncio.Semaphore(at_once)
        self._known: dict[str, Upload] = {}
        self._load()

    def listed(self) -> list[Upload]:
        """Return all, the newest first."""
        return list(self._known.values())[::-1]

    def one(self, identifier: str) -> Upload:
        """Return the upload of that id.

        Raises:
            NotFound: there is none.
        """
        found = self._known.get(identifier)
        if found is None:
            raise NotFound("no upload of that id; /upload lists those there are")
        return found

    async def take(
        self, name: str, chunks: AsyncIterator[bytes], flags: Mapping[str, object], most: int
    ) -> Upload:
        """Store a file of responses of up to `most` bytes, and start its evaluation.

        Raises:
            Refused: it is too large, or too many are waiting.
        """
        if sum(one.state == WAITING for one in self._known.values()) >= _MOST_WAITING:
            raise Refused(429, f"{_MOST_WAITING} uploads are waiting", "wait for one to end", 30.0)
        identifier = uuid4().hex[:16]
        folder = (self._results / FOLDER / identifier).absolute()
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner only
        folder.mkdir()
        words = [
            f"--{key}" if value is True else f"--{key}={value}"
            for key, value in flags.items()
            if value is not False
        ]
        upload = Upload(identifier, name, folder, [*words, f"--title={name}"])
        try:
            upload.file.parent.mkdir()
            await write(upload.file, chunks, most)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        upload.lock.acquire(blocking=False)
        self._known[identifier] = upload
        self._keep(upload)
        upload.work = asyncio.create_task(self._evaluate(upload))
        return upload

    async def cancel(self, identifier: str) -> Upload:
        """Stop an upload that goes on, or delete one that stopped or failed, with its run.

        Raises:
            Conflict: it is over, or another service has resumed it.
        """
        upload = self.one(identifier)
        if upload.state in _KEPT:
            _hold(upload)
            upload.state = DELETED
            for folder in (self._results / f"run={upload.run}", upload.folder):
                shutil.rmtree(folder, ignore_errors=True)
            upload.lock.release()
            del self._known[identifier]
            return upload
        if upload.state in OVER or upload.work is None:
            raise Conflict(f"the upload is {upload.state} already")
        upload.work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await upload.work
        return upload

    async def resume(self, identifier: str) -> Upload:
        """Resume an upload that stopped or failed.

        Raises:
            Conflict: it did not, or another service has resumed it.
        """
        upload = self.one(identifier)
        if upload.state not in _KEPT:
            raise Conflict(f"the upload is {upload.state}, and not one that stopped or failed")
        _hold(upload)
        upload.state = WAITING
        self._keep(upload)
        upload.work = asyncio.create_task(self._evaluate(upload))
        upload.tell()
        return upload

    async def close(self) -> None:
        """Stop the waiting uploads, then the running ones."""
        going = [one.work for one in self.listed() if one.work is not None]
        for work in going:
            work.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    async def _evaluate(self, upload: Upload) -> None:
        state = FAILED
        try:
            async with self._places:
                upload.state = RUNNING
                upload.tell()
                upload.exit_code = await self._run(upload)
            # A run without a usable judgement is finished too, and its rows have the reasons.
            if upload.exit_code in (EXIT_DONE, EXIT_FAILED) and self._manifest(upload).exists():
                upload.total = upload.done = self._count(upload)
                state = FINISHED
        except asyncio.CancelledError:
            state = STOPPED
            raise
        except (OSError, ValueError, KeyError) as error:
            upload.log.append(f"the evaluation could not be done: {error}")
        finally:
            upload.state = state
            if state == FINISHED:
                shutil.rmtree(upload.file.parent, ignore_errors=True)
            self._keep(upload)
            upload.lock.release()
            upload.tell()

    async def _run(self, upload: Upload) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *("--input", str(upload.file)),
            *("--output", str(self._results.absolute()), "--run", upload.run, *upload.flags),
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
            async for line in lines(process.stderr):
                upload.hear(line)
                upload.tell()
            return await process.wait()
        finally:
            await end(process)

    def _count(self, upload: Upload) -> int:
        counts = json.loads(self._manifest(upload).read_text(encoding="utf-8"))["counts"]
        return int(counts["responses"])

    def _manifest(self, upload: Upload) -> Path:
        return self._results / f"run={upload.run}" / "manifest.json"

    def _keep(self, upload: Upload) -> None:
        text = json.dumps(upload.status() | {"flags": upload.flags})
        (upload.folder / _STATUS).write_text(text, encoding="utf-8")

    def _load(self) -> None:
        """Find the uploads of earlier services; unfinished ones can be resumed.

        Uploads that another service is evaluating are left to it.
        """
        paths = (self._results / FOLDER).glob(f"*/{_STATUS}")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime):
            try:
                saved = json.loads(path.read_text(encoding="utf-8"))
                upload = Upload(
                    path.parent.name, saved["name"], path.parent.absolute(), saved["flags"]
                )
                upload.state, upload.exit_code = saved["state"], saved["exit_code"]
                upload.done, upload.total = saved["done"], saved["total"]
                upload.log.extend(saved["log"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if upload.state not in OVER:
                try:
                    with upload.lock.acquire(blocking=False):
                        upload.state = STOPPED
                except Timeout:
                    continue
                upload.log.append("the service was killed before it was finished; resume it")
            self._known[upload.id] = upload


def _hold(upload: Upload) -> None:
    """Lock an upload that stopped.

    Raises:
        Conflict: another service over the same folder has resumed it.
    """
    gone = Conflict("another service has finished the upload")
    if not upload.file.exists():
        raise gone
    try:
        upload.lock.acquire(blocking=False)
    except Timeout:
        raise Conflict("another service is evaluating the upload") from None
    if not upload.file.exists():
        upload.lock.release()
        raise gone
