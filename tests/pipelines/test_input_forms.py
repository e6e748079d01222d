"""The forms that an input may have, and the chunks that it is cut into."""

import bz2
import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.conftest import named_cases, ok
from tests.pipelines.llm_runs import rows
from ufo.pipelines.runs.chunks import Chunk, SeenRecords, in_chunks
from ufo.pipelines.runs.inputs import (
    InputFile,
    PlainFile,
    display_names,
    find_inputs,
    read_inputs,
)
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure, InputRecord
from ufo.schemas.rows import format_of
from ufo.transforms.columns import NAMES
from ufo.transforms.read import parse
from ufo.transforms.splits import lines

Records = list[dict[str, Any]]

PLAIN = {"id": "a", "response": "Etna is in Sicily.", "reference_answers": ["Etna is in Sicily."]}
LATER = {"id": "b", "response": "Oslo is big."}
ODDITIES: dict[str, Records] = {
    "nothing odd": [PLAIN, LATER],
    "NUL": [PLAIN | {"response": "Etna\0 is.", "reference_answers": ["R\0"], "model": "m\0"}],
    "null": [PLAIN | {"question": None, "reference_answers": [None, "R"], "label": None}, LATER],
    "NaN": [PLAIN | {"label": float("nan")}, LATER | {"label": 0.5}],
    "an unknown key": [PLAIN | {"prompt": "Where?", "n": 3, "ok": True, "x": 0.5}, LATER],
    "nested metadata": [PLAIN | {"metadata": {"a": {"b": ["1", "é"], "c": None}, "d": 2}}, LATER],
    "emoji": [PLAIN | {"response": "Etna 🌋 is in Sicily 👩‍👩‍👧.", "question": "🤔?"}],
    "a long text": [PLAIN | {"response": "Etna is in Sicily. " * 15_800}, LATER],
    "line ends in texts": [PLAIN | {"response": 'One,\n"two";\r\nthree.\n\n{"four"}\t5.'}, LATER],
    "claims": [PLAIN | {"claims": [{"claim": "C.", "label": True}, {"claim": "D.", "query": "?"}]}],
    "numbers as text": [PLAIN | {"id": "007", "response": "42"}, LATER | {"label": 1}],
    "texts that look like JSON": [PLAIN | {"response": "[1] is {2}.", "question": "true"}],
}


def json_lines(records: Records) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def array(records: Records, indent: int | None = None) -> bytes:
    return json.dumps(records, indent=indent, ensure_ascii=False).encode()


def objects(records: Records) -> bytes:
    return "\n".join(json.dumps(one, indent=2, ensure_ascii=False) for one in records).encode()


