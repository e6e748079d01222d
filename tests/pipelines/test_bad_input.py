"""What a user gets wrong: a failure row or an exit code with a message, and nothing disturbed."""

import gzip
import io
import json
import shlex
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from tests.conftest import rows_of, write_run
from tests.pipelines import other_judges
from tests.pipelines.conftest import ends, evaluation, ok, tables, ufo
from tests.pipelines.llm_runs import EXAMPLE
from tests.transforms.judges.stated import STATED

GOOD = {"id": "good", "response": "Etna is in Sicily.", "reference_answers": "Etna is in Sicily."}

# Each that a line can be is in tests/transforms/unusable_lines.txt.
BAD: list[tuple[bytes, str]] = [
    (b"{nope", "not JSON"),
    (b'{"respnse": "x"}', "`response` is missing"),
    (b'{"response": "' + b"x" * 5_000_000 + b'"}', "--max_line_bytes, which is 4,194,304"),
    (b'{"response": "\xff\xfe"}', "not UTF-8"),
    (json.dumps(GOOD | {"model": "m"}).encode(), "the id 'good' was used"),
]


def test_each_bad_line_is_a_failure_and_the_good_ones_around_them_are_evaluated(
    tmp_path: Path,
) -> None:
    lines = [json.dumps(GOOD).encode(), b"", *(line for line, _ in BAD)]
    lines.append(json.dumps(GOOD | {"id": "last"}).encode())
    (tmp_path / "in.jsonl").write_bytes(b"\r\n".join(lines))
    words = ("--input", tmp_path / "in.jsonl", "--output", tmp_path / "out", "--json")
    done = ok("evaluate", *words)
    assert done.json["responses"] == 2
    assert done.json["failures"] == len(BAD)
    assert f"{len(BAD)} failures" in done.err
    rows_by_table = tables(tmp_path / "out")
    failures = {key: (step, *told) for step, key, *told in rows_by_table["failures"]}
    assert len(failures) == len(BAD)
    for number, (_, expected) in enumerate(BAD, 3):
        step, kind, message, line = failures[f"in.jsonl:{number}"]
        assert expected in message
        assert step == "read"
        assert len(line) <= 4096
        assert kind == ("repeated_id" if "was used" in expected else "unusable_record")
    assert sorted(row[0] for row in rows_by_table["responses"]) == ["good", "last"]
    assert len(rows_by_table["verdicts"]) == 2


def test_a_mapped_column_that_no_record_has_is_refused(tmp_path: Path) -> None:
    records = [{"response": "Oslo is big."}, "broken", {"response": "Rome is old.", "gold": None}]
    command = evaluation(tmp_path, records)
    for flags in (("--map", "response=nope"), ("--map", "label=goldd", "--dry_run")):
        done = ends(2, *command, *flags)
        assert f"unknown column of --map {flags[1].split('=')[0]}=COLUMN: " in done.err
        assert "allowed: response, gold." in done.err
    assert "Did you mean 'gold'?" in done.err
    assert not list(tmp_path.rglob("*.parquet"))
    ok(*command, "--map", "label=gold")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b'{"response": "x"}' * 99, mtime=0)[:-9], "cannot be read"),
        (b"PAR1 and no more", "cannot be read"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "compressed twice"),
    ],
    ids=["gzip that is cut off", "Parquet that is cut off", "gzip twice"],
)
def test_an_input_that_is_none(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "in").write_bytes(content)
    done = ufo("evaluate", "--input", tmp_path / "in", "--output", tmp_path / "out")
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert str(tmp_path / "in") in done.err
    assert len(done.err.splitlines()) < 5
    # Nothing is left that a later run, with the input put right, would be held against.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["in"]


