"""Files that are uploaded and evaluated: followed, stopped, resumed, deleted, by one service."""

import csv
import gzip
import io
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from tests.webapp.conftest import leave_upload, opened, read_events
from ufo.pipelines.runs.inputs import columns_of
from ufo.webapp.desk import Setup
from ufo.webapp.limits import ServiceLimits

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
        assert (last["state"], last["done"], last["exit_code"]) == ("finished", 5, 0), last
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
        assert client.delete(upload).status_code == 409
        assert client.post(f"{upload}/resume").status_code == 409
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
        assert (last["state"], last["exit_code"], last["run"]) == ("failed", 1, None)
        assert "nothing to evaluate" in "".join(last["log"])
        assert client.get(f"{upload}/parquet").status_code == 409
        assert client.get("/runs").json() == []
        assert client.post(f"{upload}/resume").status_code == 202
        assert follow(client, upload)["state"] == "failed"
        assert client.delete(upload).json()["state"] == "deleted"
        assert client.get("/upload").json() == []
        # Parquet by its first bytes, and no Parquet: the file is named as it was sent.
        said = " ".join(follow(client, sent(client, b"PAR1", name="../a [1]*.parquet"))["log"])
    assert "--input '../a [1]*.parquet' cannot be read" in said
    assert str(empty.results) not in said


@pytest.mark.slow
def test_an_upload_is_stopped_and_another_service_goes_on_with_it(
    empty: Setup, waiting: Setup
) -> None:
    with opened(waiting) as client:
        upload = sent(client)
        with client.stream("GET", f"{upload}/events") as response:
            for event in read_events(response.iter_lines()):
                if event.data["state"] == "running" and event.data["done"] == 2:
                    with opened(empty) as other:  # it is left to its service
                        assert other.get("/upload").json() == []
                    ended = httpx.delete(client.base_url.join(upload), trust_env=False, timeout=60)
        assert ended.json()["state"] == event.data["state"] == "stopped"
        assert list(empty.results.glob("**/input/*"))
    with opened(empty) as other:
        assert other.post(f"{upload}/resume").status_code == 202
        last = follow(other, upload)
        assert (last["state"], last["done"]) == ("finished", 5)


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
    assert not list(empty.results.glob("run=*"))
    assert not list(empty.results.glob(".uploads/*"))


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
        found = {f"/upload/{path.parent.name}" for path in uploads.glob(f"*/{sign}")}
        assert found == {first, second}


@pytest.mark.parametrize(
    ("head", "columns", "fields"),
    [
        (
            b'"completion";"the prompt";reference answers\n"a; b";c;d\n',
            ["completion", "the prompt", "reference answers"],
            {"response": "completion", "reference_answers": "reference answers"},
        ),
        (
            b'{"prompt": "p", "response": "r"}\n{"x',
            ["prompt", "response"],
            {"question": "prompt", "response": "response"},
        ),
        (
            b'[{"output": "Oslo is {big}.", "prompt": "p"}, {"output',
            ["output", "prompt"],
            {"question": "prompt", "response": "output"},
        ),
        (
            b"\nOutput,prompt,text\n",
            ["Output", "prompt", "text"],
            {"response": "Output", "question": "prompt"},
        ),
        (gzip.compress(b"text\n1\n" * 50_000, mtime=0)[:100], ["text"], {"response": "text"}),
        *((damaged, [], {}) for damaged in (b"\x1f\x8b damaged", b"PAR1...", b"")),
    ],
)
def test_columns_are_those_that_the_readers_find(
    empty: Setup, head: bytes, columns: list[str], fields: Any
) -> None:
    with opened(replace(empty, columns_of=columns_of)) as client:
        found = client.post("/upload/columns", content=head).json()
    assert found == {"columns": columns, "fields": fields}


def test_wrong_options_are_reported_before_anything_is_kept(empty: Setup) -> None:
    wrong: list[dict[str, str]] = [
        *({"sources": name} for name in ("examples/own_source.py:Glossary", "nobody")),
        *({"mode": "--input=/etc/passwd"}, {"output": "/tmp"}, {"name": ""}),
        {"judge": "offline", "model": "m", "sources": "reference"},
    ]
    with opened(empty) as client:
        for params in wrong:
            response = client.post("/upload", params=params, content=LINES)
            assert response.status_code == 422, params
            assert response.headers["content-type"] == "application/problem+json"
    assert not list(empty.results.glob(".uploads/*"))
