import csv
import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from ufo.pipelines.runs.inputs import columns_of
from ufo.webapp.desk import Setup
from ufo.webapp.limits import ServiceLimits
from ufo.webapp.server import served

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
def stopped(empty: Setup) -> Path:
    """The folder of an upload whose service was killed."""
    folder = empty.results / ".uploads" / "0123456789abcdef"
    folder.mkdir(parents=True)
    (folder / "input").mkdir()
    (folder / "input" / "n").write_text(LINES)
    left: dict[str, Any] = {
        "id": folder.name,
        "name": "n",
        "state": "running",
        "exit_code": None,
        "done": 2,
        "total": 5,
        "log": [],
    }
    flags = ["--sources=reference", "--judge=offline", "--workers=1"]
    (folder / "status.json").write_text(json.dumps(left | {"flags": flags}))
    return folder


def follow(client: httpx.Client, identifier: str, read_events: Callable[..., Any]) -> Any:
    """The last state that is told."""
    with client.stream("GET", f"/upload/{identifier}/events") as response:
        return list(read_events(response.iter_lines()))[-1].data


def test_an_upload_becomes_a_run(empty: Setup, read_events: Callable[..., Any]) -> None:
    with served(empty) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        params = {"name": "my file 🛸", "sources": "reference", "map": "response=output"}
        lines = LINES.replace('"response"', '"output"')
        taken = client.post("/upload", params=params, content=lines + "no json\n")
        assert taken.status_code == 202
        identifier = taken.json()["id"]
        last = follow(client, identifier, read_events)
        assert (last["state"], last["done"], last["exit_code"]) == ("finished", 5, 0), last
        assert [run["run"] for run in client.get("/runs").json()] == [last["run"]]
        assert client.get(f"/runs/{last['run']}/responses").json()["total"] == 5
        failures = client.get("/reports/failures", params={"run": last["run"]}).text
        (failure,) = csv.DictReader(io.StringIO(failures))
        assert "my file _:6" in failure["key"]
        archive = zipfile.ZipFile(io.BytesIO(client.get(f"/upload/{identifier}/parquet").content))
        (verdicts,) = [name for name in archive.namelist() if "/verdicts/" in name]
        assert pq.read_table(io.BytesIO(archive.read(verdicts)))["label"].to_pylist() == [1] * 5
        (listed,) = client.get("/upload").json()
        assert listed["name"] == "my file 🛸"
        assert client.delete(f"/upload/{identifier}").status_code == 409
    for folder in (".uploads", f"run={last['run']}"):
        assert (empty.results / folder).stat().st_mode & 0o077 == 0  # for its owner only
    # Another service over the same folder knows it too.
    with served(empty) as url:
        assert httpx.get(f"{url}/upload", trust_env=False).json() == [listed]


def test_an_upload_that_cannot_be_evaluated_says_why(
    empty: Setup, read_events: Callable[..., Any]
) -> None:
    with served(empty) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        identifier = client.post("/upload", content=b"").json()["id"]
        last = follow(client, identifier, read_events)
        assert (last["state"], last["exit_code"], last["run"]) == ("failed", 1, None)
        assert "nothing to evaluate" in "".join(last["log"])
        assert client.get(f"/upload/{identifier}/parquet").status_code == 409
        assert client.get("/runs").json() == []
        assert client.post(f"/upload/{identifier}/resume").status_code == 202
        assert follow(client, identifier, read_events)["state"] == "failed"
        assert client.delete(f"/upload/{identifier}").json()["state"] == "deleted"
        assert client.get("/upload").json() == []


def test_messages_name_the_file_that_was_sent(
    empty: Setup, read_events: Callable[..., Any]
) -> None:
    with served(empty) as url, httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        # Parquet by its first bytes, and no Parquet.
        params = {"name": "../a [1]*.parquet"}
        identifier = client.post("/upload", params=params, content=b"PAR1").json()["id"]
        said = " ".join(follow(client, identifier, read_events)["log"])
    assert "--input '../a [1]*.parquet' cannot be read" in said
    assert str(empty.results) not in said