def test_a_claim_and_a_label_that_cannot_be_used_are_failures_beside_their_response(
    tmp_path: Path,
) -> None:
    claims = '["", "\\ud83d", {"claim": "Etna is in Sicily.", "label": Infinity}]'
    line = json.dumps(GOOD)[:-1] + f', "claims": {claims}}}'
    command = evaluation(tmp_path, [line], "--json")
    for flags in (("--run", "a"), ("--run", "b", "--since", "a")):
        done = ok(*command, *flags)
        assert done.json["responses"] == 1
        assert done.json["units"] == 1
        assert done.json["failures"] == 3
        rows_by_table = tables(tmp_path / "out", flags[1])
        assert [row[3] for row in rows_by_table["fact_units"]] == ["Etna is in Sicily."]
        assert [row[4] for row in rows_by_table["verdicts"]] == [1]
        messages = " ".join(row[3] for row in rows_by_table["failures"])
        for why in (
            "claims[0].claim` is missing or empty",
            "claims[1].claim` has half of",
            "claims[2].label`: inf",
        ):
            assert why in messages


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


EMPTY = "in: empty; there is nothing to evaluate"


@pytest.mark.parametrize("flags", [(), ("--dry_run",)], ids=["a run", "an estimate"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", EMPTY),
        (gzip.compress(b"", mtime=0), EMPTY),
        (parquet(pa.table({"response": pa.array([], pa.string())})), EMPTY),
        (b"question,response\n", EMPTY),
        (b"{", "in: no record of the input can be used, of 1. in:1: not JSON"),
        (b"{\n}", "in: no record of the input can be used, of 1. in:1: `response` is missing"),
        (b'{"output": "Oslo."}\nno',
         "`response` is missing; there are: output; did you mean --map response=output?"),
        (parquet(pa.table({"id": ["a"], "output": [{"text": "Oslo."}]})),
         "are left out, unless --map names them: output."),
    ],
    ids=["nothing", "nothing compressed", "a table without rows", "a header alone", "no JSON",
         "an object without a response", "a response under another name", "a nested response"],
)  # fmt: skip
def test_an_input_without_a_usable_record_is_exit_1(
    tmp_path: Path, content: bytes, message: str, flags: tuple[str, ...]
) -> None:
    (tmp_path / "in").write_bytes(content)
    words = ("--input", tmp_path / "in", "--output", tmp_path / "out")
    done = ufo("evaluate", *words, *flags)
    assert done.code == 1, done.err
    assert done.out == "", done.err
    assert message in done.err, done.err
    # Nothing is left that a later run, with the input put right, would be held against.
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["in"]


# --- Wrong usage is exit code 2 with a message, and nothing is written: wrong_usage.yaml.


CASES = yaml.safe_load(Path(__file__).with_name("wrong_usage.yaml").read_text(encoding="utf-8"))
PLACES = "--input gs://b/in.jsonl --output gs://b/out/"
JOB = "--project=p --region=r --temp_location=gs://b/t --sdk_container_image=registry/ufo:1"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("eve", "day"):
        rows = rows_of({"a": {"u": {"ref": "s", "wiki": "r"}}}, mode="all")
        write_run(folder, rows, name, mode="all")
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("run") or case["config"])
def test_what_is_wrong_is_said_and_nothing_is_written(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch, case: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UFO_CACHE")
    record = '{"response": "Etna is in Sicily.", "reference_answers": "Etna is in Sicily."}\n'
    (tmp_path / "good.jsonl").write_text(record)
    (tmp_path / "ufo.yaml").write_text(case.get("config", ""))
    names = {"RUNS": runs, "JUDGES": other_judges.__file__, "DEAD": "http://127.0.0.1:9/v1"}
    names |= {"STATED": STATED.partition(":")[0], "PLACES": PLACES}
    names |= {"DATAFLOW": f"{PLACES} --runner=DataflowRunner {JOB}"}
    line = Template(case.get("run", "evaluate --config ufo.yaml")).substitute(names)
    command, *words = shlex.split(line)
    if command in ("evaluate", "recall"):
        input_path = EXAMPLE if command == "recall" else "good.jsonl"
        ours = {"--input": input_path, "--output": "out"}
        missing = [] if len(words) == 2 and words[0] in ours else ours.keys() - set(words)
        words = [*(word for name in sorted(missing) for word in (name, str(ours[name]))), *words]
    done = ufo(command, *words)
    assert done.code == 2, done
    assert done.out == "", done
    assert [said for said in case["says"] if said not in done.err] == [], done.err
    assert "ufo: " in done.err
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) <= 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.jsonl", "ufo.yaml"]
