"""Files that are uploaded and evaluated: followed, stopped, resumed, deleted, by one service."""

import asyncio
import csv
import io
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from tests.transforms.test_recognise import KINDS
from tests.webapp.conftest import leave_upload, opened, read_events
from ufo.webapp.limits import Refused, ServiceLimits
from ufo.webapp.problems import Conflict, NotFound
from ufo.webapp.service import Setup
from ufo.webapp.uploads import Upload, Uploads, UploadStatus

LINES = "".join(
    json.dumps({"id": f"r{n}", "response": "Oslo is big.", "reference_answers": "Oslo is big."})
    + "\n"
    for n in range(5)
)
# Says that it has begun, and then waits for the end; as below a shell's `&` it ignores Ctrl-C.
WAITING = """
import pathlib, signal, sys
def end(*_):
    pathlib.Path("ended").touch()
    sys.exit(1)
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, end)
pathlib.Path("begun").touch()
print('{"message": "progress", "responses": 2, "of": 5}', file=sys.stderr, flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def empty(base: Setup, tmp_path: Path) -> Setup:
    """A set-up whose results are none yet."""
    return replace(base, results=tmp_path / "results")


@pytest.fixture
def waiting(empty: Setup) -> Setup:
    """One whose evaluations wait, one at a time."""
    evaluate = (sys.executable, "-c", WAITING)
    return replace(empty, evaluate=evaluate, limits=ServiceLimits(uploads=1))


@pytest.fixture
def stopped(empty: Setup) -> str:
    """An upload whose service was killed."""
    return f"/upload/{leave_upload(empty.results, LINES)}"


def sent(client: httpx.Client, content: Any = LINES, **params: str) -> str:
    """Send a file, and return the address of the upload."""
    taken = client.post("/upload", params=params, content=content)
    assert taken.status_code == 202, taken.text
    return f"/upload/{taken.json()['id']}"


def follow(client: httpx.Client, upload: str) -> Any:
    """The last state that is told."""
    with client.stream("GET", f"{upload}/events") as response:
        return list(read_events(response.iter_lines()))[-1].data


def until_begun(client: httpx.Client, upload: str) -> None:
    with client.stream("GET", f"{upload}/events") as response:
        next(event for event in read_events(response.iter_lines()) if event.data["done"])


@pytest.mark.slow
def test_an_upload_becomes_a_run(empty: Setup) -> None:
    with opened(empty) as client:
        lines = LINES.replace('"response"', '"output"') + "no json\n"
        name = "my file 🛸"
        upload = sent(client, lines, name=name, sources="reference", map="response=output")
        last = follow(client, upload)
        assert last["state"] == "finished", last
        assert last["done"] == 5
        assert last["exit_code"] == 0
        assert [run["run"] for run in client.get("/runs").json()] == [last["run"]]
        assert client.get(f"/runs/{last['run']}/responses").json()["total"] == 5
        failures = client.get("/reports/failures", params={"run": last["run"]}).text
        (failure,) = csv.DictReader(io.StringIO(failures))
        assert "my file _:6" in failure["key"]
        archive = zipfile.ZipFile(io.BytesIO(client.get(f"{upload}/parquet").content))
        (verdicts,) = [name for name in archive.namelist() if "/verdicts/" in name]
        assert pq.read_table(io.BytesIO(archive.read(verdicts)))["label"].to_pylist() == [1] * 5
        (listed,) = client.get("/upload").json()
        assert listed["name"] == name
    for folder in (".uploads", f"run={last['run']}"):
        assert (empty.results / folder).stat().st_mode & 0o077 == 0  # for its owner only
    # Another service over the same folder knows it too.
    with opened(empty) as client:
        assert client.get("/upload").json() == [listed]


@pytest.mark.slow
def test_an_upload_that_cannot_be_evaluated_says_why(empty: Setup) -> None:
    with opened(empty) as client:
        upload = sent(client, b"")
        last = follow(client, upload)
        assert last["state"] == "failed", last
        assert last["exit_code"] == 1
        assert last["run"] is None
        assert "nothing to evaluate" in "".join(last["log"])
        assert client.get("/runs").json() == []
        # Parquet by its first bytes, and no Parquet: the file is named as it was sent.
        log = " ".join(follow(client, sent(client, b"PAR1", name="../a [1]*.parquet"))["log"])
    assert "'../a [1]*.parquet' cannot be read" in log
    assert str(empty.results) not in log


@pytest.mark.slow
def test_an_upload_is_stopped_and_another_service_goes_on_with_it(
    empty: Setup, waiting: Setup
) -> None:
    with opened(waiting) as client:
        upload, ended = sent(client), None
        with client.stream("GET", f"{upload}/events") as response:
            for event in read_events(response.iter_lines()):
                if event.data["done"] == 2 and ended is None:
                    with opened(empty) as other:  # it is left to its service
                        assert other.get("/upload").json() == []
                    ended = httpx.delete(client.base_url.join(upload), trust_env=False, timeout=60)
        assert ended is not None
        assert ended.json()["state"] == event.data["state"] == "stopped"
        assert list(empty.results.glob("**/input/*"))
    with opened(empty) as other:
        assert other.post(f"{upload}/resume").status_code == 202
        last = follow(other, upload)
        assert last["state"] == "finished", last
        assert last["done"] == 5


def test_a_stopped_upload_is_resumed_by_one_service_and_deleted(
    empty: Setup, waiting: Setup, stopped: str
) -> None:
    with opened(waiting) as first, opened(waiting) as second:
        for client in (first, second):
            (shown,) = client.get("/upload").json()
            assert shown["state"] == "stopped"
        assert first.post(f"{stopped}/resume").status_code == 202
        for answer in (second.post(f"{stopped}/resume"), second.delete(stopped)):
            assert answer.status_code == 409
            assert "another service is evaluating the upload" in answer.text
        states = [first.delete(stopped).json()["state"] for _ in range(2)]
        assert states == ["stopped", "deleted"]
        assert first.get("/upload").json() == []
        answer = second.post(f"{stopped}/resume")
        assert "another service has finished the upload" in answer.text
        assert first.post(f"{stopped}/restore").json()["state"] == "stopped"
        (shown,) = first.get("/upload").json()
        assert (shown["id"], shown["state"]) == (stopped.rpartition("/")[2], "stopped")
        assert first.delete(stopped).json()["state"] == "deleted"
    assert not list(empty.results.glob("run=*"))
    assert [path.name for path in empty.results.glob(".uploads/*")] == [".deleted"]


def test_uploads_wait_for_a_place_and_none_begins_when_the_service_ends(waiting: Setup) -> None:
    with opened(waiting) as client:
        first, second, *_ = [sent(client) for _ in range(4)]
        until_begun(client, first)
        assert client.get(second).json()["state"] == "waiting"
        client.delete(first)
        until_begun(client, second)
    uploads = waiting.results / ".uploads"
    states = [json.loads(path.read_text())["state"] for path in uploads.glob("*/status.json")]
    assert states == ["stopped"] * 4
    # Those that ran were asked, not killed.
    for sign in ("begun", "ended"):
        addresses = {f"/upload/{path.parent.name}" for path in uploads.glob(f"*/{sign}")}
        assert addresses == {first, second}


def recognised(client: httpx.Client, content: bytes) -> Any:
    """What the service says of a file, of which it gets the two ends."""
    part = 1 << 18
    ends = content[:part] + content[max(part, len(content) - part) :]
    answer = client.post("/columns", params={"size": len(content)}, content=ends)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])  # all would be more than may wait
def test_what_is_said_of_a_file_holds_when_it_is_evaluated(
    base: Setup, tmp_path: Path, part: int
) -> None:
    setup = replace(base, results=tmp_path / "results", limits=ServiceLimits(uploads=2))
    with opened(setup) as client:
        sent_as = {}
        for name in list(KINDS)[part::2]:
            (content,) = KINDS[name]
            columns = recognised(client, content)
            pairs = [
                f"{key}={column}" for key, column in columns["fields"].items() if key != column
            ]
            options = {"map": ",".join(pairs)} if pairs else {}
            upload = sent(client, content, name=name, sources="reference", **options)
            sent_as[upload] = columns
        for upload, columns in sent_as.items():
            last = follow(client, upload)
            is_read = not columns["refused"]
            assert (last["state"] == "finished") is is_read, (last, columns)
            assert last["resumable"] is is_read, (last, columns)
            assert "--" not in "".join(last["log"])


def test_an_answer_needs_no_more_than_the_ends_of_a_file(client: httpx.Client) -> None:
    half = b'{"response": "x"}\n' * 20_000
    assert recognised(client, half + half)["fields"] == {"response": "response"}


def test_an_archive_is_deleted_once_it_is_sent(
    base: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opened(base) as client:
        answer = client.get("/runs/older/parquet")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="run.zip"'
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"sources": "examples/own_source.py:Glossary"}, id="a file with code"),
        pytest.param({"sources": "nobody"}, id="an unknown source"),
        pytest.param({"mode": "--input=/etc/passwd"}, id="a flag in place of a mode"),
        pytest.param({"output": "/tmp"}, id="a field that there is not"),
        pytest.param({"name": ""}, id="an empty name"),
        pytest.param({"map": "response"}, id="a map of no column"),
        pytest.param(
            {"judge": "offline", "model": "m", "sources": "reference"}, id="a model for no one"
        ),
    ],
)
def test_wrong_options_are_reported_before_anything_is_kept(
    client: httpx.Client, results: Path, wrong: dict[str, str]
) -> None:
    response = client.post("/upload", params=wrong, content=LINES)
    assert response.status_code == (409 if "model" in wrong else 422)
    assert response.headers["content-type"] == "application/problem+json"
    assert list(results.glob(".uploads/*")) == []


OPTIONS = {
    "name": "mine",
    "map": "response=output",
    "judge": "offline",
    "verifier": "bundled",
    "mode": "mv",
    "tie": "factual",
    "units": "sentence",
    "retriever": "bm25",
    "passages": "7",
}


def test_every_option_of_an_upload_is_a_flag_of_its_command(empty: Setup) -> None:
    with opened(replace(empty, evaluate=("true",))) as client:

        def flags(**options: Any) -> list[str]:
            taken = client.post("/upload", params=options, content=LINES).json()
            kept = empty.results / ".uploads" / taken["id"] / "status.json"
            return list(json.loads(kept.read_text())["flags"])

        named_flags = flags(**OPTIONS, sources=["wikipedia", "reference"])
        usual = flags()
    index = {"--index": str(Path(empty.index).absolute())}
    named = {f"--{name}": value for name, value in OPTIONS.items() if name != "name"}
    several = {"--sources": "wikipedia,reference", "--title": "mine"}
    assert dict(one.split("=", 1) for one in named_flags) == named | index | several
    # Where nothing is asked for, the service's own judge is named, and no source.
    expected = index | {"--judge": "offline", "--title": "upload"}
    assert dict(one.split("=", 1) for one in usual) == expected


def test_what_is_true_is_a_flag_and_what_is_false_is_none(tmp_path: Path) -> None:
    async def flags() -> list[str]:
        uploads = Uploads(tmp_path, ["true"], 1)
        upload = await take(uploads, yes=True, no=False, none=0, word="a b", each=["c", "d"])
        await uploads.close()
        return upload.flags

    words = ["--yes", "--none=0", "--word=a b", "--each=c", "--each=d", "--title=mine"]
    assert asyncio.run(flags()) == words


async def _chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        await asyncio.sleep(0)  # as from a network, others have their turn
        yield part


async def take(uploads: Uploads, **options: Any) -> Upload:
    return await uploads.take("mine", _chunks(b"x"), options, 1)


@pytest.mark.parametrize(
    ("size", "fits"), [(9, True), (10, True), (11, False)], ids=["less", "as much", "more"]
)
def test_a_file_may_have_so_many_bytes(tmp_path: Path, size: int, fits: bool) -> None:
    async def kept() -> bytes:
        uploads = Uploads(tmp_path, ["true"], 1)
        upload = await uploads.take("mine", _chunks(b"a" * 5, b"b" * (size - 5)), {}, 10)
        content = upload.file.read_bytes()
        await uploads.close()
        return content

    if fits:
        assert asyncio.run(kept()) == b"a" * 5 + b"b" * (size - 5)
        return
    with pytest.raises(Refused, match="the file is larger than 10 bytes") as refused:
        asyncio.run(kept())
    assert refused.value.status == 413
    assert list(tmp_path.glob(".uploads/*")) == []


def evaluated(folder: Path, *command: str) -> UploadStatus:
    """Evaluate an upload by a command, and return its last state."""

    async def ended() -> UploadStatus:
        upload = await take(Uploads(folder, command, 1))
        assert upload.work is not None
        await upload.work
        return upload.status

    return asyncio.run(ended())


def test_twenty_uploads_wait_and_one_more_is_refused(tmp_path: Path) -> None:
    async def queue() -> None:
        uploads = Uploads(tmp_path, [sys.executable, "-S", "-c", WAITING], 1)
        try:
            first = await take(uploads)
            while first.status.state == "waiting":
                await first.changed.wait()
            queued = [await take(uploads) for _ in range(20)]
            with pytest.raises(Refused, match="20 uploads are waiting") as refused:
                await take(uploads)
            assert refused.value.status == 429
            assert refused.value.seconds == 30.0
            # One that is stopped makes room for another.
            await uploads.cancel(queued[0].status.id)
            await take(uploads)
        finally:
            await uploads.close()

    asyncio.run(queue())


@pytest.mark.parametrize("places", [1, 2])
def test_so_many_uploads_are_evaluated_at_a_time(tmp_path: Path, places: int) -> None:
    async def states() -> list[str]:
        uploads = Uploads(tmp_path, [sys.executable, "-S", "-c", WAITING], places)
        taken = [await take(uploads) for _ in range(places + 1)]
        for upload in taken[:places]:
            while not upload.status.done:
                await upload.changed.wait()
        words: list[str] = [upload.status.state for upload in uploads.listed()]
        await uploads.close()
        return words

    # The newest is the first.
    assert asyncio.run(states()) == ["waiting", "running", "running"][: places + 1]


# --- how an evaluation ends ---

ENDING = """
import json, os, sys
given = dict(zip(sys.argv[3::2], sys.argv[4::2]))
if sys.argv[2]:
    folder = given["--output"] + "/run=" + given["--run"]
    os.mkdir(folder)
    with open(folder + "/manifest.json", "w") as out:
        out.write(sys.argv[2])
