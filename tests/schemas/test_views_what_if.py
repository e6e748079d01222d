"""Verdicts under other rules equal those of a plain reading of the rules on the same rows."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufo.schemas.results import open_results
from ufo.transforms.sources.web.categories import Selection

SOURCES = ("ref", "wiki", "web")
CATEGORIES = ("news", "blog", None)

rules = st.fixed_dictionaries(
    {
        "source_order": st.one_of(
            st.none(), st.permutations(SOURCES), st.permutations(SOURCES[1:]), st.just(["web"])
        ),
        "without_categories": st.one_of(st.none(), st.just(["blog"]), st.just(["other", "news"])),
        "only_categories": st.one_of(st.none(), st.just(["news"]), st.just(["other"])),
        "min_sources": st.integers(1, 3),
        "tie_rule": st.sampled_from([None, "factual", "not_factual"]),
    }
)
PASSED = ", ".join(f"{name} := ${name}" for name in ("min_sources", "tie_rule")) + "".join(
    f", {name} := ${name}::VARCHAR[]"
    for name in ("source_order", "without_categories", "only_categories")
)


def naive(unit: list[Any], rule: dict[str, Any], mode: str, tie: str) -> dict[str, Any]:
    """Return {source: (label, votes for, votes against)} of one unit, given rows by source."""

    def kept(category: str | None) -> bool:
        category = category or "other"
        left_out = category in (rule["without_categories"] or ())
        return not left_out and category in (rule["only_categories"] or [category])

    order = list(rule["source_order"] or SOURCES)
    votes = {
        source: [letter for letter, category in unit[SOURCES.index(source)] if kept(category)]
        for source in order
    }
    counts = {source: (found.count("s"), found.count("r")) for source, found in votes.items()}

    def label(s: int, r: int) -> int | None:
        if s == r:
            return int((rule["tie_rule"] or tie) == "factual") if s else None
        return int(s > r)

    valid = [source for source in order if sum(counts[source])]
    enough = len(valid) >= rule["min_sources"]
    pooled = tuple(map(sum, zip(*counts.values(), strict=True)))
    if mode == "single":
        alone = rule["min_sources"] == 1
        return {source: (label(*n) if alone else None, *n) for source, n in counts.items()}
    if mode == "mv":
        return {"multi": (label(*pooled) if enough else None, *pooled)}
    if enough and valid:
        return {valid[0]: (label(*counts[valid[0]]), *counts[valid[0]])}
    return {"none": (None, *pooled)}


def rows_with_categories(
    rows_of: Callable[..., Any], drawn: list[Any], tie: str
) -> dict[str, list[Any]]:
    """Return a run of one response; a unit has, by source, the (vote, category) of its passages."""
    votes = {
        "r": {
            f"u{n}": {
                source: "".join(letter for letter, _ in found) or "-"
                for source, found in zip(SOURCES, unit, strict=True)
            }
            for n, unit in enumerate(drawn)
        }
    }
    rows = rows_of(votes, SOURCES, "all", tie)
    categories = {
        f"{source}:r-u{n}-{rank}": category
        for n, unit in enumerate(drawn)
        for source, found in zip(SOURCES, unit, strict=True)
        for rank, (_, category) in enumerate(found)
    }
    rows["passages"] = [
        replace(row, source_category=categories[row.passage_id]) for row in rows["passages"]
    ]
    return rows


@pytest.fixture(name="runs", scope="module", params=["factual", "not_factual"])
def _runs(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    request: pytest.FixtureRequest,
) -> Iterator[tuple[Any, ...]]:
    draw = random.Random(17)
    drawn = [
        [
            [(draw.choice("srne"), draw.choice(CATEGORIES)) for _ in range(draw.randrange(4))]
            for _ in SOURCES
        ]
        for _ in range(150)
    ]
    folder = tmp_path_factory.mktemp("run")
    tie = request.param
    write_run(folder, rows_with_categories(rows_of, drawn, tie), mode="all", tie=tie)
    with open_results(folder) as results:
        yield results, drawn, tie


@settings(max_examples=10)
@given(rules)
def test_sql_gives_the_verdicts_of_the_rules(runs: tuple[Any, ...], rule: dict[str, Any]) -> None:
    results, drawn, tie = runs
    found = results.query(f"FROM verdicts_if({PASSED})", rule).to_pylist()
    assert all(row["answerable"] for row in found)
    for mode in ("seq", "mv", "single"):
        got = {
            (row["unit_id"], row["source"]): (row["label"], row["n_supported"], row["n_refuted"])
            for row in found
            if row["mode"] == mode
        }
        assert got == {
            (f"u{n}", source): row
            for n, unit in enumerate(drawn)
            for source, row in naive(unit, rule, mode, tie).items()
        }
        if mode != "single":
            labels = [row[0] for row in got.values()]
            (score,) = results.query(
                "SELECT n_supported, n_refuted, n_unknown, factuality_score, coverage "
                f"FROM scores_if($wanted, {PASSED})",
                {**rule, "wanted": mode},
            ).to_pylist()
            assert score == {
                "n_supported": labels.count(1),
                "n_refuted": labels.count(0),
                "n_unknown": 0,
                "factuality_score": labels.count(1) / len(drawn),
                "coverage": (len(drawn) - labels.count(None)) / len(drawn),
            }


@pytest.fixture(name="found")
def _found(ask: Callable[..., Any], rows_of: Callable[..., Any]) -> Callable[..., Any]:
    def found(
        votes: dict[str, Any], sql: str, mode: str = "all", hosts: dict[str, str] | None = None
    ) -> list[Any]:
        rows = rows_of(votes, mode=mode)
        rows["passages"] = [
            replace(row, hostname=(hosts or {}).get(row.passage_id)) for row in rows["passages"]
        ]
        return ask(rows, mode)(sql)

    return found


def test_single_passages_can_be_left_out(found: Callable[..., Any]) -> None:
    votes = {"r": {"u": {"ref": "sr", "wiki": "r"}}}
    sql = "SELECT source, label FROM verdicts_if(without_passages := {}) WHERE mode = 'seq'"
    assert found(votes, sql.format("['ref:r-u-1']")) == [("ref", 1)]
    assert found(votes, sql.format("['ref:r-u-0', 'ref:r-u-1']")) == [("wiki", 0)]
    assert found(votes, sql.format("[]")) == [("ref", 0)]


def test_a_domain_covers_its_subdomains_and_nothing_else(found: Callable[..., Any]) -> None:
    votes = {"r": {"u": {"ref": "s", "wiki": "sss"}}}
    hosts = {
        "wiki:r-u-0": "example.org",
        "wiki:r-u-1": "news.example.org",
        "wiki:r-u-2": "notexample.org",
    }
    sql = "SELECT source, n_supported FROM verdicts_if({}) WHERE mode = 'single' ORDER BY source"
    without = "without_domains := ['example.org']"
    assert found(votes, sql.format(without), hosts=hosts) == [("ref", 1), ("wiki", 1)]
    only = "only_domains := ['example.org']"
    assert found(votes, sql.format(only), hosts=hosts) == [("ref", 0), ("wiki", 2)]


HOSTS = ("example.org", "news.example.org", "newsexample.org", "ex.gov", "gov", "a.ex.gov", "[::1]")


@pytest.mark.parametrize("domain", ["example.org", "*.gov", "news.*", "ex?mple.org", "ex.*", "*"])
def test_a_domain_covers_what_it_covers_where_passages_are_chosen(
    found: Callable[..., Any], domain: str
) -> None:
    rows = ", ".join(f"('{host}')" for host in HOSTS)
    rows = found(
        {}, f"SELECT host, domain_covers('{domain}', host) FROM (VALUES {rows}) AS t(host)"
    )
    chosen = Selection(include_domains=[domain])
    assert dict(rows) == {host: chosen.admits_host(host) for host in HOSTS}


def test_an_address_is_no_pattern_and_no_hostname_is_of_no_domain(
    found: Callable[..., Any],
) -> None:
    pairs = "domain_covers('[::1]', '[::1]'), domain_covers('[::1]', ':'), domain_covers('*', NULL)"
    assert [tuple(row) for row in found({}, f"SELECT {pairs}")] == [(True, False, False)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("source_order := NULL", {"u1": True, "u2": True, "u3": True}),
        ("source_order := ['ref']", {"u1": True, "u2": True, "u3": True}),
        # wiki was not asked about u1, which ref had decided.
        ("source_order := ['wiki', 'ref']", {"u1": False, "u2": True, "u3": True}),
        ("source_order := ['wiki']", {"u1": False, "u2": True, "u3": True}),
        # Whether a second source would have had a vote is not known.
        ("min_sources := 2", {"u1": False, "u2": True, "u3": True}),
        ("without_categories := ['other']", {"u1": False, "u2": True, "u3": True}),
    ],
)
def test_a_run_of_mode_seq_knows_only_what_it_asked(
    found: Callable[..., Any], rule: str, expected: dict[str, bool]
) -> None:
    votes = {
        "r": {
            "u1": {"ref": "s"},
            "u2": {"ref": "n", "wiki": "r"},
            "u3": {"ref": "n", "wiki": "-"},
        }
    }
    sql = f"SELECT unit_id, answerable FROM verdicts_if({rule}) WHERE mode = 'seq'"
    assert dict(found(votes, sql, "seq")) == expected
    unknown = f"SELECT n_unknown FROM scores_if('seq', {rule})"
    assert found(votes, unknown, "seq") == [(list(expected.values()).count(False),)]


def test_what_single_needs_and_was_not_asked_is_unknown(found: Callable[..., Any]) -> None:
    votes = {"r": {"u1": {"ref": "s"}, "u2": {"ref": "n", "wiki": "r"}}}
    sql = "SELECT source, n_unknown, factuality_score FROM scores_if('single') ORDER BY source"
    assert found(votes, sql, "seq") == [("ref", 0, 0.5), ("wiki", 1, 0.0)]
