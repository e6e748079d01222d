"""What a run would cost, what it has spent, and a cap on it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer, Logged, faults
from tests.pipelines.conftest import ends, evaluation, tables, ufo
from tests.pipelines.llm_runs import at, results, rows
from ufo.pipelines.estimates import print_estimate
from ufo.schemas.results import open_results
from ufo.transforms.llm.usage_log import COST, UsageReader

COUNTED = ("calls", "prompt_tokens", "completion_tokens", "cost_usd")
ASKED = """
SELECT step, source, count(*) AS calls, CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens, sum(cost_usd) AS cost_usd
FROM usage WHERE NOT cached AND NOT coalesced AND step <> 'probe' GROUP BY ALL
"""
INPUT, OUTPUT = 10.0, 40.0  # US dollars a million tokens


@pytest.fixture
def model(tmp_path: Path, llm_server: LlmServer) -> tuple[object, ...]:
    """The flags of a model with a price."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(json.dumps({"offline-judge": {"input": INPUT, "output": OUTPUT}}))
    return ("--base_url", llm_server.base_url, "--model", "offline-judge", "--prices", prices)


@pytest.fixture
def evaluate(tmp_path: Path, responses: Path, index: Path, model: Any) -> Callable[..., Any]:
    words = ("evaluate", "--input", responses, "--index", index, "--workers", 1, *model)
    cache = ("--cache", tmp_path / "cache.sqlite")
    return lambda *flags, code=0: ends(code, *words, *cache, *flags)


SMALL = "calls that fit a small context"
"""What is learned of the context depends on the order of the replies, and so do a few calls."""
# Of each formulation, where all sources are asked of every claim and nothing is asked twice: the
# calls, prompt tokens and completion tokens that a run asks, as shares of what is told. A request
# is counted exactly, and its prompt closely. Its reply is taken for as long as the model may need.
# Five samples of a question come with one request, and are told as five calls.
SHARES: dict[str, tuple[Sequence[object], dict[str, Sequence[float]]]] = {
    "functions": (
        ("--sources", "reference,wikipedia,llm"),
        {
            "extract": (1, 1.06, 1.04),
            "verify reference": (1, 1.09, 1.21),
            "verify wikipedia": (1, 1.13, 0.36),
            "knowledge llm": (0.2, 0.12, 0.12),
            "verify llm": (1, 0.33, 0.48),
        },
    ),
    "knowledge in one request a response": (
        ("--sources", "llm,reference", "--citation", "--sampling", "bundled"),
        {
            "extract": (1, 1.06, 1.04),
            "verify reference": (1, 1.1, 0.81),
            "knowledge llm": (0.2, 0.2, 0.19),
            "verify llm": (1, 0.33, 0.34),
        },
    ),
    "steps, which end early where a passage does not tell": (
        ("--sources", "wikipedia,reference", "--formulation", "stepwise"),
        {
            "extract": (1, 1.06, 1.04),
            "verify wikipedia": (0.56, 0.46, 0.038),
            "verify reference": (0.63, 0.49, 0.052),
        },
    ),
    "a rationale on each sentence": (
        ("--sources", "wikipedia", "--formulation", "rationale", "--units", "sentence"),
        {"extract": (1, 1.06, 1.04), "verify wikipedia": (1, 0.97, 0.2)},
    ),
    "a call for each fact, in XML": (
        ("--sources", "reference,wikipedia", "--format", "xml", "--facts_per_call", 1),
        {
            "extract": (1, 1.06, 1.04),
            "verify wikipedia": (1, 0.99, 0.38),
            "verify reference": (1, 0.98, 1.09),
        },
    ),
    SMALL: (
        ("--sources", "wikipedia", "--context", 1500, "--concurrency", 1),
        {"extract": (1, 1.06, 1.04), "verify wikipedia": (1, 1.33, 0.36)},
    ),
    "a model's knowledge alone": (
        ("--sources", "llm", "--judge", "offline"),
        {"knowledge llm": (0.2, 0.12, 0.12)},
    ),
}


