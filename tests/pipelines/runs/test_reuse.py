"""What a run takes over from an earlier one: which responses, and which of their rows."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank, rows_of, write_run
from ufo.pipelines.runs.reuse import Reuse, copy_reused, reuse_from, since_run
from ufo.schemas.errors import RunError, UsageError
from ufo.schemas.records import Failure, InputRecord, Usage
from ufo.schemas.tables import read_rows
from ufo.transforms.read import record_hash

FINGERPRINT = {"inputs": [{"name": "in.jsonl"}], "chunk_size": 500, "options": {"mode": "seq"}}
EARLIER = {"fingerprint": FINGERPRINT, "attempt": "a1"}


def record(name: str, **more: Any) -> InputRecord:
    return blank(InputRecord, response_id=name, text=f"Text of {name}.", metadata={}, **more)


def used(response: str | None, **more: Any) -> Usage:
    """A request that was paid for."""
    paid = {"prompt_tokens": 10, "completion_tokens": 4, "cost_usd": 0.5, "status": "ok"}
    fixed = {"request_id": f"of {response}", "step": "verify", "retries": 0}
    return blank(
        Usage,
        response_id=response,
        **{**paid, **fixed, "cached": False, "coalesced": False},
        **more,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of responses that are kept, and that have errors of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    votes = {
        "kept": {"k": {"ref": "s"}},
        "other": {"o": {"ref": "rn"}},
        "bad evidence": {"b": {"ref": "e"}},
        "bad step": {"f": {"ref": "s"}},
        "bad line": {"l": {"ref": "s"}},
        "old": {"x": {"ref": "s"}},
    }
    rows = rows_of(votes)
    rows["responses"] = [
        replace(row, record_hash=record_hash(record(row.response_id))) for row in rows["responses"]
    ]
    rows["failures"] = [
        Failure("extract", "bad step", "refused", "", None),
        # What is wrong with a line, or with a claim in it, is found again when the input is read.
        Failure("read", "bad line", "unusable_claim", "", None),
    ]
    rows["usage"] = [used("kept"), used("other"), used(None)]
    rows["usage"] += [
        replace(used("kept"), request_id="a hit", cached=True, prompt_tokens=7),
        replace(used("other"), request_id="shared", coalesced=True, prompt_tokens=7),
        replace(used("other"), request_id="lost", prompt_tokens=None, completion_tokens=None,
                cost_usd=None),
    ]  # fmt: skip
    write_run(folder, rows, "monday")
    return folder


def reuse(runs: Path, since: bool) -> Reuse:
    return reuse_from(str(runs), "monday", EARLIER, FINGERPRINT, since)


# --- which responses


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        pytest.param("kept", True, id="without an error"),
        pytest.param("bad line", True, id="with a claim that the input has wrong"),
        pytest.param("bad evidence", False, id="with a judgement that failed"),
        pytest.param("bad step", False, id="with a step that failed"),
        pytest.param("new", False, id="that the earlier run does not have"),
    ],
)
@pytest.mark.parametrize("since", [True, False], ids=["since", "retry_errors"])
def test_a_response_is_reused(runs: Path, since: bool, name: str, kept: bool) -> None:
    reused = reuse(runs, since)
    assert reused.takes(record(name)) == kept
    assert reused.taken == ({name} if kept else set())


def test_a_changed_response_is_reused_only_where_errors_are_retried(runs: Path) -> None:
    changed = record("kept", question="Why?")
    assert not reuse(runs, since=True).takes(changed)
    assert reuse(runs, since=False).takes(changed)


def test_responses_with_errors_are_counted(runs: Path) -> None:
    assert reuse(runs, since=False).again == 2


def test_what_the_run_spent_before_is_what_it_paid_for(runs: Path) -> None:
    """Answers from the cache, and those that another request got, cost nothing."""
    spent = {"requests": 4, "prompt_tokens": 30, "completion_tokens": 12, "cost_usd": 1.5}
    assert reuse(runs, since=False).spent == spent


def test_a_run_since_another_one_has_spent_nothing_before(runs: Path) -> None:
    assert reuse(runs, since=True).spent == {}


def test_the_source_of_what_is_reused_has_its_attempt(runs: Path) -> None:
    assert reuse(runs, since=True).source == "monday@a1"


OTHER_INPUT = {"inputs": [{"name": "b.jsonl"}]}
CHANGES: dict[str, dict[str, Any]] = {
    "another option": {"options": {"mode": "mv"}},
    "another version": {"ufo_version": "9"},
    "other sources": {"sources": []},
}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(OTHER_INPUT, id="another input"),
        pytest.param({"chunk_size": 9}, id="another size of chunks"),
    ],
)
def test_since_goes_on_after_a_change_that_a_retry_refuses(
    runs: Path, change: dict[str, Any]
) -> None:
    assert reuse_from(str(runs), "monday", EARLIER, FINGERPRINT | change, True).hashes
    with pytest.raises(UsageError, match="use --if_finished replace") as caught:
        reuse_from(str(runs), "monday", EARLIER, FINGERPRINT | change, False)
    assert f"\n  {next(iter(change))}" in caught.value.message


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_run_is_not_reused_after(runs: Path, change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="evaluate without --since") as caught:
        reuse_from(str(runs), "monday", EARLIER, FINGERPRINT | change, True)
    assert f"\n  {next(iter(change))}" in caught.value.message


def test_a_run_that_is_not_there_cannot_be_reused(runs: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'monday'"):
        since_run(str(runs), "mondays")


def test_a_run_that_is_there_gives_its_manifest(runs: Path) -> None:
    assert since_run(str(runs), "monday")["run"] == "monday"


# --- which rows


@pytest.fixture
def copied(runs: Path, tmp_path: Path) -> Callable[..., dict[str, list[dict[str, Any]]]]:
    """Copies the rows of the responses that are taken, and returns them by table."""

    def copy(since: bool, *taken: str) -> dict[str, list[dict[str, Any]]]:
        reused = reuse(runs, since)
        for name in taken:
            assert reused.takes(record(name))
        parts = copy_reused(str(runs), reused, str(tmp_path))
        return {part.table: read_rows(part.path).to_pylist() for part in parts}

    return copy


def test_since_copies_the_rows_of_the_reused_responses_alone(copied: Any) -> None:
    rows = copied(True, "kept")
    tables = ("responses", "sentences", "fact_units", "evidence", "verdicts", "usage")
    copied_ids = {table: {row["response_id"] for row in rows.pop(table)} for table in tables}
    assert copied_ids == {table: {"kept"} for table in tables}
    assert [row["passage_id"] for row in rows.pop("passages")] == ["ref:kept-k-0"]
    assert rows == {}  # failures are found again, or evaluated again


def test_what_another_run_paid_for_is_taken_as_cached_and_free(copied: Any) -> None:
    (paid, hit) = copied(True, "kept")["usage"]
    assert paid["request_id"] == "of kept"
    assert hit["request_id"] == "a hit"
    assert [row["cached"] for row in (paid, hit)] == [True, True]
    assert [row["cost_usd"] for row in (paid, hit)] == [0.0, 0.0]
    assert [row["prompt_tokens"] for row in (paid, hit)] == [10, 7]


def test_retried_errors_keep_all_that_the_run_paid_for(copied: Any) -> None:
    rows = copied(False, "kept")
    names = ["of kept", "of other", "of None", "a hit", "shared", "lost"]
    assert [row["request_id"] for row in rows["usage"]] == names
    assert [row["cost_usd"] for row in rows["usage"]] == [0.5] * 5 + [None]
    assert {row["response_id"] for row in rows["evidence"]} == {"kept"}


def test_nothing_is_copied_where_nothing_is_reused(copied: Any) -> None:
    assert {table: rows for table, rows in copied(True).items() if rows} == {}


def test_a_damaged_part_of_an_earlier_run_is_not_copied(tmp_path: Path) -> None:
    rows = rows_of({"kept": {"k": {"ref": "s"}}})
    rows["responses"] = [replace(rows["responses"][0], record_hash=record_hash(record("kept")))]
    write_run(tmp_path, rows, "monday")
    manifest = tmp_path / "run=monday" / "manifest.json"
    text = manifest.read_text().replace(
        '"files": ["evidence/part-00000.parquet"]',
        '"files": ["evidence/part-00000.parquet"], '
        '"sha256": {"evidence/part-00000.parquet": "0000"}',
    )
    manifest.write_text(text)
    reused = reuse_from(str(tmp_path), "monday", EARLIER, FINGERPRINT, since=True)
    with pytest.raises(RunError, match=r"part-00000\.parquet"):
        copy_reused(str(tmp_path), reused, str(tmp_path))
