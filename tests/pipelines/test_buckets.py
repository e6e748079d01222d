"""Runs in buckets: on emulators of S3, Azure and Google Cloud Storage, equal to those here."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.buckets import SCHEMES, Bucket, connection_string, emulated, forget_clients, visible
from tests.docs.blocks import Block, blocks, run
from tests.llm_server import LlmServer
from tests.pipelines.conftest import Tables, command, ends, ok, tables, ufo
from tests.pipelines.killed import FILE, started
from tests.pipelines.llm_runs import at, results
from ufo.schemas import storage

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/running.md").read_text(encoding="utf-8")
DEFAULT_PLACES = {
    "s3": "http://127.0.0.1:5000",
    "abfs": "UseDevelopmentStorage=true",
    "gs": "http://127.0.0.1:9023",
}
"""How the page names the place of each emulator."""


@pytest.fixture(scope="module", params=SCHEMES)
def emulator(request: pytest.FixtureRequest) -> Iterator[Bucket]:
    with emulated(request.param) as bucket:
        yield bucket


@pytest.fixture
def bucket(emulator: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """The bucket, and an empty folder for what is downloaded."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    visible(emulator, monkeypatch)
    return emulator


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The tables of a run of the examples on this machine."""
    folder, input_ = tmp_path_factory.mktemp("here"), ROOT / "examples/responses.jsonl"
    ok("evaluate", "--input", input_, "--output", folder, "--sources", "reference")
    return tables(folder)


def test_the_block_of_the_page_writes_the_run_of_this_machine(
    bucket: Bucket, examples: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = next(block.text for block in blocks(PAGE) if f"{bucket.scheme}://box" in block.text)
    default = DEFAULT_PLACES[bucket.scheme]
    assert default in text
    place = bucket.environment.get("AZURE_STORAGE_CONNECTION_STRING", f"http://{bucket.address}")
    monkeypatch.chdir(ROOT)
    printed = run(Block("sh", text.replace(default, f"'{place}'").replace("box", "page"), None), {})
    assert "162 of 228 claims" not in printed  # which takes more sources
    assert "responses have a score" in printed
    assert tables(f"{bucket.scheme}://page/out") == examples


def of_models(few: object, output: object, name: str, server: LlmServer, cache: object) -> None:
    words = ("--sources", "reference", "--run", name, *at(server, "--cache", cache))
    ok("evaluate", "--input", few, "--output", output, *words)


def in_chunks(few: Path, output: object) -> tuple[object, ...]:
    places = ("evaluate", "--input", few, "--output", output, "--run", "r")
    return (*places, "--sources", "reference", "--chunk_size", 2, "--workers", 1)


def by_index(few: Path, output: object, index: object) -> None:
    words = ("--sources", "wikipedia", "--index", index, "--workers", 1)
    ok("evaluate", "--input", few, "--output", output, *words)


@pytest.fixture(scope="module")
def here(
    tmp_path_factory: pytest.TempPathFactory, few: Path, index: Path, server: LlmServer
) -> Path:
    """The same runs on this machine, in three folders."""
    folder = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        for name in ("one", "two"):
            of_models(few, folder / "models", name, server, folder / "cache.sqlite")
    ok(*in_chunks(few, folder / "chunks"))
    by_index(few, folder / "index", index)
    return folder


def test_a_run_with_a_cache_and_its_reports_are_those_of_this_machine(
    bucket: Bucket, few: Path, here: Path, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    there, cache = f"{bucket.uri}/runs/a b [é]%", f"{bucket.uri}/cache/"
    storage.write(f"{there}/{few.name}", few.read_bytes())
    for name in ("one", "two"):
        asked = len(server.chats)
        of_models(f"{bucket.uri}/runs/a b*/*.jsonl", there, name, server, cache)
    assert len(server.chats) == asked  # by the second run: the cache has all answers
    assert results(tables(there, "one")) == results(tables(here / "models", "one"))
    for words in (
        ("report", "scores_by_model", "--run", "one"),
        ("sql", "SELECT claim, label FROM fact_units JOIN verdicts USING (unit_id) ORDER BY ALL"),
        ("compare", "one", "two"),
        ("benchmark", "--order", "reference"),
    ):
        printed = [ok(words[0], output, *words[1:]).out for output in (there, here / "models")]
        assert printed[0].replace(there, "") == printed[1].replace(str(here / "models"), "")
    assert {status["state"] for status in ok("status", there, "--json").json} == {"finished"}
    assert ok("cache", "stats", "--cache", cache, "--json").json["judgements"] > 0
    ok("cache", "prune", "--cache", cache, "--older_than", "0")
    assert storage.files_below(cache) == []


def test_a_killed_run_goes_on(bucket: Bucket, few: Path, here: Path) -> None:
    there = f"{bucket.uri}/killed"
    stopped = started(in_chunks(few, there), FILE, 12)
    stopped.join()
    assert stopped.exitcode < 0
    (status,) = ok("status", there, "--json").json
    assert 0 < status["chunks"] < status["of_chunks"] == 3
    ok(*in_chunks(few, there))
    assert tables(there) == tables(here / "chunks")
    assert not [path for path in storage.files_below(there) if ".attempt-" in path]


def test_an_index_is_read_there(bucket: Bucket, few: Path, index: Path, here: Path) -> None:
    there = f"{bucket.uri}/index"
    for path in index.rglob("*"):
        if path.is_file():
            storage.send(str(path), storage.join(there, path.relative_to(index).as_posix()))
    by_index(few, f"{bucket.uri}/indexed", there)
    rows_by_table, expected = tables(f"{bucket.uri}/indexed"), tables(here / "index")
    assert there in str(rows_by_table["sources"])  # which says where the index is
    assert str(rows_by_table).replace(there, str(index)) == str(expected)
    for words in (("info",), ("search", "bridges of Oslo")):
        printed = [ok("index", words[0], place, *words[1:]).out for place in (there, index)]
        assert printed[0].replace(there, "") == printed[1].replace(str(index), "")


COMMANDS = [
    ("evaluate", "--input", "URI/in.jsonl", "--output", "HERE", "--sources", "reference"),
    ("evaluate", "--input", "URI/*.jsonl", "--output", "HERE", "--sources", "reference"),
    ("evaluate", "--input", "FEW", "--output", "URI/out", "--sources", "reference"),
    ("evaluate", "--input", "FEW", "--output", "HERE", "--sources", "wikipedia", "--index", "URI"),
    ("evaluate", "--config", "URI/ufo.yaml"),
    ("check", "Oslo is big.", "--references", "URI/about.txt"),
    ("recall", "--input", "URI/in.jsonl", "--output", "HERE", "--model", "m"),
    ("status", "URI/out"),
    ("report", "URI/out"),
    ("sql", "URI/out", "SELECT 1"),
    ("compare", "URI/out", "one", "two"),
    ("benchmark", "URI/out", "--order", "reference"),
    ("label", "sample", "URI/out", "--n", "3", "--output", "HERE"),
    ("label", "import", "URI/out", "SHEET"),
    ("import", "ufo", "URI/in.jsonl"),
    ("cache", "stats", "--cache", "URI/cache/"),
    ("index", "info", "URI/index"),
    ("index", "search", "URI/index", "Oslo"),
]


def messages_of(uri: str, few: Path, here: Path) -> list[str]:
    """What each command says of a bucket that cannot be used: in a line, with an exit code."""
    sheet = str(ROOT / "examples/labels.csv")
    places = {"URI": uri, "FEW": str(few), "HERE": str(here), "SHEET": sheet}
    messages = []
    for template in COMMANDS:
        words = [places.get(word, word.replace("URI/", f"{uri}/")) for word in template]
        done = ufo(*words)
        assert done.code in (1, 2), done
        assert done.err.count("\n") == 1, done
        messages.append(done.err)
    return messages


def test_each_command_says_that_a_bucket_is_missing(
    bucket: Bucket, few: Path, tmp_path: Path
) -> None:
    for line in messages_of(f"{bucket.scheme}://nowhere", few, tmp_path / "out"):
        assert "there is no bucket 'nowhere'" in line
        assert "check its name and the account" in line


def test_a_file_that_is_missing_is_not_called_a_missing_bucket(
    bucket: Bucket, few: Path, tmp_path: Path
) -> None:
    for name, what in (("none.jsonl", "file does not exist"), ("none*", "matches no file")):
        done = ends(2, "evaluate", "--input", f"{bucket.uri}/{name}", "--output", tmp_path / "o")
        assert what in done.err
    done = ends(2, "report", f"{bucket.uri}/none")
    assert "no finished run in" in done.err
    assert "no run in" in ok("status", f"{bucket.uri}/none").out


class Refuses(BaseHTTPRequestHandler):
    """Answers as S3 and Google do where an account may not read a bucket."""

    def refuse(self) -> None:
        of_google = self.path.startswith(("/storage", "/download", "/upload"))
        reason = b'{"error": {"code": 403, "message": "you may not list objects"}}'
        if not of_google:
            reason = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(reason)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reason)

    do_GET = do_HEAD = do_POST = do_PUT = refuse

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def refusing() -> Iterator[str]:
    """The address of a server that refuses all."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