@pytest.mark.parametrize("name", SHARES)
def test_a_run_asks_what_is_told(
    few: Path, index: Path, model: Any, llm_server: LlmServer, tmp_path: Path, name: str
) -> None:
    flags, shares = SHARES[name]
    words = ("evaluate", "--input", few, "--index", index, "--workers", 1, *model, "--mode", "all")
    words = (*words, "--no_share", *flags)
    estimates = {called(row): row for row in ends(0, *words, "--dry_run", "--json").json["rows"]}
    assert llm_server.requests == []
    ends(0, *words, "--output", tmp_path)
    asked = {called(row): row for row in rows(tmp_path, ASKED)}
    assert asked.keys() == estimates.keys() == shares.keys()
    ratios = {
        step: [asked[step][what] / estimates[step][what] for what in COUNTED[:3]] for step in shares
    }
    near = 0.12 if name == SMALL else 0.05
    assert ratios == {step: pytest.approx(some, rel=near) for step, some in shares.items()}
    for row in estimates.values():
        paid = INPUT * row["prompt_tokens"] + OUTPUT * row["completion_tokens"]
        assert row["cost_usd"] == pytest.approx(paid / 1e6)


def called(row: Any) -> str:
    return " ".join(filter(None, (row["step"], row["source"])))


@pytest.mark.parametrize(
    ("flags", "search", "page"),
    [
        # Four claims of six responses.
        pytest.param((), 6, 5 * 24, id="all questions of a response in one search"),
        pytest.param(("--search", "brave"), 24, 5 * 24, id="a search for each question"),
        pytest.param(("--pages", 3), 6, 3 * 24, id="fewer pages"),
        pytest.param(("--passages_per_page", 0), 6, 0, id="snippets alone"),
    ],
)
def test_searches_and_pages_are_told(
    few: Path, model: Any, monkeypatch: pytest.MonkeyPatch, flags: Any, search: int, page: int
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "key")
    monkeypatch.setenv("BRAVE_API_KEY", "key")
    words = ("evaluate", "--input", few, "--sources", "web", *model, "--dry_run", "--json")
    estimates = {row["step"]: row for row in ends(0, *words, *flags).json["rows"]}
    assert estimates["search"]["calls"] == search
    assert estimates["page"]["calls"] == page
    assert estimates["search"]["cost_usd"] == 0
    assert estimates["verify"]["calls"] >= 6


@pytest.mark.parametrize(
    ("flags", "passages"),
    [
        pytest.param(("--pages", 1), 1, id="one of a page"),
        pytest.param(("--pages", 2, "--passages_per_page", 3), 6, id="three of two pages"),
        pytest.param(("--pages", 2, "--passages_per_page", 0), 2, id="a snippet of each result"),
    ],
)
def test_passages_that_are_not_fetched_are_told_as_all_there_may_be(
    few: Path, model: Any, monkeypatch: pytest.MonkeyPatch, flags: Any, passages: int
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "key")
    words = ("evaluate", "--input", few, "--sources", "web", *model, "--dry_run", "--json")
    rows = ends(0, *words, "--formulation", "prompt", *flags).json["rows"]
    # This formulation has a call for each claim and passage.
    assert {row["step"]: row["calls"] for row in rows}["verify"] == 24 * passages


def test_a_sample_stands_for_all_and_an_unknown_price_is_said_once(
    tmp_path: Path, llm_server: LlmServer
) -> None:
    text = "{0} is a large city. {0} has {1} bridges."
    records = [
        {
            "response": text.format(f"Town{n % 8}", n) * (1 + n % 3),
            "reference_answers": [text.format("Oslo", n)],
        }
        for n in range(1_000)
    ]
    words = evaluation(tmp_path, records, *at(llm_server, "--dry_run"))
    estimate = ufo(*words, "--json").json
    assert estimate["responses"] == 1_000
    assert estimate["sampled"] == 200
    (extract,) = (row for row in estimate["rows"] if row["step"] == "extract")
    assert extract["calls"] == 1_000
    assert extract["cost_usd"] is None
    assert estimate["total"]["cost_usd"] is None
    (line,) = (line for line in ufo(*words).out.splitlines() if "extract" in line)
    assert line.split()[-1] == "unknown"