def test_an_upload_is_stopped_resumed_and_deleted(
    empty: Setup, read_events: Callable[..., Any]
) -> None:
    waiting = replace(empty, evaluate=(sys.executable, "-c", WAITING))
    with served(waiting) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        identifier = client.post("/upload", content=LINES).json()["id"]
        with client.stream("GET", f"/upload/{identifier}/events") as response:
            for event in read_events(response.iter_lines()):
                if event.data["state"] == "running" and event.data["done"] == 2:
                    stopped = httpx.delete(
                        f"{url}/upload/{identifier}", trust_env=False, timeout=60
                    )
        assert stopped.json()["state"] == event.data["state"] == "stopped"
        assert list(empty.results.glob("**/input/*"))
        # Another service over the folder goes on with it.
        with served(empty) as other, httpx.Client(base_url=other, trust_env=False) as second:
            assert second.post(f"/upload/{identifier}/resume").status_code == 202
            last = follow(second, identifier, read_events)
            assert (last["state"], last["done"]) == ("finished", 5)


def test_a_stopped_upload_is_deleted(empty: Setup, stopped: Path) -> None:
    with served(empty) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        assert client.delete(f"/upload/{stopped.name}").json()["state"] == "deleted"
        assert client.get("/upload").json() == []
        assert not list(empty.results.glob("run=*"))
        assert not stopped.exists()


def test_an_upload_ends_with_the_service_and_can_be_resumed(empty: Setup) -> None:
    waiting = replace(empty, evaluate=(sys.executable, "-c", WAITING))
    with served(waiting) as url:
        httpx.post(f"{url}/upload", content=LINES, trust_env=False)
    (status,) = empty.results.glob(".uploads/*/status.json")
    assert json.loads(status.read_text())["state"] == "stopped"


@pytest.mark.parametrize(
    ("head", "columns", "fields"),
    [
        (
            b'"completion";"the prompt";reference answers\n"a; b";c;d\n',
            ["completion", "the prompt", "reference answers"],
            {"response": "completion", "reference_answers": "reference answers"},
        ),
        (b'{"prompt": "p", "response": "r"}\n{"x', ["prompt", "response"], "pr"),
        (b'[{"output": "Oslo is {big}.", "prompt": "p"}, {"output', ["output", "prompt"], "po"),
        (
            b"\nOutput,prompt,text\n",
            ["Output", "prompt", "text"],
            {"response": "Output", "question": "prompt"},
        ),
        (gzip.compress(b"text\n1\n" * 50_000, mtime=0)[:100], ["text"], {"response": "text"}),
        (b"\x1f\x8b damaged", [], {}),
        (b"PAR1...", [], {}),
        (b"", [], {}),
    ],
)
def test_columns_are_those_that_the_readers_find(
    empty: Setup, head: bytes, columns: list[str], fields: Any
) -> None:
    known = {"pr": {"question": "prompt", "response": "response"}}
    known["po"] = {"question": "prompt", "response": "output"}
    with served(replace(empty, columns_of=columns_of)) as url:
        found = httpx.post(f"{url}/upload/columns", content=head, trust_env=False).json()
    assert found == {"columns": columns, "fields": known.get(str(fields), fields)}


def test_an_upload_of_a_service_that_was_killed_is_resumed(
    empty: Setup, stopped: Path, read_events: Callable[..., Any]
) -> None:
    with served(empty) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        (shown,) = client.get("/upload").json()
        assert shown["state"] == "stopped"
        assert client.post(f"/upload/{stopped.name}/resume").status_code == 202
        last = follow(client, stopped.name, read_events)
        assert (last["state"], last["done"]) == ("finished", 5)
        assert client.post(f"/upload/{stopped.name}/resume").status_code == 409


