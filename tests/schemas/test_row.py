"""One row: its JSON, and a value in it."""

import pytest

from ufo.schemas.row import UnusableValue, object_of, value_at


def test_bytes_that_are_no_utf_8_cost_their_row() -> None:
    data = b'{"a": "M\xfcller"}'
    with pytest.raises(UnusableValue, match=r"not UTF-8: byte 9 of the record.*iconv"):
        object_of(data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param("a", 1, id="a column"),
        pytest.param("b.c", 2, id="a field of an object"),
        pytest.param("d.e", 3, id="a column with a dot"),
        pytest.param("b.x", None, id="a field that is missing"),
        pytest.param("a.b", None, id="a field of a number"),
        pytest.param("x", None, id="a column that is missing"),
    ],
)
def test_a_value_has_a_path(path: str, value: int | None) -> None:
    assert value_at({"a": 1, "b": {"c": 2}, "d.e": 3}, path) == value