sys.exit(int(sys.argv[1]))
"""
MANIFEST = json.dumps(
    {
        "format": "ufo-run",
        "schema_version": 0,
        "ufo_version": "0.1",
        "attempt": "00000000",
        "finished_at": "2025-01-01T00:00:00+00:00",
        "fingerprint": {},
        "mode": "seq",
        "tie": "not_factual",
        "judge": "offline",
        "sources": ["reference"],
        "tables": {},
        "counters": {},
        "counts": {"responses": 7},
    }
)


@pytest.mark.parametrize(
    ("code", "manifest", "state"),
    [
        pytest.param(0, MANIFEST, "finished", id="done"),
        pytest.param(1, MANIFEST, "finished", id="done without a usable judgement"),
        pytest.param(0, "", "failed", id="done without a run"),
        pytest.param(1, "", "failed", id="an error"),
        pytest.param(2, MANIFEST, "failed", id="wrong flags"),
        pytest.param(3, MANIFEST, "failed", id="another code"),
        pytest.param(0, "no JSON", "failed", id="a manifest that cannot be read"),
        pytest.param(0, "{}", "failed", id="a manifest without counts"),
    ],
)
def test_an_evaluation_is_finished_if_its_command_says_so_and_has_a_run(
    tmp_path: Path, code: int, manifest: str, state: str
) -> None:
    command = (sys.executable, "-S", "-c", ENDING, str(code), manifest)
    last = evaluated(tmp_path, *command)
    assert last.state == state
    assert last.exit_code == code
    finished = state == "finished"
    assert last.done == (7 if finished else 0)
    assert last.total == (7 if finished else 0)
    assert last.run == (f"upload-{last.id}" if finished else None)
    # What did not finish can be evaluated again.
    assert (tmp_path / ".uploads" / last.id / "input").exists() is not finished


def test_a_command_that_cannot_be_started_is_an_upload_that_failed(tmp_path: Path) -> None:
    last = evaluated(tmp_path, "/nothing")
    assert last.state == "failed"
    assert "the evaluation could not be done" in last.log[-1]


SAYING = """
import json, os, sys
seen = {"words": sys.argv[1:], "owner": os.environ["UFO_OWNER"]}
seen["leads"] = os.getsid(0) == os.getpid()
with open("seen.json", "w") as out:
    json.dump(seen, out)
