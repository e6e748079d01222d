"""How many records an input file has, as progress and the size of chunks take it."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.runs.inputs import measure, spool
from schemas.errors import UsageError
from schemas.records import Failure, InputRecord
from transforms.read import parse

RECORDS = [{"question": "Q?", "answer": 'one\ntwo, "three"'}, {"question": "R?", "answer": "no"}]


def written(folder: Path, name: str) -> str:
    path = folder / name
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(RECORDS), path)
    elif name.endswith(".csv"):
        path.write_text(
            '\ufeffquestion,answer\r\nQ?,"one\ntwo, ""three"""\r\nR?,no\r\n', newline=""
        )
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines if "no_end" not in name else lines.rstrip("\n"))
    return str(path)


@pytest.mark.parametrize(
    ("name", "lines"),
    [("in.jsonl", 2), ("no_end.jsonl", 2), ("in.parquet", 2), ("in.csv", 2), ("in.jsonl.gz", 0)],
)
def test_lines_are_those_that_the_run_will_have(tmp_path: Path, name: str, lines: int) -> None:
    file = measure(written(tmp_path, name), name)
    assert (file.lines, file.counted) == (lines, lines > 0)
    if not file.plain():
        spooled = Path(spool(file, str(tmp_path))).read_text().splitlines()
        assert [json.loads(line) for line in spooled] == RECORDS


def test_a_file_that_is_not_what_its_ending_says(tmp_path: Path) -> None:
    for name, message in (("in.csv", r"line \d: unexpected end"), ("in.parquet", "cannot be read")):
        (tmp_path / name).write_text('question,answer\n"Q?,A\n')
        with pytest.raises(UsageError, match=message):
            measure(str(tmp_path / name), name)


def test_bytes_in_parquet_are_the_text_that_they_encode(tmp_path: Path) -> None:
    path = str(tmp_path / "in.parquet")
    pq.write_table(pa.table({"response": ["Zürich".encode(), b"\xff"]}), path)
    lines = Path(spool(measure(path, "in.parquet"), str(tmp_path))).read_bytes().splitlines()
    good, bad = (parse("in.parquet:1", line) for line in lines)
    assert isinstance(good, InputRecord)
    assert good.text == "Zürich"
    assert isinstance(bad, Failure)
    assert "not UTF-8" in bad.message
