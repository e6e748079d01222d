"""State files: what is written is read, and whatever else is in the file is damage."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.errors import RunError
from ufo.schemas.records import Part
from ufo.schemas.state_files import entry, read_state, state_bytes, write_state

REMEDY = "do it again"
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
CONTENT = {"format": "ufo-run", "tables": {"usage": ["a", "b"]}, "rows": 7}
WRITTEN = state_bytes(CONTENT)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


@given(
    content=st.dictionaries(st.text(), PLAIN).filter(lambda row: not {"state", "checksum"} & {*row})
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
    path = str(tmp_path_factory.getbasetemp() / "round_trip.json")
    write_state(path, content)
    assert read_state(path, REMEDY, dict) == content


def test_other_programs_read_it_as_json() -> None:
    assert json.loads(state_bytes(CONTENT)).items() >= CONTENT.items()


def damaged(data: bytes) -> Iterator[tuple[str, bytes]]:
    for at in range(len(data)):
        for bit in (0, 3, 7):
            yield (
                f"bit {bit} of byte {at}",
                data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :],
            )
        yield f"cut at {at}", data[:at]
        yield f"without byte {at}", data[:at] + data[at + 1 :]
        yield f"a NUL at {at}", data[:at] + b"\0" + data[at + 1 :]


@pytest.mark.parametrize("content", [CONTENT, {}], ids=["some", "empty"])
def test_each_damage_is_noticed(path: Path, content: dict[str, Any]) -> None:
    def is_read(data: bytes) -> bool:
        path.write_bytes(data)
        try:
            read_state(str(path), REMEDY, dict)
        except RunError:
            return False
        return True

    assert [what for what, data in damaged(state_bytes(content)) if is_read(data)] == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"5", id="a number"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\0" * 100, id="NUL bytes"),
        pytest.param(b"\xff\xfe{\0}\0", id="UTF-16"),
        pytest.param(b"[" * 100_000, id="very deep"),
        pytest.param(b'{"rows": ' + b"9" * 5_000 + b"}", id="a huge number"),
        pytest.param(json.dumps({"checksum": "0"}).encode(), id="only a checksum"),
        pytest.param(json.dumps({"state": 1}).encode(), id="no checksum"),
        pytest.param(WRITTEN + b" ", id="a blank at the end"),
        pytest.param(
            state_bytes(CONTENT).replace(b'"rows": 7', b'"rows": 7, "rows": 7'), id="twice"
        ),
        pytest.param(state_bytes(CONTENT).replace(b'"state": 1', b'"state": 2'), id="another form"),
    ],
)
def test_what_is_no_state_file_is_damaged(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"state\.json' is damaged: .*; do it again\.$"):
        read_state(str(path), REMEDY, dict)


def test_a_file_of_before_there_were_checksums_is_read(path: Path) -> None:
    path.write_text(json.dumps(CONTENT))
    assert read_state(str(path), REMEDY, dict) == CONTENT


def test_a_missing_file_is_not_damaged(path: Path) -> None:
    assert read_state(str(path), REMEDY, dict) is None


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot be read: .*[Dd]irectory"):
        read_state(str(tmp_path), REMEDY, dict)


@pytest.mark.parametrize(
    ("value", "kind"), [("x", str), (0, int), ((1 << 63) - 1, int), ([], list), ({}, dict)]
)
def test_an_entry_has_its_type(value: Any, kind: type) -> None:
    assert entry({"name": value}, "name", kind) == value


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (None, str, "'name' is NoneType, not str"),
        (True, int, "'name' is bool, not int"),
        (1.0, int, "'name' is float, not int"),
        (-1, int, "'name' is -1"),
        (1 << 63, int, f"'name' is {1 << 63}"),
        ([], dict, "'name' is list, not dict"),
    ],
)
def test_an_entry_of_another_type_is_an_error(value: Any, kind: type, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        entry({"name": value}, "name", kind)


def test_a_missing_entry_is_damage(path: Path) -> None:
    write_state(str(path), {})
    with pytest.raises(RunError, match=r"state\.json' is damaged: it lacks 'name'; do it again"):
        read_state(str(path), REMEDY, lambda content: entry(content, "name", str))


def test_what_cannot_be_made_of_the_content_is_damage(path: Path) -> None:
    write_state(str(path), CONTENT)
    with pytest.raises(RunError, match=r"state\.json' is damaged: .*; do it again"):
        read_state(str(path), REMEDY, lambda content: Part(**content))
