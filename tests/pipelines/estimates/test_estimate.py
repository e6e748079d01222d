"""`--dry_run` tells beforehand what the server then counts, and sends nothing."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.pipelines.llm_runs import rows

CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi", "Bonn", "Perth"]
COUNTED = ("calls", "prompt_tokens", "completion_tokens", "cost_usd")
# A real endpoint counts what stands around a message, which that of the tests does not.
ASKED = """
SELECT step, source, count(*) AS calls,
    CAST(sum(prompt_tokens + if(step = 'knowledge', 4, 8)) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens, sum(cost_usd) AS cost_usd
FROM usage WHERE NOT cached AND NOT coalesced AND step <> 'probe' GROUP BY ALL
"""


def records() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for n in range(16):
        city, other = CITIES[n % 8], CITIES[(n + 3) % 8]
        record: dict[str, Any] = {
            "id": f"r{n}",
            "response": f"{city} is a large city. {city} has {5 + n} bridges. {other} was founded "
            f"in {900 + n % 4}. The trams of {other} are green.",
            "reference_answers": [f"{city} is a large city. The river of {city} is long."]
            if n % 3
            else [],
        }
        if n % 5 == 0:
            record["claims"] = [{"claim": f"{city} is a large city."}, {"claim": "Trams are blue."}]
        found.append(record)
    return found


@pytest.fixture(scope="module")
def responses(tmp_path_factory: pytest.TempPathFactory, write_lines: Any) -> Path:
    lines = [*records(), "not json", records()[0]]
    path: Path = write_lines(tmp_path_factory.mktemp("input") / "in.jsonl", lines)
    return path


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, ufo: Any, write_lines: Any) -> Path:
    folder = tmp_path_factory.mktemp("index")
    text = "{0} has 5 bridges over its river. {0} was founded in 901. {0} has many parks."
    pages = [{"title": city, "text": text.format(city)} for city in CITIES]
    documents = write_lines(folder / "pages.jsonl", pages)
    assert ufo("index", "build", "--input", documents, "--output", folder / "index").code == 0
    return folder / "index"


@pytest.fixture
def evaluate(
    tmp_path: Path,
    ufo: Callable[..., Any],
    responses: Path,
    index: Path,
    llm_server: LlmServer,
) -> Callable[..., Any]:
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": 1, "output": 4}}))

    def run(*flags: object) -> Any:
        return ufo(
            *("evaluate", "--input", responses, "--index", index, "--workers", 1),
            *("--base_url", llm_server.base_url, "--model", "offline-judge"),
            *("--cache", tmp_path / "cache.sqlite", "--prices", prices, *flags),
        )

    return run


@pytest.mark.parametrize(
    "flags",
    [
        ("--sources", "reference,wikipedia,llm"),
        ("--sources", "llm,reference", "--mode", "all", "--citation", "--sampling", "bundled"),
        ("--sources", "wikipedia,reference", "--formulation", "stepwise"),
        ("--sources", "wikipedia", "--formulation", "rationale", "--units", "sentence"),
        ("--sources", "reference,llm", "--formulation", "prompt"),
        ("--sources", "reference,wikipedia", "--format", "xml", "--facts_per_call", 1),
        ("--sources", "reference,wikipedia", "--context", 1500),
        ("--sources", "llm,reference", "--judge", "offline"),
        ("--sources", "llm,reference", "--judge", "llm", "--explain", "none"),
    ],
    ids=lambda flags: " ".join(map(str, flags)),
)
def test_what_a_run_asks_lies_between_the_bounds(
    evaluate: Any, llm_server: LlmServer, tmp_path: Path, flags: Sequence[str]
) -> None:
    told = evaluate(*flags, "--dry_run", "--json")
    assert told.code == 0, told.err
    assert llm_server.requests == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prices.yaml"]
    assert (told.json["responses"], told.json["sampled"]) == (16, 16)

    assert evaluate(*flags, "--output", tmp_path / "out").code == 0
    asked = {(row.pop("step"), row.pop("source")): row for row in rows(tmp_path / "out", ASKED)}
    estimated = {(row["step"], row["source"]): row for row in told.json["rows"]}
    assert asked.keys() <= estimated.keys()
    for name, row in estimated.items():
        for what in COUNTED:
            real = asked.get(name, {}).get(what, 0)
            assert row[f"{what}_low"] <= real <= row[what], (name, what)
    total = told.json["total"]
    for what in COUNTED:
        real = sum(row[what] for row in asked.values())
        assert total[f"{what}_low"] <= real <= total[what]
    assert total["cost_usd_high"] == pytest.approx(sum(r["cost_usd"] for r in told.json["rows"]))


def test_what_was_answered_before_costs_nothing(
    evaluate: Any, llm_server: LlmServer, tmp_path: Path
) -> None:
    flags = ("--sources", "reference,llm")
    assert evaluate(*flags, "--output", tmp_path / "out").code == 0
    llm_server.requests.clear()
    found = evaluate(*flags, "--dry_run", "--json").json
    assert llm_server.requests == []
    assert {row["step"] for row in found["rows"]} <= {"probe"}
    again = evaluate(*flags, "--dry_run", "--json", "--repeat", 1).json
    assert {row["step"] for row in again["rows"]} >= {"extract", "verify", "knowledge"}


def test_a_sample_stands_for_all(
    tmp_path: Path, ufo: Any, write_lines: Any, llm_server: LlmServer
) -> None:
    text = "{0} is a large city. {0} has {1} bridges."
    lines = [
        {
            "response": text.format(CITIES[n % 8], n) * (1 + n % 3),
            "reference_answers": [text.format("Oslo", n)],
        }
        for n in range(1_000)
    ]
    path = write_lines(tmp_path / "many.jsonl", lines)
    found = ufo(
        *("evaluate", "--input", path, "--sources", "reference", "--dry_run", "--json"),
        *("--base_url", llm_server.base_url, "--model", "offline-judge", "--cache", "off"),
    ).json
    assert (found["responses"], found["sampled"]) == (1_000, 200)
    (extract,) = (row for row in found["rows"] if row["step"] == "extract")
    assert 900 < extract["calls_low"] < 1_000 < extract["calls"] < 1_100
    assert extract["cost_usd"] is None
    assert found["total"]["cost_usd"] is None


def test_a_table_for_people(evaluate: Any) -> None:
    told = evaluate("--sources", "reference,llm", "--dry_run")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].split() == [
        *("step", "source", "model", "calls"),
        *("prompt_tokens", "completion_tokens", "cost_usd"),
    ]
    words = [line.split()[0] for line in lines if line.strip()]
    assert [words.count(step) for step in ("extract", "knowledge", "verify", "total")] == [
        *(1, 1, 2, 1)
    ]
    assert "nothing was sent" in told.out
    for bound in ("At least: ", "At most: ", "Not counted: "):
        assert bound in told.out


def test_a_run_that_asks_no_model_costs_nothing(
    ufo: Any, responses: Path, llm_server: LlmServer
) -> None:
    told = ufo(
        *("evaluate", "--input", responses, "--sources", "reference", "--judge", "offline"),
        *("--dry_run", "--json"),
    )
    assert told.code == 0
    assert told.json["rows"] == []
    assert told.json["total"]["cost_usd"] == 0
    assert llm_server.requests == []


def test_what_would_end_the_run_ends_the_estimate(evaluate: Any, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("not json\n")
    assert evaluate("--dry_run", "--sources", "nobody").code == 2
    told = evaluate("--dry_run", "--input", tmp_path / "none.jsonl")
    assert told.code == 2