sys.stderr.buffer.write(b"one\\rtwo\\r\\n\\nthree\\xff\\n" + b"x" * 70_000 + b"\\nlast")
"""


def test_a_command_gets_its_file_its_run_and_its_flags_and_belongs_to_the_service(
    tmp_path: Path,
) -> None:
    last = evaluated(tmp_path, sys.executable, "-S", "-c", SAYING)
    folder = tmp_path / ".uploads" / last.id
    seen = json.loads((folder / "seen.json").read_text())
    assert seen["words"] == [
        "--input",
        str(folder / "input" / "mine"),
        "--output",
        str(tmp_path),
        "--run",
        f"upload-{last.id}",
        "--title=mine",
        "--log_format=json",
    ]
    assert seen["owner"] == str(os.getpid())
    assert seen["leads"] is True  # a session of its own, which is ended whole


def test_lines_of_a_command_have_any_ends_length_and_bytes(tmp_path: Path) -> None:
    log = evaluated(tmp_path, sys.executable, "-S", "-c", SAYING).log
    assert log == ["one", "two", "three\ufffd", "x" * 1_000, "last"]


# The state that a service left, and what becomes of it in the next.
LEFT = {
    "waiting": "stopped",
    "running": "stopped",
    "stopped": "stopped",
    "failed": "failed",
    "finished": "finished",
}
KEPT = ("waiting", "running", "stopped", "failed")


def left(results: Path, state: str) -> Uploads:
    """The uploads of a service that finds one that another left in a state."""
    path = results / ".uploads" / leave_upload(results, LINES) / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"state": state}))
    return Uploads(results, ["true"], 1)


@pytest.mark.parametrize("state", LEFT)
def test_what_an_earlier_service_left_is_stopped_if_it_was_under_way(
    tmp_path: Path, state: str
) -> None:
    (upload,) = left(tmp_path, state).listed()
    assert upload.status.state == LEFT[state]
    assert (len(upload.status.log) == 1) is (state in ("waiting", "running"))


def test_what_was_left_is_in_the_order_of_its_last_change(tmp_path: Path) -> None:
    for name, age in (("b", 3), ("a", 2), ("c", 1)):
        path = tmp_path / ".uploads" / leave_upload(tmp_path, LINES) / "status.json"
        path.parent.rename(path.parent.with_name(name))
        path = path.parents[1] / name / "status.json"
        path.write_text(path.read_text().replace('"0123456789abcdef"', f'"{name}"'))
        os.utime(path, (1_000 - age, 1_000 - age))
    assert [one.status.id for one in Uploads(tmp_path, ["true"], 1).listed()] == ["c", "a", "b"]


@pytest.mark.parametrize("state", LEFT)
def test_what_stopped_or_failed_can_be_resumed(tmp_path: Path, state: str) -> None:
    uploads = left(tmp_path, state)

    async def resumed() -> str:
        (upload,) = uploads.listed()
        await uploads.resume(upload.status.id)
        begun: str = upload.status.state
        if upload.work is not None:
            await upload.work
        return begun

    if state in KEPT:
        assert asyncio.run(resumed()) == "waiting"
        return
    with pytest.raises(Conflict, match=f"the upload is {state}, and did not stop or fail"):
        asyncio.run(resumed())


@pytest.mark.parametrize("state", LEFT)
def test_what_is_over_can_be_deleted_and_brought_back(tmp_path: Path, state: str) -> None:
    uploads = left(tmp_path, state)
    (upload,) = uploads.listed()
    upload.run.mkdir()
    assert asyncio.run(uploads.cancel(upload.status.id)).status.state == "deleted"
    assert uploads.listed() == []
    assert upload.run.exists() is (state == "finished")  # a finished run is none of the upload's
    assert not upload.folder.exists()
    with pytest.raises(NotFound):
        uploads.by_id(upload.status.id)
    # Another service over the same folder may bring it back.
    for service in (uploads, Uploads(tmp_path, ["true"], 1)):
        if service is not uploads:
            asyncio.run(uploads.cancel(upload.status.id))
        assert service.restore(upload.status.id).status.state == LEFT[state]
        assert upload.run.exists()
        assert upload.file.exists()
    with pytest.raises(NotFound):
        uploads.restore(upload.status.id)


def test_an_upload_that_comes_back_has_its_place(tmp_path: Path) -> None:
    async def names() -> list[str]:
        uploads = Uploads(tmp_path, ["true"], 1)
        for name in "abc":
            upload = await uploads.take(name, _chunks(b"x"), {}, 1)
            assert upload.work is not None
            await upload.work
        middle = uploads.listed()[1].status.id
        await uploads.cancel(middle)
        uploads.restore(middle)
        return [one.status.name for one in uploads.listed()]

    assert asyncio.run(names()) == ["c", "b", "a"]


FAILING = """
import json, sys
print(json.dumps({"message": "m", "kind": sys.argv[2]}), file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("code", "kind", "resumable"),
    [
        (1, "RunError", True),
        (1, "NothingUsable", False),
        (1, "NothingToEvaluate", False),
        (2, "UsageError", False),
        (4, "CostCapped", True),
    ],
)
def test_what_would_fail_again_is_not_resumed(
    tmp_path: Path, code: int, kind: str, resumable: bool
) -> None:
    last = evaluated(tmp_path, sys.executable, "-S", "-c", FAILING, str(code), kind)
    assert last.state == "failed"
    assert last.resumable is resumable
    uploads = Uploads(tmp_path, ["true"], 1)
    if not resumable:
        with pytest.raises(Conflict, match="change the file or its columns"):
            asyncio.run(uploads.resume(last.id))


