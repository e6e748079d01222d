"""What a row or a file becomes as a document, and what cannot be one."""

import bz2
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.schemas.documents import (
    Document,
    document_of,
    documents_in,
    is_text_file,
    read_rows,
    text_files,
)
from ufo.schemas.row import UnusableValue

LAYOUTS = cases(Path(__file__).with_name("layouts.txt"))


def shown(document: Document) -> str:
    return " | ".join(f"{part.heading}: {' / '.join(part.lines)}" for part in document.sections)


@pytest.mark.parametrize(
    ("row", "title", "sections"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS]
)
def test_a_known_layout_is_recognised_by_its_columns(row: str, title: str, sections: str) -> None:
    document = document_of(row.encode(), {})
    assert document.title == title
    assert shown(document) == sections


def mapped(row: Mapping[str, object], **columns: str) -> Document:
    return document_of(json.dumps(row).encode(), columns)


def test_columns_and_fields_are_mapped() -> None:
    row = {"name": "Ohm", "title": "no", "doc": {"body": "Born.", "at": {"web": "https://x.org"}}}
    document = mapped(row, title="name", text="doc.body", url="doc.at.web")
    assert document.title == "Ohm"
    assert shown(document) == ": Born."
    assert document.url == "https://x.org"


@pytest.mark.parametrize(
    ("row", "page_id", "url"),
    [
        pytest.param({"id": 12}, 12, None, id="a number"),
        pytest.param({"id": "12"}, 12, None, id="digits"),
        pytest.param({"wikipedia_id": "12"}, 12, None, id="KILT's"),
        pytest.param({"id": "doc-7"}, None, "doc-7", id="a text"),
        pytest.param({"id": "doc-7", "url": "https://x.org"}, None, "https://x.org", id="both"),
        pytest.param({"history": {"url": "https://x.org"}}, None, "https://x.org", id="KILT's url"),
        pytest.param({"id": 10**30}, None, str(10**30), id="a number that is too long"),
        pytest.param({}, None, None, id="none"),
    ],
)
def test_an_id_is_a_page_s_number_or_its_address(
    row: dict[str, object], page_id: int | None, url: str | None
) -> None:
    document = mapped({"title": "A", "text": "x", **row})
    assert document.page_id == page_id
    assert document.url == url


@pytest.mark.parametrize(
    ("row", "columns", "says"),
    [
        pytest.param(
            {"name": "A", "body": "x"},
            {},
            "no title; the fields are name, body; say which has it, as in --map title=FIELD",
            id="no known column",
        ),
        pytest.param(
            {"title": "A", "body": "x"}, {}, "no text; the fields are title, body", id="no text"
        ),
        pytest.param(
            {"title": "A"}, {"title": "name"}, "no title; --map says 'name'; the", id="mapped"
        ),
        pytest.param({}, {}, "the fields are none", id="an empty row"),
        pytest.param({"contents": " \nx"}, {}, "no title: ' '", id="a blank first line"),
        pytest.param(
            {"id": 1, "contents": "x"}, {}, "no title; the fields are id, contents", id="one line"
        ),
        pytest.param({"title": True, "text": "x"}, {}, "no title: True", id="a boolean"),
    ],
)
def test_what_is_missing_names_the_fields_and_the_map(
    row: dict[str, object], columns: dict[str, str], says: str
) -> None:
    with pytest.raises(UnusableValue) as raised:
        mapped(row, **columns)
    assert says in str(raised.value)


def test_contents_of_one_line_have_the_title_that_is_mapped() -> None:
    document = mapped({"id": 1, "contents": "Born."}, title="id")
    assert document.title == "1"
    assert shown(document) == ": Born."


def test_an_empty_cell_is_missing() -> None:
    with pytest.raises(UnusableValue, match="no title; the fields are title, text"):
        document_of(b'{"title": "", "text": "x", "from cells": true}', {})


# --- files of rows --------------------------------------------------------------------------------

RECORDS = [{"title": f"T{number}", "text": f"Text {number}, é."} for number in range(3)]
JSON_LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)
TABLE = "title,text\n" + "".join(f'{row["title"]},"{row["text"]}"\n' for row in RECORDS)
FORMS: dict[str, Callable[[], bytes]] = {
    "JSON Lines": JSON_LINES.encode,
    "an array": json.dumps(RECORDS).encode,
    "CSV": TABLE.encode,
    "CSV, UTF-16": lambda: TABLE.encode("utf-16"),
    "TSV": lambda: TABLE.replace(",", "\t", 1).replace(',"', '\t"').encode(),
    "JSON Lines, bzip2": lambda: bz2.compress(JSON_LINES.encode()),
    "an array, gzip": lambda: gzip.compress(json.dumps(RECORDS, indent=1).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_any_format_are_documents(tmp_path: Path, form: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(FORMS[form]())
    documents = [document_of(item.json, {}) for item in read_rows(path, {}) if item.json]
    assert [(one.title, shown(one)) for one in documents] == [
        (row["title"], f": {row['text']}") for row in RECORDS
    ]


def test_text_that_is_no_row_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("Once upon a time.\nThe end.\n")
    [item] = read_rows(path, {})
    assert "neither a MediaWiki XML export nor rows" in item.problem
    assert "'Once upon a time." in item.problem


# --- files of text --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "is_one"),
    [
        ("a.md", "[a link](x)", True),
        ("a.TXT", "Plain.", True),
        ("a.txt", '{"title": "A"}', False),
        ("a.txt", '[{"title": "A"}]', False),
        ("a.jsonl", '{"title": "A"}', False),
        ("a.xml", "<mediawiki>", False),
    ],
)
def test_a_file_of_text_is_known_by_its_name(
    tmp_path: Path, name: str, content: str, is_one: bool
) -> None:
    (tmp_path / name).write_text(content)
    assert is_text_file(tmp_path / name) is is_one


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name in ("b.md", "sub/deep/a.html", "sub/c.txt", "data.jsonl", "x.PNG", "y.png", "README"):
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "notes/.git").mkdir()
    (tmp_path / "notes/.git/x.md").touch()
    (tmp_path / "notes/sub/.hidden.txt").touch()
    return tmp_path / "notes"


def test_the_files_of_a_folder_are_named_by_their_paths_in_it(notes: Path) -> None:
    assert [item.name for item in documents_in(notes)] == ["b.md", "sub/c.txt", "sub/deep/a.html"]


def test_other_files_of_a_folder_are_counted(notes: Path) -> None:
    _, others = text_files(notes)
    assert others == {"hidden": 2, ".png": 2, ".jsonl": 1, "without extension": 1}
