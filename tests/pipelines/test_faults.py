"""Whole runs against an endpoint that fails: the tables are those of one that does not."""

from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, faults
from tests.llm_server.errors import ApiError
from tests.pipelines.conftest import ends, evaluation, ok, tables
from tests.pipelines.llm_runs import at
from ufo.schemas.tables import arrow_schema

TOWNS = ("Oslo", "Cairo", "Lima", "Quito", "Rome", "Hanoi", "Sofia", "Delhi", "Bern", "Doha")

# Each alone is tested where requests are sent and replies are parsed; here they come together.
PASSING = [
    faults.rate_limited(),
    faults.rate_limited(0.2),
    faults.status(500),
    faults.status(503),
    faults.reset(),
    faults.hang(),
    faults.drip(0.2),
    faults.truncated_body(),
]


RECORDS = [
    {
        "id": f"r{number}",
        "response": f"{town} has {number + 3} bridges. {town} was founded in {900 + number}.",
        "reference_answers": f"{town} has {number % 2 + 3} bridges.",
    }
    for number, town in enumerate(TOWNS)
]


def evaluated(folder: Path, mix: faults.Mix | None) -> tuple[Any, list[Any]]:
    """Evaluate against a server with that mix; returns the rows and what was asked."""
    with pytest.MonkeyPatch.context() as patch, LlmServer() as server:
        patch.setenv("OPENAI_API_KEY", server.key)
        server.mix = mix
        flags = ("--sources", "reference,llm", "--run", "r", "--timeout", 1)
        ok(*evaluation(folder, RECORDS, *at(server, *flags)))
        return _rows(folder / "out"), server.chats


def _rows(output: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Rows without what is of one run: ids of requests, times."""
    wanted = ("responses", "sentences", "fact_units", "evidence", "verdicts", "failures")
    return {
        table: [tuple(v for v in row if not str(v).startswith("req_")) for row in table_rows]
        for table, table_rows in tables(output).items()
        if table in wanted
    }


def _in_any_order(
    rows_by_table: dict[str, list[tuple[Any, ...]]],
) -> dict[str, list[tuple[Any, ...]]]:
    """The same without which sample of the model's said what: where `n` is passed over, samples are
    asked for side by side, and the server answers in the order in which they reach it."""
    names = arrow_schema("evidence").names
    of_sample = {names.index(name) for name in ("passage_id", "rank", "sample_index")}
    rows = [
        tuple(value for place, value in enumerate(row) if place not in of_sample)
        for row in rows_by_table["evidence"]
    ]
    return {**rows_by_table, "evidence": sorted(rows, key=repr)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, int]:
    """The tables of a run without a fault, and how many requests it took."""
    rows_by_table, chats = evaluated(tmp_path_factory.mktemp("undisturbed"), None)
    assert rows_by_table["failures"] == []
    assert len(rows_by_table["fact_units"]) == 2 * len(TOWNS)
    return rows_by_table, len(chats)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds",
    [PASSING, [*PASSING, faults.ignored_n()]],
    ids=["passing faults", "and one sample in place of several"],
)
def test_faults_that_a_retry_mends_change_no_row(
    undisturbed: Any, tmp_path: Path, kinds: list[faults.Fault]
) -> None:
    rows_by_table, chats = evaluated(tmp_path, faults.Mix(0.2, kinds))
    expected, asked = undisturbed
    spoiled = sum(entry.fault is not None for entry in chats)
    assert spoiled > 0
    ignored = sum(entry.fault == "ignored_n" for entry in chats)
    if ignored:
        rows_by_table, expected = _in_any_order(rows_by_table), _in_any_order(expected)
    assert rows_by_table == expected
    # One more request for each that failed; where `n` is passed over, one for each choice.
    assert len(chats) <= asked + spoiled + 4 * ignored


@pytest.mark.slow
def test_a_final_error_in_one_process_ends_all_and_keeps_what_is_finished(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    flags = at(llm_server, "--workers", 2, "--chunk_size", 1, "--json")
    command = evaluation(tmp_path, RECORDS, *flags)
    # Extraction and verification of some responses, and then the quota is spent for all.
    llm_server.faults.extend([None] * 8 + [faults.quota_spent()] * 200)
    done = ends(1, *command)
    assert "top it up" in done.err
    assert "is kept" in done.err
    finished = list(tmp_path.glob("out/run=*/.attempt-*/chunks/*/done.json"))
    assert finished
    refused = sum(entry.status == 429 for entry in llm_server.chats)
    assert 1 <= refused <= 2  # by each process at most one
    llm_server.faults.clear()
    before = len(llm_server.chats)
    assert ok(*command).json["responses"] == len(TOWNS)
    probes = 2
    assert len(llm_server.chats) - before <= probes + 2 * (len(TOWNS) - len(finished))


UNKNOWN = "The flux of account {} is inverted."
SPENT = {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None}


@pytest.mark.parametrize(
    ("error", "words", "most"),
    [
        pytest.param(ApiError(400, UNKNOWN), UNKNOWN, 7, id="words that nobody knows"),
        pytest.param(ApiError(403, UNKNOWN), UNKNOWN, 7, id="forbidden"),
        pytest.param(ApiError(200, "", body=SPENT), "insufficient balance", 2, id="in a 200"),
        pytest.param(ApiError(412, UNKNOWN), "top it up", 2, id="a failed precondition"),
    ],
)
def test_an_account_that_stops_ends_the_run_which_resumes(
    tmp_path: Path, llm_server: LlmServer, error: ApiError, words: str, most: int
) -> None:
    flags = at(llm_server, "--sources", "reference", "--concurrency", 2, "--json")
    command = evaluation(tmp_path, RECORDS, *flags)
    llm_server.mix = faults.Stops(5, error)
    done = ends(1, *command)
    assert words in done.err
    assert len(llm_server.chats) <= 5 + most
    llm_server.mix = None
    assert ok(*command).json["responses"] == len(TOWNS)


def test_a_refusal_of_one_text_ends_no_run(tmp_path: Path, llm_server: LlmServer) -> None:
    refused = faults.Fault("error", ApiError(403, UNKNOWN))
    llm_server.faults.extend([None] * 5 + [refused, None, refused, None, refused, refused])
    flags = at(llm_server, "--sources", "reference", "--concurrency", 1, "--json")
    assert ok(*evaluation(tmp_path, RECORDS, *flags)).json["responses"] == len(TOWNS)