def test_an_estimate_has_a_total_and_writes_nothing(
    evaluate: Any, llm_server: LlmServer, tmp_path: Path
) -> None:
    estimate = evaluate("--sources", "reference,llm", "--dry_run", "--json").json
    assert estimate["responses"] == 20
    assert estimate["sampled"] == 20
    for what in COUNTED:
        assert estimate["total"][what] == pytest.approx(sum(row[what] for row in estimate["rows"]))
    assert llm_server.requests == []
    assert [path.name for path in tmp_path.iterdir()] == ["prices.yaml"]


@pytest.mark.parametrize(
    ("sampled", "gone_through"), [(200, "200"), (1_000, "all")], ids=["a sample", "all"]
)
def test_an_estimate_is_told(
    capsys: pytest.CaptureFixture[str], sampled: int, gone_through: str
) -> None:
    row = {"step": "verify", "source": "llm", "model": "m", "calls": 1_000, "cost_usd": 1_000.5}
    row |= {"prompt_tokens": 2_000, "completion_tokens": 3_000}
    total = {**row, "step": "total", "source": None, "model": "", "cost_usd": None}
    sizes = {"responses": 1_000, "sampled": sampled, "method": ""}
    print_estimate({**sizes, "rows": [row], "total": total}, as_json=False)
    _, _, first, last, last_line, *_ = capsys.readouterr().out.splitlines()
    assert first.split() == ["verify", "llm", "m", "1,000", "2,000", "3,000", "$1,000.5000"]
    assert last.split() == ["total", "–", "–", "1,000", "2,000", "3,000", "unknown"]
    assert last_line == f"1,000 responses, {gone_through} of them gone through; nothing was sent."


def test_a_table_for_people(evaluate: Any, responses: Path) -> None:
    done = evaluate("--sources", "reference,llm", "--dry_run")
    lines = done.out.splitlines()
    assert lines[0].split() == ["step", "source", "model", *COUNTED]
    steps = Counter(line.split()[0] for line in lines if line.strip())
    expected = {"extract": 1, "knowledge": 1, "verify": 2, "total": 1}
    assert steps | expected == steps
    assert "nothing was sent" in done.out
    assert done.out.count("Assumed: ") == 2
    assert "Not counted: " in done.out
    # A run that asks no model costs nothing; what would end it ends the estimate.
    offline = ("--input", responses, "--sources", "reference", "--judge", "offline", "--dry_run")
    free = ufo("evaluate", *offline, "--json").json
    assert free["rows"] == []
    assert free["total"]["cost_usd"] == 0
    evaluate("--dry_run", "--sources", "nobody", code=2)
    evaluate("--dry_run", "--input", "none.jsonl", code=2)


# --- What a run has spent, and a cap on it: over all its processes and attempts.


CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi"]


@pytest.fixture
def spend(tmp_path: Path, model: Any) -> Callable[..., Any]:
    """Evaluates six responses in three chunks, each one call."""
    records = []
    for city in CITIES:
        claim = {"claim": f"{city} has 5 bridges.", "query": f"How many bridges has {city}?"}
        answers = f"{city} is a large city. {city} has 5 bridges."
        record = {"id": city, "response": claim["claim"], "reference_answers": answers}
        records.append({**record, "claims": [claim]})
    words = evaluation(tmp_path, records, *model, "--chunk_size", 2, "--run", "r", "--json")

    def run(output: str, *flags: object, code: int = 0) -> Any:
        places = ("--output", tmp_path / output, "--cache", tmp_path / f"{output}.sqlite")
        return ends(code, *words, *places, "--concurrency", 1, *flags)

    return run


def billed(chats: Sequence[Logged]) -> float:
    return sum(INPUT * c.prompt_tokens + OUTPUT * c.completion_tokens for c in chats) / 1e6


