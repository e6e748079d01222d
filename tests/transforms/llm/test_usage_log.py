"""The usage log: what is written is there, whatever ended the process."""

from pathlib import Path

import pytest

from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.transforms.llm.usage_log import (
    COMPLETION_TOKENS,
    COST,
    IN_FLIGHT,
    PROMPT_TOKENS,
    REQUESTS,
    RESERVED,
    UsageLog,
    UsageReader,
)


def row(number: int) -> Usage:
    return Usage(
        f"req-{number}", "verify", None, "m", "r\n½", "host:1", "ok", False, False, 0, 1000, 500,
        0.1 + number, None,
    )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "usage.jsonl")


def test_numbers_of_several_writers_are_summed_as_they_come(path: str) -> None:
    one, other, reader = UsageLog(path), UsageLog(path), UsageReader(path)
    assert reader.totals() == {}
    one.add({COST: 1.5, REQUESTS: 1})
    other.add({COST: 0.25, "extract.responses": 0})
    assert reader.totals() == {COST: 1.75, REQUESTS: 1}
    one.add({COST: 1.0})
    assert reader.totals() == UsageReader(path).totals() == {COST: 2.75, REQUESTS: 1}


def test_rows_come_back_though_nobody_closed_anything(path: str) -> None:
    writers = [UsageLog(path) for _ in range(2)]
    for number in range(5):
        writers[number % 2].add({REQUESTS: 1}, row(number))
    assert list(UsageReader(path).rows()) == [row(number) for number in range(5)]
    writers[0].close()
    writers[0].add({}, row(9))
    assert list(UsageReader(path).rows())[-1] == row(9)


def test_a_process_that_goes_on_keeps_what_was_spent_and_what_was_under_way(path: str) -> None:
    log = UsageLog(path)
    log.add({COST: 3, REQUESTS: 2, PROMPT_TOKENS: 14, COMPLETION_TOKENS: 3, "extract.responses": 5})
    log.add({RESERVED: 4, IN_FLIGHT: 1})
    log.begin({COST: 100})
    assert UsageReader(path).totals() == {
        COST: 7,
        REQUESTS: 2,
        PROMPT_TOKENS: 14,
        COMPLETION_TOKENS: 3,
    }


def test_the_first_process_begins_with_what_was_spent_before(path: str) -> None:
    UsageLog(path).begin({COST: 2.5, REQUESTS: 7, "extract.responses": 3})
    found = UsageReader(path).totals()
    assert found == {COST: 2.5, REQUESTS: 7, PROMPT_TOKENS: 0, COMPLETION_TOKENS: 0}


def test_a_line_that_was_cut_short_is_passed_over(path: str) -> None:
    log = UsageLog(path)
    log.add({REQUESTS: 1}, row(1))
    with open(path, "ab") as file:
        file.write(
            b'{"add": {"requests": 1}, "row": {"st\xff\n[1]\n{"row": {"x": 1}}\n{"add": {"re'
        )
    UsageLog(path).begin()
    log.add({REQUESTS: 1}, row(3))
    assert list(UsageReader(path).rows()) == [row(1), row(3)]
    assert UsageReader(path).totals()[REQUESTS] == 2


def test_a_line_that_is_being_written_is_read_when_it_is_whole(path: str) -> None:
    reader = UsageReader(path)
    with open(path, "wb", buffering=0) as file:
        file.write(b'{"add": {"requests"')
        assert reader.totals() == {}
        file.write(b": 1}}\n")
    assert reader.totals() == {REQUESTS: 1}


def test_messages_are_handed_over_once(path: str) -> None:
    log, reader = UsageLog(path), UsageReader(path)
    log.report("3 requests timed out, retrying in 8 s")
    reader.totals()
    assert reader.messages() == ["3 requests timed out, retrying in 8 s"]
    assert reader.messages() == []


def test_without_a_path_nothing_is_written() -> None:
    log = UsageLog()
    log.add({REQUESTS: 1}, row(1))
    log.report("nobody hears this")
    log.close()


def test_a_log_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    log = UsageLog(str(tmp_path / "nowhere" / "usage.jsonl"))
    with pytest.raises(RunError, match="cannot be written"):
        log.add({REQUESTS: 1})
    log.report("a message is not worth the run")
