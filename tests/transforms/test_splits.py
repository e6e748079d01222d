import io
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.transforms.splits import Line, Split, lines


def read(data: bytes, limit: int = 1000, first: int | None = 1) -> list[Line]:
    return list(lines(io.BytesIO(data), Split("f", "p", 0, len(data), first), limit))


def test_lines_are_numbered_with_blank_ones_and_named_by_file_and_number() -> None:
    found = read(b"one\r\n\n  \ntwo\nthree")
    assert [(line.key, line.data, line.number) for line in found] == [
        ("f:1", b"one", 1),
        ("f:4", b"two", 4),
        ("f:5", b"three", 5),
    ]
    assert [(line.start, line.end) for line in found] == [(0, 5), (9, 13), (13, 18)]


def test_without_a_first_number_a_line_is_named_by_its_byte() -> None:
    assert [line.key for line in read(b"one\ntwo\n", first=None)] == ["f@0", "f@4"]
    assert read(b"one\n", first=None)[0].number is None


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("length", [9, 10, 11, 12, 500])
def test_of_a_line_over_the_limit_enough_is_kept_to_tell(length: int, end: bytes) -> None:
    (line,) = read(b"x" * length + end, 10)
    assert len(line.data) <= 12
    assert (len(line.data) > 10) == (length > 10)
    assert line.end == length + len(end)


def test_a_long_line_hides_nothing_behind_it() -> None:
    found = read(b"x" * 5_000_000 + b"\nnext\n", 100)
    assert [(line.number, len(line.data)) for line in found] == [(1, 102), (2, 4)]


@pytest.mark.parametrize("filler", [b" ", b"\r", b"\t"])
def test_a_long_line_that_begins_blank_is_not_lost_or_taken_for_a_short_one(filler: bytes) -> None:
    (hidden, after) = read(filler * 40 + b"text\nnext\n", 10)
    assert len(hidden.data) > 10
    assert after.data == b"next"
    (mixed,) = read(b"12345678" + filler * 40 + b"text", 10)
    assert len(mixed.data) > 10


CONTENT = st.lists(
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), max_size=12
).flatmap(lambda rows: st.tuples(st.just(rows), st.sampled_from([b"\n", b"\r\n"]), st.booleans()))


@given(CONTENT, st.integers(2, 20), st.randoms(use_true_random=False))
def test_any_cut_at_line_ends_gives_the_same_lines(
    content: tuple[list[bytes], bytes, bool], limit: int, chance: random.Random
) -> None:
    rows, end, last = content
    data = end.join(rows) + (end if last else b"")
    whole = read(data, limit)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = sorted({0, len(data), *(at for at in ends if chance.random() < 0.5)})
    found = []
    for start, stop in itertools.pairwise(cuts):
        first = 1 + data[:start].count(b"\n")
        found += list(lines(io.BytesIO(data), Split("f", "p", start, stop, first), limit))
    assert found == whole
    for line in whole:
        assert line.data.strip() or len(line.data) > limit
        assert data[line.start :].startswith(line.data)
    numbers = [line.number for line in whole]
    blank = [n for n, row in enumerate(data.split(b"\n"), 1) if not row.strip()]
    assert set(range(1, len(data.split(b"\n")) + 1)) - {n for n in numbers if n} <= set(blank)