def test_the_state_of_an_upload_comes_all_the_time(waiting: Setup) -> None:
    limits = replace(waiting.limits, pulse_seconds=0.05)
    with opened(replace(waiting, limits=limits)) as client:
        upload = sent(client)
        with client.stream("GET", f"{upload}/events") as response:
            statuses = []
            for event in read_events(response.iter_lines()):
                statuses.append(event.data)
                if len([one for one in statuses if one["phase"] == "evaluating"]) == 3:
                    break
    running = [one for one in statuses if one["state"] == "running"]
    assert running[0]["phase"] == "starting"
    seconds = [one["seconds"] for one in running]
    assert seconds == sorted(seconds)
    assert seconds[-1] > 0


@pytest.mark.parametrize(
    "damage",
    ["{", "[]", "{}", '{"flags": []}', '{"flags": [], "other": 1}'],
    ids=["cut off", "a list", "without fields", "flags alone", "an unknown field"],
)
def test_a_state_that_cannot_be_read_is_no_upload(tmp_path: Path, damage: str) -> None:
    path = tmp_path / ".uploads" / leave_upload(tmp_path, LINES) / "status.json"
    path.write_text(damage)
    assert Uploads(tmp_path, ["true"], 1).listed() == []


def test_there_is_nothing_to_download_of_what_is_not_finished(empty: Setup, stopped: str) -> None:
    with opened(empty) as client:
        answer = client.get(f"{stopped}/parquet")
    assert answer.status_code == 409
    assert "the upload is stopped" in answer.json()["detail"]


