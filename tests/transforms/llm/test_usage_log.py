"""What is added up of a run's requests, whatever became of its processes."""

from pathlib import Path

import pytest

from tests.conftest import blank
from ufo.schemas.errors import RunError
from ufo.schemas.records import Usage
from ufo.transforms.llm.usage_log import UsageLog, UsageReader, logged_requests

ROW = blank(Usage, request_id="q1", step="verify", prompt_tokens=7)
SPENT = {"requests": 2.0, "prompt_tokens": 7.0, "completion_tokens": 3.0, "cost_usd": 0.5}


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "usage.jsonl"


def test_changes_of_two_writers_are_added_up_by_name(path: Path) -> None:
    first, second = UsageLog(str(path)), UsageLog(str(path))
    reader = UsageReader(str(path))
    assert reader.totals() == {}
    first.add({"requests": 1, "cost_usd": 0.25})
    second.add({"requests": 2, "in_flight": -1})
    assert reader.totals() == {"requests": 3, "cost_usd": 0.25, "in_flight": -1}
    first.add({"requests": 1})
    assert reader.totals()["requests"] == 4


def test_nothing_is_written_of_no_change(path: Path) -> None:
    UsageLog(str(path)).add({"requests": 0})
    assert not path.exists()
    UsageLog(None).add({"requests": 1})
    UsageLog(None).report("Told.")


def test_rows_are_read_in_order_and_once(path: Path) -> None:
    log = UsageLog(str(path))
    log.add({}, ROW)
    log.add({"requests": 1})
    log.add({"requests": 1}, blank(Usage, request_id="q2"))
    reader = UsageReader(str(path))
    assert list(reader.rows()) == [ROW, blank(Usage, request_id="q2")]
    assert list(reader.rows()) == []


def test_messages_are_told_once(path: Path) -> None:
    log, reader = UsageLog(str(path)), UsageReader(str(path))
    log.report("One é.")
    log.report("Two.")
    reader.totals()
    assert reader.messages() == ["One é.", "Two."]
    assert reader.messages() == []


def test_a_new_process_keeps_what_was_spent_and_what_was_reserved_counts_as_spent(
    path: Path,
) -> None:
    UsageLog(str(path)).add({**SPENT, "in_flight": 4, "reserved_usd": 0.25})
    UsageLog(str(path)).begin({"requests": 99.0})
    assert UsageReader(str(path)).totals() == {**SPENT, "cost_usd": 0.75}


@pytest.mark.parametrize(
    ("before", "totals"),
    [
        pytest.param(None, dict.fromkeys(SPENT, 0.0), id="nothing"),
        pytest.param({**SPENT, "in_flight": 1.0}, SPENT, id="an earlier attempt"),
    ],
)
def test_the_first_process_begins_with_what_was_before(
    path: Path, before: dict[str, float] | None, totals: dict[str, float]
) -> None:
    UsageLog(str(path)).begin(before)
    assert UsageReader(str(path)).totals() == totals


def test_a_line_that_was_left_unfinished_is_passed_over(path: Path) -> None:
    log, reader = UsageLog(str(path)), UsageReader(str(path))
    log.add({"requests": 1, "in_flight": 1})
    with path.open("a") as file:
        file.write('{"add": {"requests": 8')
    assert reader.totals() == {"requests": 1, "in_flight": 1}
    log.begin()
    assert reader.totals() == {**dict.fromkeys(SPENT, 0.0), "requests": 1}


def test_a_line_is_read_when_its_end_is_written(path: Path) -> None:
    reader = UsageReader(str(path))
    with path.open("a") as file:
        file.write('{"add": {"requests": 8}}')
        file.flush()
        assert reader.totals() == {}
        file.write("\n")
    assert reader.totals() == {"requests": 8}


@pytest.mark.parametrize("line", ['{"add":', "[1]", "5", '{"row": {"unheard_of": 1}}', ""])
def test_a_line_that_cannot_be_read_hides_no_other(path: Path, line: str) -> None:
    path.write_text(f"{line}\n")
    UsageLog(str(path)).add({"requests": 1}, ROW)
    assert UsageReader(str(path)).totals() == {"requests": 1}
    assert list(UsageReader(str(path)).rows()) == [ROW]


def test_a_log_that_cannot_be_written_ends_the_run_but_not_for_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in ("missing/usage.jsonl", "file/requests/"):
        log = UsageLog(f"{tmp_path}/{path}")
        log.report("Told.")
        with pytest.raises(RunError, match=r"usage log .* cannot be written"):
            log.add({"requests": 1})


@pytest.mark.parametrize("scheme", ["", "memory://", "file://"])
def test_workers_on_several_machines_share_a_folder(tmp_path: Path, scheme: str) -> None:
    folder = f"{scheme}{tmp_path}/requests/"
    workers = [UsageLog(folder), UsageLog(folder)]
    rows = [blank(Usage, request_id=f"q{number}") for number in range(4)]
    for number, row in enumerate(rows):
        workers[number % 2].add({"requests": 1}, row)
    workers[0].report("Nobody sees this.")
    for worker in workers:
        assert not worker.shown
        worker.close()
    logged = sorted(logged_requests(folder), key=lambda row: row.request_id)
    assert logged == rows
    (tmp_path / "one.jsonl").write_bytes(b"")
    assert list(logged_requests(str(tmp_path / "one.jsonl"))) == []