def crlf(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")


def table(records: Records, delimiter: str = ",", end: str = "\n") -> bytes:
    def cell(value: Any) -> Any:
        structure = isinstance(value, (list, dict, bool))
        return json.dumps(value, ensure_ascii=False) if structure else value

    sink = io.StringIO()
    names = dict.fromkeys(name for record in records for name in record)
    rows = csv.DictWriter(sink, names, delimiter=delimiter, lineterminator=end, restval="")
    rows.writeheader()
    rows.writerows([{name: cell(value) for name, value in one.items()} for one in records])
    return sink.getvalue().encode()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def utf_16(data: bytes) -> bytes:
    return data.decode("utf-8").encode("utf-16")


def parquet(records: Records) -> bytes:
    sink = io.BytesIO()
    names = dict.fromkeys(name for record in records for name in record)
    whole = [{name: record.get(name) for name in names} for record in records]
    pq.write_table(pa.Table.from_pylist(whole), sink)
    return sink.getvalue()


FORMS: dict[str, Callable[[Records], bytes]] = {
    "JSON Lines, BOM, CRLF": lambda records: crlf(json_lines(records)),
    "JSON Lines, gzip": lambda records: gzip.compress(json_lines(records)),
    "JSON Lines, bzip2": lambda records: bz2.compress(json_lines(records)),
    "JSON Lines, zstd": lambda records: zstd(json_lines(records)),
    "JSON Lines, UTF-16": lambda records: utf_16(json_lines(records)),
    "array, UTF-16, gzip": lambda records: gzip.compress(utf_16(array(records))),
    "CSV, UTF-16": lambda records: utf_16(table(records)),
    "CSV, UTF-32": lambda records: table(records).decode().encode("utf-32"),
    "TSV, zstd": lambda records: zstd(table(records, "\t")),
    "Parquet, bzip2": lambda records: bz2.compress(parquet(records)),
    "array, pretty, BOM, CRLF": lambda records: crlf(array(records, 2)),
    "CSV, BOM, CRLF": lambda records: b"\xef\xbb\xbf" + table(records, end="\r\n"),
    "CSV, semicolons": lambda records: table(records, ";"),
    "TSV": lambda records: table(records, "\t"),
    "objects, pretty": objects,
    "objects, pretty, BOM, CRLF": lambda records: crlf(objects(records)),
    "Parquet": parquet,
}


def input_file(path: Path | str, folder: Path, local: bool = True) -> InputFile:
    """The file as a run reads it, with its copy in `folder`."""
    (file,) = read_inputs([str(path)], str(folder), lambda name: True, "evaluate", local)
    return file


def read(folder: Path, content: bytes) -> list[Any]:
    """The records and failures of an input, as the workers of a run read them."""
    path = folder / "in"  # whose name says nothing
    path.write_bytes(content)
    plain = input_file(path, folder).plain
    chunks: list[Chunk] = list(in_chunks([plain], 10, 1 << 22))
    records = []
    for split in (split for chunk in chunks for split in chunk.splits):
        with open(split.path, "rb") as stream:
            records += [parse(line.key, line.data) for line in lines(stream, split, 1 << 22)]
    return records


@pytest.mark.parametrize("oddity", ODDITIES)
def test_every_form_of_every_oddity_is_read_as_json_lines_are(tmp_path: Path, oddity: str) -> None:
    records = ODDITIES[oddity]
    expected = read(tmp_path, json_lines(records))
    assert [record for record in expected if not isinstance(record, InputRecord)] == []
    assert len(expected) == len(records)
    for form, written in FORMS.items():
        assert read(tmp_path, written(records)) == expected, form


@pytest.mark.parametrize(("head", "form"), named_cases(Path(__file__).with_name("beginnings.txt")))
def test_what_a_file_is_shows_in_its_beginning(head: str, form: str) -> None:
    assert format_of(head.encode(), NAMES) == form


def test_a_format_that_is_not_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(UsageError, match=r"x\.xlsx' cannot be read: it is a ZIP archive or an"):
        input_file(tmp_path / "x.xlsx", tmp_path)


GOOD = '{"response": "Oslo is \\"big\\".", "metadata": {"a": [{"b": 1}]}}'


@pytest.mark.parametrize(
    "bad",
    ['{"response": }', '{"response": "x', '{"response" "x"}', "nope"],
    ids=["without a value", "an open text", "without a colon", "a word"],
)
@pytest.mark.parametrize(
    "between", [",", ",\n", ",\n    "], ids=["one line", "a line each", "indented"]
)
def test_a_broken_item_of_an_array_costs_itself(tmp_path: Path, bad: str, between: str) -> None:
    text = "[" + between[1:] + between.join([GOOD, bad, GOOD, GOOD.replace("Oslo", "Rome")]) + "]"
    records = read(tmp_path, text.encode())
    assert [isinstance(one, InputRecord) for one in records] == [True, False, True, True]
    assert "not JSON" in records[1].message
    assert bad[:5] in records[1].input
    assert records[3].key == "in:4"


def test_items_of_an_array_that_are_no_records_and_one_that_is_cut_off(tmp_path: Path) -> None:
    parsed = read(tmp_path, b'[{"response": "x"}, 5, null, {"response": "\xff"}, {}]')
    assert [getattr(one, "message", "") for one in parsed] == [
        "",
        "a record is a JSON object, not a number",
        "a record is a JSON object, not null",
        "not UTF-8: byte 15 of the record is invalid; convert a file in another encoding, as by "
        "`iconv -f windows-1252 -t utf-8`",
        "`response` is missing",
    ]
    records = [{"id": f"{n}", "response": "Oslo is big. " * 20_000} for n in range(12)]
    broken = array(records, 1).replace(b'"5"', b'"5', 1)
    for content, bad in ((broken, 5), (array(records)[:-100], 11)):
        good = [isinstance(one, InputRecord) for one in read(tmp_path, content)]
        assert good == [n != bad for n in range(12)]


def test_columns_of_parquet_that_nobody_maps_cost_no_record(tmp_path: Path) -> None:
    columns = {
        "output": [b"Etna is in Sicily.", b"Oslo is big."],
        "note": ["one", "two"],
        "claims": [["Etna is in Sicily."], ["Oslo is big."]],
        "image": [{"bytes": b"\xff\xd8\xff", "path": "a.jpg"}] * 2,
        "raw": [b"\xff\x00", b"\xfe" * 10_000],
        "vector": [[0.5] * 3_000, [1.0]],
    }
    for name in ("a.parquet", "b.parquet"):
        table = pa.table(columns | {"id": [f"{name}{n}" for n in range(2)]})
        pq.write_table(table, tmp_path / name)
    done = ok(
        "evaluate",
        "--input",
        tmp_path / "*.parquet",
        "--output",
        tmp_path / "out",
        "--map",
        "response=output",
        "--max_line_bytes",
        10_000,
        "--workers",
        1,
        "--json",
    )
    assert done.json["responses"] == 4
    assert done.json["units"] == 4
    assert done.json["failures"] == 0
    (notice,) = (line for line in done.err.splitlines() if "left out" in line)
    assert "image, raw, vector" in notice
    assert "line" not in done.err.replace("offline", "")
    notes = rows(tmp_path / "out", "SELECT DISTINCT metadata ->> 'note' AS note FROM responses")
    assert sorted(row["note"] for row in notes) == ["one", "two"]


KINDS: dict[str, tuple[pa.DataType, bool]] = {
    "text": (pa.string(), True),
    "long text": (pa.large_string(), True),
    "numbers": (pa.float64(), True),
    "dates": (pa.timestamp("us"), True),
    "words of a dictionary": (pa.dictionary(pa.int32(), pa.string()), True),
    "bytes": (pa.binary(), False),
    "long bytes": (pa.large_binary(), False),
    "bytes of one size": (pa.binary(4), False),
    "bytes of a dictionary": (pa.dictionary(pa.int32(), pa.binary()), False),
    "lists": (pa.list_(pa.string()), False),
    "records": (pa.struct({"a": pa.string()}), False),
    "maps": (pa.map_(pa.string(), pa.string()), False),
}


@pytest.fixture(scope="module", params=[bytes, gzip.compress], ids=["plain", "compressed"])
def left_out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("kinds") / "in.parquet"
    columns = {name: pa.array([], kind) for name, (kind, _) in KINDS.items()}
    content = io.BytesIO()
    pq.write_table(pa.table({**columns, "used": pa.array([], pa.binary())}), content)
    path.write_bytes(request.param(content.getvalue()))
    (file,) = read_inputs([str(path)], str(path.parent), "used".__eq__, "evaluate")
    return list(file.plain.left_out)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_parquet_is_read(left_out: list[str], kind: str) -> None:
    assert (kind not in left_out) == KINDS[kind][1]


def test_a_column_of_bytes_that_is_mapped_is_read(left_out: list[str]) -> None:
    assert "used" not in left_out


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        pytest.param(["-"], ["stdin"], id="standard input"),
        pytest.param(["/dev/stdin"], ["stdin"], id="standard input by its path"),
        pytest.param(["/dev/fd/63", "x/a"], ["fd63", "a"], id="a pipe of the shell"),
        pytest.param(["x/a", "y/b"], ["a", "b"], id="of different names"),
        pytest.param(["x/a", "y/a"], ["x/a", "y/a"], id="two of one name"),
        pytest.param(["x\\a", "gs://y/b"], ["a", "b"], id="of Windows and a bucket"),
    ],
)
def test_files_are_called(paths: list[str], names: list[str]) -> None:
    assert display_names(paths) == names


