"""What a Python program gives: values of other packages are read, or cost their record alone."""

import datetime
import enum
import json
import uuid
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ufo.pipelines.runs.program_input import input_path, references_of, text_or_file
from ufo.schemas.errors import UsageError
from ufo.schemas.records import Failure, InputRecord
from ufo.transforms.read import parse


class Colour(enum.Enum):
    RED = "red"


class NAType:
    """As pandas names the type of its missing value, which has no truth."""

    def __bool__(self) -> bool:
        raise TypeError


def read(record: dict[str, Any], folder: Path) -> InputRecord | Failure:
    path = input_path([record, {"response": "Later."}], "responses", str(folder))
    first, second = Path(path).read_bytes().splitlines()
    assert isinstance(parse("in:2", second), InputRecord)
    return parse("in:1", first)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(np.int64(3), 3, id="an integer of NumPy"),
        pytest.param(np.float32(0.5), 0.5, id="a float of NumPy"),
        pytest.param(np.bool_(True), True, id="a boolean of NumPy"),
        pytest.param(np.str_("x"), "x", id="a text of NumPy"),
        pytest.param(np.array(["a", "b"]), ["a", "b"], id="an array"),
        pytest.param(np.datetime64("2020-01-02"), "2020-01-02", id="a date of NumPy"),
        pytest.param(datetime.datetime(2020, 1, 2), "2020-01-02T00:00:00", id="a moment"),
        pytest.param(datetime.date(2020, 1, 2), "2020-01-02", id="a date"),
        pytest.param(Decimal("0.5"), 0.5, id="a decimal"),
        pytest.param(uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001", id="a UUID"),
        pytest.param(Path("a/b"), "a/b", id="a path"),
        pytest.param(Colour.RED, "red", id="a member of an enumeration"),
        pytest.param(("a", "b"), ["a", "b"], id="a tuple"),
        pytest.param({"b", "a"}, ["a", "b"], id="a set"),
        pytest.param(OrderedDict(a=1), {"a": 1}, id="a mapping"),
    ],
)
def test_a_value_is_read(value: Any, written: Any, tmp_path: Path) -> None:
    record = read({"response": "R.", "x": value}, tmp_path)
    assert isinstance(record, InputRecord)
    assert json.loads(record.metadata or "")["x"] == written


@pytest.mark.parametrize("value", [NAType(), float("nan"), np.float32("nan")])
def test_a_missing_value_is_none(value: Any, tmp_path: Path) -> None:
    record = read({"response": "R.", "question": value}, tmp_path)
    assert isinstance(record, InputRecord)
    assert record.question is None


def endless() -> dict[str, Any]:
    record: dict[str, Any] = {"response": "R."}
    record["x"] = record
    return record


@pytest.mark.parametrize(
    ("record", "message"),
    [
        pytest.param({"response": "R.", "x": object()}, "type object", id="an object"),
        pytest.param({"response": "R.", "x": b"bytes"}, "type bytes", id="bytes"),
        pytest.param({"response": "R.", ("a", 1): "x"}, "keys must be", id="a key"),
        pytest.param(endless(), "Circular", id="a record in itself"),
    ],
)
def test_a_value_that_is_none_of_json_costs_its_record(
    record: dict[str, Any], message: str, tmp_path: Path
) -> None:
    outcome = read(record, tmp_path)
    assert isinstance(outcome, Failure)
    assert message in outcome.message


@pytest.mark.parametrize("label", [np.float64(0.5), np.float32(0.5), np.bool_(False), np.int8(1)])
def test_a_label_of_numpy_is_read(label: Any, tmp_path: Path) -> None:
    record = read({"response": "R.", "label": label}, tmp_path)
    assert isinstance(record, InputRecord)
    assert record.human_score == float(label)