# --- what the command says ---


@pytest.fixture
def upload(tmp_path: Path) -> Upload:
    """An upload of `a file.csv`."""
    folder = tmp_path / "results" / ".uploads" / "0123456789abcdef"
    return Upload(UploadStatus(folder.name, "a file.csv"), folder, [])


def test_progress_is_counted_and_not_said(upload: Upload) -> None:
    upload.read_log_line('{"message": "progress", "responses": 2, "of": 5}')
    assert upload.status.done == 2
    assert upload.status.total == 5
    assert upload.status.log == []


def test_the_phase_of_a_command_is_told_and_not_said(upload: Upload) -> None:
    phases: list[str] = [upload.status.phase]
    for line in ('{"message": "reading"}', '{"message": "progress", "responses": 0, "of": 5}'):
        upload.read_log_line(line)
        phases.append(upload.status.phase)
    assert phases == ["starting", "reading", "evaluating"]
    assert upload.status.log == []


@pytest.mark.parametrize(
    ("line", "log"),
    [
        pytest.param('{"message": "it rains"}', ["it rains"], id="a message"),
        pytest.param("no JSON", ["no JSON"], id="a line before logging starts"),
        pytest.param('"a text"', ['"a text"'], id="JSON that is no object"),
        pytest.param('{"message": "done", "chunk": 3}', [], id="the end of a chunk"),
        pytest.param('{"message": 7}', ["7"], id="a message that is a number"),
    ],
)
def test_what_else_the_command_says_is_kept(upload: Upload, line: str, log: list[str]) -> None:
    upload.read_log_line(line)
    assert upload.status.log == log


