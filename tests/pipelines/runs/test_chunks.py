from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.pipelines.runs.chunks import InputReport, SeenRecords, input_warnings
from ufo.schemas.errors import NothingUsable
from ufo.schemas.records import Failure
from ufo.transforms.extract import OUT_OF_RANGE, REPEATED


def parse(key: str, line: bytes, most: int) -> str | Failure:
    return line.decode() if line != b"bad" else Failure("read", key, "t", "is bad", "bad")


def chunks(report: InputReport, *lines: bytes) -> Iterator[int]:
    read = report.observed(parse)
    for number, line in enumerate(lines):
        read(f"f:{number + 1}", line, 10)
        yield number


def test_chunks_are_held_back_until_a_line_is_usable() -> None:
    report = InputReport()
    said: list[str] = []
    read = report.checked(chunks(report, b"bad", b"bad", b"good", b"bad"), ["f"], said.append)
    report.add_unknown({"xyzzy": 1})
    assert list(read) == [0, 1, 2, 3]
    assert len(said) == 1


def test_no_usable_line_names_the_first() -> None:
    report = InputReport()
    with pytest.raises(NothingUsable, match=r"f: no record .* of 2\. f:1: is bad\. It begins: bad"):
        next(report.checked(chunks(report, b"bad", b"bad"), ["f"], print))


def test_no_line_at_all_is_not_said_here() -> None:
    report = InputReport()
    assert list(report.checked(chunks(report), ["f"], print)) == []


def test_unknown_keys_are_counted_and_the_most_frequent_named() -> None:
    report = InputReport()
    assert report.warning() is None
    for number in range(3):
        report.add_unknown({"prompt": 1, f"xx{number}": 2})
    said = report.warning() or ""
    assert "prompt (3 records; did you mean question? --map question=prompt)" in said
    assert "xx1 (1 record)" in said
    for number in range(2_000):
        report.add_unknown({str(number): 1})
    assert (report.warning() or "").endswith("and 992 more")


def test_what_is_said_of_given_claims() -> None:
    assert not list(input_warnings({"read": {"lines": 3}}))
    assert list(input_warnings({"read": {"same": 9}})) == [
        "9 exact duplicates of an earlier record: each was evaluated once."
    ]
    counters = {"extract": {OUT_OF_RANGE: 1_000, REPEATED: 2}}
    assert list(input_warnings(counters)) == [
        "Of the claims given in the input, 1,000 name a sentence that their response does not "
        "have, and are under none; 2 repeat an earlier claim of their response."
    ]


@given(st.lists(st.tuples(st.binary(max_size=2), st.sampled_from([b"a", b"b"])), max_size=60))
def test_records_are_recognised_whether_sorted_or_recent(
    records: list[tuple[bytes, bytes]],
) -> None:
    seen, first = SeenRecords(recent=3), dict[bytes, bytes]()
    for one, line in records:
        assert seen.add(one, line) == (one in first, first.get(one) == line)
        first.setdefault(one, line)