@pytest.mark.parametrize(
    ("references", "texts"),
    [
        pytest.param("R.", ["R."], id="a text"),
        pytest.param(["R.", "S."], ["R.", "S."], id="texts"),
        pytest.param(("R.",), ["R."], id="a tuple"),
        pytest.param((text for text in ["R."]), ["R."], id="texts that are made one by one"),
        pytest.param(None, [], id="nothing"),
        pytest.param(np.array("R."), ["R."], id="a scalar of NumPy"),
        pytest.param(pa.array(["R.", None]), ["R.", None], id="an array of Arrow"),
    ],
)
def test_references_are_texts(references: object, texts: object) -> None:
    assert references_of(references) == texts


@pytest.mark.parametrize(
    "references",
    [
        pytest.param({"R.": "S."}, id="a mapping"),
        pytest.param(b"R.", id="bytes"),
        pytest.param(3, id="a number"),
        pytest.param(pa.table({"text": ["R."]}), id="a table"),
    ],
)
def test_what_is_no_list_of_references_is_refused(references: object) -> None:
    with pytest.raises(UsageError, match="references is a text, a Path or a list of them, not"):
        references_of(references)


NAMES = [
    "about.txt",
    "My notes.MD",
    "a.txt.gz",
    "page.html",
    "x.pdf",
    "./a",
    "~/b",
    "/c/d",
    "E.json",
]
TEXTS = [
    "Oslo.",
    "Rome",
    "See about.txt.",
    "It is in data.json",
    "and/or",
    "The page https://example.org says that Oslo is big",
    "First.\nabout.txt",
    "km/h 5",
    "3.5",
    "a\0b",
    "word " * 2_000,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_that_looks_like_a_file_is_said(name: str) -> None:
    with pytest.raises(UsageError, match=r"looks like a file; give Path\("):
        references_of(name)
    with pytest.raises(UsageError, match=r"looks like a file; give Path\("):
        references_of(["Oslo is big.", name])


@pytest.mark.parametrize("name", [name for name in NAMES if " " not in name])
def test_a_word_to_check_that_looks_like_a_file_is_said(name: str) -> None:
    with pytest.raises(UsageError, match=r"^text: .* looks like a file; give Path\("):
        text_or_file(name)


@pytest.mark.parametrize("text", [*TEXTS, "My notes are in notes.md"], ids=ascii)
def test_what_is_no_file_is_the_text_to_check(text: str) -> None:
    assert text_or_file(text) == text


def test_the_text_to_check_may_be_a_file_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("My notes.md").write_text("Oslo is big.")
    assert text_or_file(Path("My notes.md")) == "Oslo is big."
    with pytest.raises(UsageError, match=r"'My notes\.md' is a text that looks like a file"):
        text_or_file("My notes.md")
    with pytest.raises(UsageError, match=r"text: the file 'b\.txt' cannot be read: No such file"):
        text_or_file(Path("b.txt"))
    with pytest.raises(UsageError, match=r"text: 'gs://b/a.txt' is an address; give the text"):
        text_or_file("gs://b/a.txt")


@pytest.mark.parametrize("address", ["https://example.org/a", "gs://bucket/about.txt "])
def test_a_reference_that_is_an_address_is_said(address: str) -> None:
    with pytest.raises(UsageError, match="is an address; give the text that is there"):
        references_of([address])


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_reference_that_is_no_file_is_a_text(text: str) -> None:
    assert references_of([text]) == [text]


def test_a_reference_may_be_a_file_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("about").write_text("Oslo is big.")
    assert references_of(Path("about")) == ["Oslo is big."]
    assert references_of([Path("about"), "Rome."]) == ["Oslo is big.", "Rome."]
    with pytest.raises(UsageError, match="'about' is a text that looks like a file"):
        references_of("about")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none", "references: the file 'none' cannot be read: No such file"),
        ("blank", "references: the file 'blank' is empty"),
        (".", r"references: the file '\.' is a folder"),
    ],
)
def test_a_file_of_references_that_has_no_text_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blank").write_text(" \n")
    with pytest.raises(UsageError, match=message):
        references_of(Path(path))