def test_the_folders_of_the_service_are_not_shown(upload: Upload) -> None:
    upload.read_log_line(
        json.dumps({"message": f"--input '{upload.file}' in {upload.run}/x; {upload.run.parent}"})
    )
    assert upload.status.log == ["'a file.csv' in its run; its run"]


def test_the_last_twenty_lines_are_kept(upload: Upload) -> None:
    for n in range(21):
        upload.add_to_log(f"line {n}")
    assert upload.status.log == [f"line {n}" for n in range(1, 21)]


@pytest.mark.parametrize(("length", "kept"), [(999, 999), (1_000, 1_000), (1_001, 1_000)])
def test_a_line_is_kept_up_to_a_thousand_characters(upload: Upload, length: int, kept: int) -> None:
    upload.add_to_log("x" * length)
    assert upload.status.log == ["x" * kept]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("my file (1).csv", "my file (1).csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\texts\\mine.csv", "mine.csv"),
        ("a[1]*?.csv", "a_1___.csv"),
        ("🛸-ü.csv", "_-ü.csv"),
        (" .hidden. ", "hidden"),
        ("..", "responses"),
        pytest.param("", "responses", id="no name"),
        pytest.param("x" * 101, "x" * 100, id="a long name"),
    ],
)
def test_a_file_is_kept_under_the_last_part_of_its_name(
    tmp_path: Path, name: str, kept: str
) -> None:
    upload = Upload(UploadStatus("0123456789abcdef", name), tmp_path, [])
    assert upload.file == tmp_path / "input" / kept