def test_a_file_that_two_patterns_match_is_read_once(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").touch()
    paths = find_inputs([f"{tmp_path}/b.jsonl", f"{tmp_path}/*.jsonl"])
    assert [Path(path).name for path in paths] == ["b.jsonl", "a.jsonl"]


def test_standard_input_is_one_file_whatever_its_names() -> None:
    assert find_inputs(["-", "/dev/stdin", "/dev/fd/0"]) == ["-"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        pytest.param(b"{}", 1, id="a line without an end"),
        pytest.param(b"{}\n", 1, id="a line"),
        pytest.param(b"{}\n{}", 2, id="two, the last without an end"),
        pytest.param(gzip.compress(b"{}\n{}"), 2, id="two that are compressed"),
        pytest.param(b"response\na\nb\n", 2, id="rows of a table"),
        pytest.param(b'[\n{"a": 1},\n{"a": 2}\n]', 2, id="items of an array"),
    ],
)
def test_the_records_of_a_file_are_counted(tmp_path: Path, content: bytes, lines: int) -> None:
    (tmp_path / "in").write_bytes(content)
    file = input_file(tmp_path / "in", tmp_path)
    assert file.lines == lines
    assert file.size == len(content)
    assert file.sha256 == sha256(content).hexdigest()


# --- An input file's records, and the chunks that they are cut into.


RECORDS = [json.dumps({"id": f"r{n}", "response": "Text."}) for n in range(5)]
NO_ID = json.dumps({"response": "No id."})
SOME_LINES = st.lists(st.sampled_from([*RECORDS, NO_ID, "not json", "", "   "]), max_size=12)


def is_r3(record: InputRecord) -> bool:
    return record.response_id == "r3"


def plain(folder: Path, *contents: str) -> list[PlainFile]:
    files = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.jsonl"
        path.write_text(content)
        files.append(PlainFile(path.name, str(path), path.stat().st_size))
    return files