CAUSES = {
    "s3": "Forbidden|Access Denied",
    "abfs": "Server failed",
    "gs": "you may not list objects",
}


def test_each_command_says_that_a_key_is_wrong(
    bucket: Bucket, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusing: str
) -> None:
    if bucket.scheme == "abfs":
        wrong = connection_string(bucket.address, key="d3Jvbmc=")
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", wrong)
    else:  # these emulators ask for no key
        name = {"s3": "AWS_ENDPOINT_URL", "gs": "STORAGE_EMULATOR_HOST"}[bucket.scheme]
        monkeypatch.setenv(name, refusing)
    forget_clients()
    for line in messages_of(bucket.uri, few, tmp_path / "out"):
        assert "access is refused: " in line
        assert re.search(f"{CAUSES[bucket.scheme]}.*; .*credentials come from", line)
        assert "d3Jvbmc=" not in line


def test_silence_is_said_within_half_a_minute(tmp_path: Path) -> None:
    # A server that takes connections and never answers, as behind a wrong endpoint.
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        address = "{}:{}".format(*silent.getsockname())
        variables = {
            "AWS_ENDPOINT_URL": f"http://{address}",
            "AWS_ACCESS_KEY_ID": "me",
            "AWS_SECRET_ACCESS_KEY": "me",
            "AZURE_STORAGE_CONNECTION_STRING": connection_string(address),
            "STORAGE_EMULATOR_HOST": f"http://{address}",
            "XDG_CACHE_HOME": str(tmp_path),
        }
        asked = [
            subprocess.Popen(
                command("status", f"{scheme}://box/out"),
                env=os.environ | variables,
                stderr=subprocess.PIPE,
                text=True,
            )
            for scheme in SCHEMES.values()
        ]
        for process in asked:
            _, line = process.communicate(timeout=120)
            assert process.returncode == 1
            assert line.count("\n") == 1
            assert "it does not answer in 20 seconds; check the network and the endpoint" in line
