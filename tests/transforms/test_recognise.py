"""Files of responses by their first and last bytes: what they are, and what to do about others."""

import gzip
import io
import json
import zipfile
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ufo.transforms.recognise import PART_BYTES, recognise

TABLE = "output;prompt\nOslo is “big”, é.;Is it?\n"
COLUMNS = ["output", "prompt"]
FIELDS = {"response": "output", "question": "prompt"}
LINE = b'{"output": "Oslo is big.", "prompt": "Is it?"}\n'


def parquet(columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def archive(*names: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as files:
        for name in names:
            files.writestr(name, name)
    return sink.getvalue()


NESTED = {
    "choices": [[{"message": {"content": "Oslo is big."}}]],
    "input": ["Is it?"],
    "label": ["true"],
}
READ: dict[str, tuple[bytes, str, list[str], dict[str, str]]] = {
    "JSON Lines": (LINE + LINE, "JSON Lines", COLUMNS, FIELDS),
    "lines, of which one is cut": (LINE + b'{"x', "JSON Lines", COLUMNS, FIELDS),
    "one object": (LINE, "a JSON object", COLUMNS, FIELDS),
    "an object over lines": (
        LINE.replace(b", ", b",\n"),
        "a JSON object",
        COLUMNS,
        FIELDS,
    ),
    "an array": (b"[" + LINE + b"," + LINE + b"]", "a JSON array", COLUMNS, FIELDS),
    "semicolons": (
        TABLE.encode(),
        "CSV, UTF-8, separated by semicolons",
        COLUMNS,
        FIELDS,
    ),
    "commas": (
        b"output,prompt\nOslo is big.,x\n",
        "CSV, UTF-8, separated by commas",
        COLUMNS,
        FIELDS,
    ),
    "spaces after commas": (
        b"output, prompt\nOslo is big., x\n",
        "CSV, UTF-8, separated by commas",
        COLUMNS,
        FIELDS,
    ),
    "tabs": (
        b"output\tprompt\nOslo is big.\tx\n",
        "CSV, UTF-8, separated by tabs",
        COLUMNS,
        FIELDS,
    ),
    "bars": (
        b"output|prompt\nOslo is big.|x\n",
        "CSV, UTF-8, separated by vertical bars",
        COLUMNS,
        FIELDS,
    ),
    "a byte order mark": (
        TABLE.encode("utf-8-sig"),
        "CSV, UTF-8 with a byte order mark, separated by semicolons",
        COLUMNS,
        FIELDS,
    ),
    "UTF-16": (
        TABLE.encode("utf-16"),
        "CSV, UTF-16, separated by semicolons",
        COLUMNS,
        FIELDS,
    ),
    "Windows-1252": (
        TABLE.encode("cp1252"),
        "CSV, Windows-1252, separated by semicolons",
        COLUMNS,
        FIELDS,
    ),
    "gzip of lines": (
        gzip.compress(LINE + LINE),
        "JSON Lines, compressed by gzip",
        COLUMNS,
        FIELDS,
    ),
    "gzip of an array": (
        gzip.compress(b"[" + LINE + b"]"),
        "a JSON array, compressed by gzip",
        COLUMNS,
        FIELDS,
    ),
    "gzip of a table": (
        gzip.compress(TABLE.encode("cp1252")),
        "CSV, Windows-1252, separated by semicolons, compressed by gzip",
        COLUMNS,
        FIELDS,
    ),
    "Parquet": (
        parquet(NESTED),
        "Parquet",
        [
            "choices",
            "input",
            "label",
            "choices[0]",
            "choices[0].message",
            "choices[0].message.content",
        ],
        {
            "response": "choices[0].message.content",
            "question": "input",
            "label": "label",
        },
    ),
    "values inside of objects and lists": (
        b'{"doc": {"question": "Q?"}, "filtered_resps": ["R."], "target": "T."}\n' * 2,
        "JSON Lines",
        ["doc", "filtered_resps", "target", "doc.question", "filtered_resps[0]"],
        {
            "response": "filtered_resps[0]",
            "question": "doc.question",
            "reference_answers": "target",
        },
    ),
}

REFUSED = {
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3", "it is a PDF; give the text of it"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0", "it is a picture; give text"),
    "Excel": (
        archive("[Content_Types].xml", "xl/workbook.xml"),
        "it is an Excel spreadsheet; save it as CSV",
    ),
    "LibreOffice": (
        archive("application/vnd.oasis.opendocument.spreadsheet"),
        "it is a spreadsheet; save it as CSV",
    ),
    "Word": (
        archive("[Content_Types].xml", "word/document.xml"),
        "it is a Word document; give the text of it",
    ),
    "a ZIP archive": (archive("a.jsonl"), "it is a ZIP archive"),
    "a PDF in gzip": (gzip.compress(b"%PDF-1.7"), "it is a PDF"),
    "gzip in gzip": (gzip.compress(gzip.compress(LINE)), "it is compressed twice"),
    "damaged gzip": (b"\x1f\x8b damaged", "damaged gzip data"),
    "gzip that is cut": (gzip.compress(LINE)[:-3], "truncated; copy or compress it again"),
    "damaged Parquet": (b"PAR1...", "it is damaged"),
    "Parquet that is cut": (parquet(NESTED)[:-9], "or a part is missing; copy or write it again"),
    "Parquet without rows": (parquet({"output": pa.array([], pa.string())}), "it has no record"),
    "Parquet without columns": (parquet({}), "it has no record"),
    "empty records": (b"{}\n{}\n", "its records are empty"),
    "records in an object": (
        b'{"data": [{"response": "Oslo is big."}, {"response": "It is old."}]}',
        "several responses in “data”; give each as an object of its own",
    ),
    "columns in an object": (b'{"response": ["a", "b"]}', "several responses in “response”"),
    "UTF-16 without a mark": (TABLE.encode("utf-16-le"), "save a text as UTF-8"),
    "nothing": (b"", "it is empty; give JSON Lines"),
    "white space": (b" \n\n\t", "it has nothing but white space; give"),
    "white space in UTF-16": (" \n".encode("utf-16"), "nothing but white space"),
    "HTML": (b"<!DOCTYPE html><p>Oslo", "it is HTML or XML; give"),
    "an empty array": (b"[]", "it has no record"),
    "an array of texts": (b'["Oslo is big."]', "a record is a JSON object, not text"),
    "lines of arrays": (b"[1]\n[2]\n", "a record is a JSON object, not a list"),
    "JSON that is cut": (b'{"response": \n', "no record of it can be used: not JSON"),
    "a header alone": (b"output,prompt\n", "it has no record"),
    "a column named twice": (
        b"output,output\na,b\n",
        "a column is named twice: output",
    ),
    "lines in Windows-1252": (
        '{"response": "é"}\n'.encode("cp1252"),
        "no record of it can be used: not UTF-8",
    ),
    "a Cyrillic table": ("output\nМосква,x\n".encode("cp1251"), "not UTF-8"),
}

TEXTS = {
    "a sentence": b"Oslo is big.",
    "sentences with commas": b"Oslo, the capital, is big.\nIt lies, as is known, in Norway.\n",
    "a letter": b"Dear Sir,\nI write to you, today\n",
    "Markdown": b"# Oslo\n\nOslo is big.\n",
    "a long first sentence": b"a b c d e f g h i j k, l\nm n, o\n",
    "a list of words": b"Ada, Bob and Carl",
}

KINDS = {
    **{name: kind[:1] for name, kind in READ.items()},
    **{
        name: REFUSED[name][:1]
        for name in ("a PDF", "Excel", "nothing", "white space", "HTML", "an array of texts")
    },
    "a text": (TEXTS["sentences with commas"],),
}
"""Files of which an evaluation says the same."""


@pytest.mark.parametrize(("content", "kind", "columns", "fields"), READ.values(), ids=READ)
def test_a_file_is_named_with_its_columns(
    content: bytes, kind: str, columns: list[str], fields: dict[str, str]
) -> None:
    recognised = recognise(content)
    n_columns = len([name for name in columns if not {*"[."} & {*name}])
    assert recognised.kind == f"{kind}, {n_columns} columns"
    assert recognised.columns == columns
    assert recognised.fields == fields
    assert recognised.refused == ""


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_evaluated_is_refused_with_what_to_do(content: bytes, message: str) -> None:
    recognised = recognise(content)
    assert message in recognised.refused
    assert "--" not in recognised.refused
    assert not recognised.is_text


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_a_text_is_for_the_field_of_the_text(content: bytes) -> None:
    recognised = recognise(content)
    assert recognised.is_text
    assert "paste it into “Text to check”" in recognised.refused


@pytest.mark.parametrize(
    ("size", "columns"),
    [
        pytest.param(99, ["a", "b"], id="a short record"),
        pytest.param(PART_BYTES, ["a", "b"], id="as long as what is read"),
        pytest.param(PART_BYTES + 1, [], id="a byte longer"),
    ],
)
def test_columns_are_looked_for_in_the_first_bytes(size: int, columns: list[str]) -> None:
    record = json.dumps({"a": "x", "b": 1}).encode()
    content = record.replace(b"x", b"x" * (size - len(record) + 1))
    recognised = recognise(content[:PART_BYTES], content[PART_BYTES:], size)
    assert recognised.columns == columns
    assert recognised.refused == ""


def test_parquet_says_its_columns_at_its_end() -> None:
    content = parquet({"output": [f"{n:0100}" for n in range(90_000)], "q": [""] * 90_000})
    assert len(content) > 2 * PART_BYTES
    recognised = recognise(content[:PART_BYTES], content[-PART_BYTES:], len(content))
    assert recognised.columns == ["output", "q"]
    assert recognised.fields == {"response": "output"}
    # A file whose columns are described at more length is read when it is evaluated.
    recognised = recognise(content[:PART_BYTES], content[-100:], len(content))
    assert (recognised.kind, recognised.columns, recognised.refused) == ("Parquet", [], "")