def worked(chunks: list[Chunk]) -> list[tuple[str, str]]:
    """What workers make of the chunks: each line's key and what becomes of it."""
    outcomes = []
    for split in (split for chunk in chunks for split in chunk.splits):
        with open(split.path, "rb") as stream:
            for row, line in enumerate(lines(stream, split, 1000)):
                record = parse(line.key, line.data)
                if isinstance(record, Failure):
                    outcomes.append((line.key, "failure"))
                elif row in split.repeated:
                    outcomes.append((line.key, "repeated"))
                elif row in split.skipped:
                    outcomes.append((line.key, "reused"))
                else:
                    outcomes.append((line.key, record.response_id))
    return outcomes


@given(st.lists(SOME_LINES, min_size=1, max_size=3), st.integers(1, 9), st.booleans())
def test_any_chunk_size_gives_the_same_records(
    tmp_path_factory: Any, contents: list[list[str]], size: int, carry: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    files = plain(folder, *("\n".join(rows) for rows in contents))
    more: dict[str, Any] = {"reused": is_r3} if carry else {}
    chunks = list(in_chunks(files, size, 1000, **more))
    assert worked(chunks) == worked(list(in_chunks(files, 10**6, 1000, **more)))
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert {chunk.n_lines for chunk in chunks[:-1]} <= {size}
    n_lines = sum(bool(row.strip()) for rows in contents for row in rows)
    assert sum(chunk.n_lines for chunk in chunks) == len(worked(chunks)) == n_lines


def test_which_line_is_the_one_of_its_id(tmp_path: Path) -> None:
    good, bad = (json.dumps({"id": "a", "response": text}) for text in ("Text.", ""))
    kept = json.dumps({"id": "r3", "response": "Text."})
    files = plain(tmp_path, f"{bad}\n{good}\n{good}\n{kept}\n{kept}\n", f"\n{good}")
    assert worked(list(in_chunks(files, 1, 1000, is_r3))) == [
        ("0.jsonl:1", "failure"),
        ("0.jsonl:2", "a"),
        ("0.jsonl:3", "repeated"),
        ("0.jsonl:4", "reused"),
        ("0.jsonl:5", "repeated"),
        ("1.jsonl:2", "repeated"),
    ]


@given(st.lists(st.tuples(st.binary(max_size=2), st.sampled_from([b"a", b"b"])), max_size=60))
def test_records_are_recognised_whether_sorted_or_recent(
    records: list[tuple[bytes, bytes]],
) -> None:
    seen, first = SeenRecords(recent=3), dict[bytes, bytes]()
    for key, line in records:
        known, same = seen.add(key, line)
        assert known == (key in first)
        assert same == (first.get(key) == line)
        first.setdefault(key, line)


# --- the copy of a file that workers cannot read

LINE = b'{"response": "x"}\n'


def test_a_plain_file_is_read_in_place(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(LINE)
    copies = tmp_path / "copies"
    copies.mkdir()
    file = input_file(tmp_path / "in.jsonl", copies)
    assert file.plain == PlainFile("in.jsonl", str(tmp_path / "in.jsonl"), len(LINE))
    assert not file.piped
    assert list(copies.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "local", "copied"),
    [
        pytest.param(LINE, True, True, id="lines, for workers of this machine"),
        pytest.param(LINE, False, False, id="lines, for those of an engine"),
        pytest.param(gzip.compress(LINE), False, True, id="packed"),
    ],
)
def test_a_file_from_afar_is_copied(
    tmp_path: Path, content: bytes, local: bool, copied: bool
) -> None:
    (tmp_path / "in").write_bytes(content)
    copies = tmp_path / "copies"
    copies.mkdir()
    file = input_file(f"file://{tmp_path}/in", copies, local)
    assert (file.plain.path != file.path) == copied
    assert file.plain.size == len(LINE)
    assert [path.read_bytes() for path in copies.iterdir()] == [LINE] * copied


def test_what_a_pipe_gives_is_copied(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    copies = tmp_path / "copies"
    copies.mkdir()
    writer = Thread(target=pipe.write_bytes, args=(b"response\nOslo is big.\n",))
    writer.start()
    file = input_file(pipe, copies)
    writer.join()
    assert file.piped
    assert (file.name, file.lines) == ("pipe", 1)
    (copy,) = copies.iterdir()
    assert json.loads(copy.read_text())["response"] == "Oslo is big."


def test_a_packed_file_that_is_damaged_is_told(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(LINE * 99)[:-9])
    with pytest.raises(UsageError, match=r"--input '.*in.jsonl.gz' cannot be read"):
        input_file(tmp_path / "in.jsonl.gz", tmp_path)