def test_a_running_upload_is_left_to_its_service(
    empty: Setup, read_events: Callable[..., Any]
) -> None:
    waiting = replace(empty, evaluate=(sys.executable, "-c", WAITING))
    with served(waiting) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        identifier = client.post("/upload", content=LINES).json()["id"]
        with client.stream("GET", f"/upload/{identifier}/events") as response:
            next(event for event in read_events(response.iter_lines()) if event.data["done"])
        with served(empty) as other:
            assert httpx.get(f"{other}/upload", trust_env=False).json() == []
        assert client.get(f"/upload/{identifier}").json()["state"] == "running"
    with served(empty) as url:
        (listed,) = httpx.get(f"{url}/upload", trust_env=False).json()
        assert listed["state"] == "stopped"


def test_a_stopped_upload_is_resumed_by_one_service(
    empty: Setup, stopped: Path, read_events: Callable[..., Any]
) -> None:
    waiting = replace(empty, evaluate=(sys.executable, "-c", WAITING))
    path = f"/upload/{stopped.name}"
    with served(waiting) as first, served(waiting) as second:
        for url in (first, second):
            (shown,) = httpx.get(f"{url}/upload", trust_env=False).json()
            assert shown["state"] == "stopped"
        assert httpx.post(f"{first}{path}/resume", trust_env=False).status_code == 202
        for answer in (
            httpx.post(f"{second}{path}/resume", trust_env=False),
            httpx.delete(f"{second}{path}", trust_env=False),
        ):
            assert answer.status_code == 409
            assert "another service is evaluating the upload" in answer.text
        for _ in range(2):
            httpx.delete(f"{first}{path}", trust_env=False, timeout=60)
        answer = httpx.post(f"{second}{path}/resume", trust_env=False)
        assert "another service has finished the upload" in answer.text


def test_no_upload_that_waits_begins_when_the_service_ends(
    empty: Setup, read_events: Callable[..., Any]
) -> None:
    one = replace(empty, evaluate=(sys.executable, "-c", WAITING), limits=ServiceLimits(uploads=1))
    with served(one) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        first, *_ = [client.post("/upload", content=LINES).json()["id"] for _ in range(4)]
        with client.stream("GET", f"/upload/{first}/events") as response:
            next(event for event in read_events(response.iter_lines()) if event.data["done"])
    uploads = empty.results / ".uploads"
    states = [json.loads(path.read_text())["state"] for path in uploads.glob("*/status.json")]
    assert states == ["stopped"] * 4
    # The one that ran was asked, not killed.
    assert [path.parent.name for path in uploads.glob("*/begun")] == [first]
    assert [path.parent.name for path in uploads.glob("*/ended")] == [first]


def test_uploads_wait_for_a_place(empty: Setup, read_events: Callable[..., Any]) -> None:
    one = replace(empty, evaluate=(sys.executable, "-c", WAITING), limits=ServiceLimits(uploads=1))
    with served(one) as url, httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        first, second = (client.post("/upload", content=LINES).json()["id"] for _ in range(2))
        with client.stream("GET", f"/upload/{first}/events") as response:
            next(event for event in read_events(response.iter_lines()) if event.data["done"])
        assert client.get(f"/upload/{second}").json()["state"] == "waiting"
        client.delete(f"/upload/{first}")
        with client.stream("GET", f"/upload/{second}/events") as response:
            next(event for event in read_events(response.iter_lines()) if event.data["done"])


@pytest.mark.parametrize(
    "params",
    [
        {"sources": "examples/own_source.py:Glossary"},
        {"sources": "nobody"},
        {"mode": "--input=/etc/passwd"},
        {"output": "/tmp"},
        {"name": ""},
        {"judge": "offline", "model": "m", "sources": "reference"},
    ],
)
def test_wrong_options_are_reported_before_anything_is_kept(
    base: Setup, client: httpx.Client, params: dict[str, str]
) -> None:
    response = client.post("/upload", params=params, content=LINES)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert not list(base.results.glob(".uploads/*"))