@pytest.mark.slow
def test_a_run_stops_before_its_cap_and_goes_on_with_a_higher_one(
    spend: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    whole = spend("whole")
    cost, calls = billed(llm_server.chats), len(llm_server.chats)
    assert whole.json["cost_usd"] == pytest.approx(cost)

    llm_server.requests.clear()
    cap = 0.6 * cost
    stopped = spend("capped", "--workers", 2, "--max_cost", cap, code=4)
    assert "Traceback" not in stopped.err
    assert "stopped at --max_cost" in stopped.err
    assert "higher --max_cost" in stopped.err
    assert 0 < billed(llm_server.chats) <= cap
    (log,) = tmp_path.glob("capped/run=r/.attempt-*/usage.jsonl")
    assert UsageReader(str(log)).totals()[COST] == pytest.approx(billed(llm_server.chats))

    # What earlier attempts spent counts.
    sent = len(llm_server.chats)
    spend("capped", "--max_cost", cap, code=4)
    assert billed(llm_server.chats) <= cap

    spend("capped", "--workers", 2, "--max_cost", 3 * cost)
    assert sent < calls
    assert len(llm_server.chats) <= calls + 3  # probes
    capped, expected = (results(tables(tmp_path / name)) for name in ("capped", "whole"))
    assert capped == expected


def test_a_cap_of_nothing_sends_nothing(spend: Any, llm_server: LlmServer) -> None:
    spend("out", "--max_cost", 0, code=4)
    assert llm_server.requests == []


def test_a_model_without_a_price_has_an_unknown_cost(spend: Any, tmp_path: Path) -> None:
    done = spend("out", "--model", "offline-judge-small")
    assert done.json["cost_usd"] is None
    assert "No price is known for offline-judge-small" in done.err
    assert done.json["tokens"] > 0
    costs = rows(tmp_path / "out", "SELECT DISTINCT cost_usd FROM usage")
    assert costs == [{"cost_usd": None}]


def test_an_unknown_price_is_unknown_from_the_cache_too(spend: Any, tmp_path: Path) -> None:
    for output in ("cold", "warm"):
        spend(output, "--model", "offline-judge-small", "--cache", tmp_path / "shared.sqlite")
    sql = "SELECT n_requests, n_cached, cold_usd FROM cost WHERE step = 'verify'"
    selected = rows(tmp_path / "warm", sql)
    assert selected == [{"n_requests": 0, "n_cached": len(CITIES), "cold_usd": None}]


# --- over all that a run took: stopped tries, retried errors

SENT = "SELECT * FROM usage WHERE NOT (cached OR coalesced)"


def _told(output: Path) -> set[tuple[str, str, int | None]]:
    return {(r["request_id"], r["status"], r["prompt_tokens"]) for r in rows(output, SENT)}


@pytest.mark.slow
def test_a_run_that_was_stopped_tells_what_it_had_spent(
    spend: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    llm_server.faults.extend([None, None, faults.status(500), None, faults.quota_spent()])
    spend("out", code=1)
    sent = len(llm_server.chats)
    done = spend("out")
    selected = rows(tmp_path / "out", SENT)
    assert len(selected) == len(llm_server.chats) > sent
    assert sorted(row["status"] for row in selected if row["status"] != "ok") == ["429", "500"]
    # What the endpoint turned away is not billed.
    answered = [entry for entry in llm_server.chats if entry.status == 200]
    assert done.json["cost_usd"] == pytest.approx(billed(answered))
    assert done.json["tokens"] == sum(e.prompt_tokens + e.completion_tokens for e in answered)
    assert done.json["requests"] == len(llm_server.chats)
    # Each of them once, with the response that it was for.
    assert len(_told(tmp_path / "out")) == len(selected)
    assert {row["response_id"] for row in selected} == {None, *CITIES}


@pytest.mark.slow
def test_a_run_since_another_pays_for_new_and_changed_responses_alone(
    spend: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    spend("out")
    _, lima, *kept = (tmp_path / "in.jsonl").read_text().splitlines()
    changed, new = lima.replace("5 bridges", "7 bridges"), lima.replace("Lima", "Perth")
    (tmp_path / "in.jsonl").write_text("\n".join([new, *kept, changed]))
    llm_server.requests.clear()
    done = spend("out", "--run", "next", "--since", "r").json
    assert {body_city(entry) for entry in llm_server.chats} - {"probe"} == {"Lima", "Perth"}
    assert done["requests"] == len(llm_server.chats)
    assert done["tokens"] == sum(e.prompt_tokens + e.completion_tokens for e in llm_server.chats)
    assert done["cost_usd"] == pytest.approx(billed(llm_server.chats))
    with open_results(tmp_path / "out", "next") as reread:
        reused = reread.query("SELECT response_id FROM usage WHERE cached").to_pylist()
    assert Counter(row["response_id"] for row in reused) == Counter(CITIES[2:])


def body_city(entry: Logged) -> str:
    """The city that a request is about."""
    text = json.dumps(entry.body)
    return next((city for city in (*CITIES, "Perth") if city in text), entry.step)


@pytest.mark.slow
def test_retried_errors_keep_what_the_run_had_spent_and_count_for_its_cap(
    spend: Any, tmp_path: Path, llm_server: LlmServer
) -> None:
    # The probe is answered; the first two verifications and what repairs them are not.
    llm_server.faults.extend([None, *[faults.refusal()] * 4])
    first = spend("out")
    before = _told(tmp_path / "out")
    again = ("--if_finished", "retry_errors")
    spend("out", *again, "--max_cost", first.json["cost_usd"], code=4)
    assert len(llm_server.chats) == len(before)
    done = spend("out", *again)
    after = _told(tmp_path / "out")
    assert before < after
    assert len(after) == len(llm_server.chats)
    assert done.json["cost_usd"] > first.json["cost_usd"]
    # A run since another one has not spent what that one did.
    sent = len(llm_server.chats)
    later = spend("out", "--run", "next", "--since", "r")
    assert later.json["cost_usd"] == 0
    assert len(llm_server.chats) == sent


# --- a run without a cache, by the numbers of one with it

PRICED: Mapping[str, Any] = {
    "functions": (),
    "steps": ("--formulation", "stepwise"),
    "a rationale on each sentence": ("--formulation", "rationale", "--units", "sentence"),
    "samples one by one": ("--samples", 3, "--sampling", "per_query"),
    "no sharing": ("--no_share",),
    "batches": ("--batch",),
}
BENCHMARK = (
    "SELECT mode, source_order, n_calls, round(cost_usd, 9) AS usd FROM source_benchmark "
    "ORDER BY ALL"
)
COLD = (
    "SELECT step, source, cold_requests, cold_tokens, round(cold_usd, 9) AS usd FROM cost "
    "WHERE step <> 'probe' ORDER BY ALL"
)
PAID = "SELECT sum(n_requests) AS n, sum(cost_usd) AS usd FROM cost WHERE step <> 'probe'"


@pytest.fixture
def all_sources(evaluate: Any) -> Callable[..., Any]:
    return partial(evaluate, "--sources", "reference,wikipedia,llm", "--mode", "all")


@pytest.mark.parametrize("flags", PRICED.values(), ids=PRICED)
def test_a_cached_run_tells_what_a_cold_one_takes(
    all_sources: Any, tmp_path: Path, flags: Sequence[object]
) -> None:
    cold, warm = tmp_path / "cold", tmp_path / "warm"
    all_sources("--output", cold, *flags)
    all_sources("--output", warm, *flags)
    assert rows(warm, PAID) == [{"n": 0, "usd": None}]
    (paid,) = rows(cold, PAID)
    assert paid["n"] > 0
    assert rows(warm, COLD) == rows(cold, COLD)
    assert rows(warm, BENCHMARK) == rows(cold, BENCHMARK)
