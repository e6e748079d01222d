"""Views on tables small enough to compute by hand, sources alone and in every order against
verdicts recomputed order by order, and the files of views; test_snapshots.py has what they give."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.schemas.labelled import people, request, verdicts
from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results
from ufo.schemas.views import View, load_views, parse_view, tables_of, views_with_needs
from ufo.transforms.scores import VoteRules
from ufo.transforms.what_if import recompute, scores_if

Ask = Callable[..., Any]


def test_responses_without_a_score_are_counted_apart(ask: Ask) -> None:
    votes = {
        "fine": {"a": {"ref": "s"}},
        "silent": {},
        "failed": {"b": {"ref": "e"}},
        "foreign": {"c": {"ref": "n"}, "d": {"ref": "n"}},
    }
    rows = rows_of(votes, ("ref",))
    rows["evidence"][2:] = [replace(r, reason="unsupported_language") for r in rows["evidence"][2:]]
    query = ask(rows)
    assert query("SELECT response_id, no_score, factuality_score FROM scores ORDER BY ALL") == [
        ("failed", "nothing usable", None),
        ("fine", None, 1.0),
        ("foreign", "unsupported language", None),
        ("silent", "no claim", None),
    ]
    counts = "n_responses, n_without_units, n_unjudged, n_unsupported, factuality_score"
    assert query(f"SELECT {counts} FROM scores_by_run") == [(4, 1, 1, 1, 1.0)]


# What was said, what people say, and what follows: n_labelled, n_false, n_na, n_na_before_repair,
# n_wrong; the rates of errors over answered facts and, the last two, with unanswered ones.
ERRORS = {
    # Three false facts: one found, one missed, one unanswered; one false alarm among the true.
    ("ftFt--", "ffttft"): ((6, 3, 2, 3, 2), (1 / 2, 1 / 2, 1 / 2, 1 / 2, 4 / 6, 2 / (2 + 4))),
    ("tttt", "tttt"): ((4, 0, 0, 0, 0), (0, None, None, None, 0, None)),
    ("fttt", "tttt"): ((4, 0, 0, 0, 1), (0.25, 0, None, None, 0.25, None)),
    ("tttt", "ffff"): ((4, 4, 0, 0, 4), (1, None, 0, 0, 1, 0)),
    ("nffN", "ffff"): ((4, 4, 0, 1, 0), (0, 1, 1, 1, 0, 1)),
    # All false facts are unanswered: over answered facts there is none.
    ("tt--", "ttff"): ((4, 2, 2, 2, 0), (0, None, None, None, 0.5, 0)),
    ("----", "tfff"): ((4, 3, 4, 4, 0), (None, None, None, None, 1, 0)),
}


def test_errors_over_answered_facts_and_with_unanswered_ones(ask: Ask) -> None:
    # What nobody labelled and people themselves are no errors.
    rows = [*verdicts("a", "none", "tf", "tf", "  "), *people("a", "none", "tf")]
    for letters, human in ERRORS:
        rows += verdicts("a", f"{letters} {human}", "tf", letters, human)
    columns = (
        "variant, n_labelled, n_false, n_na, n_na_before_repair, n_wrong, error_rate, "
        "precision_false, recall_false, f1_false, error_rate_with_na, f1_false_with_na"
    )
    query = ask(rows_of({}) | {"recall_verdicts": rows}, "recall")
    table = query(f"SELECT {columns} FROM recall_errors")
    assert {tuple(row[0].split()): (row[1:6], row[6:]) for row in table} == {
        pair: (counts, pytest.approx(rates)) for pair, (counts, rates) in ERRORS.items()
    }


# --- sources alone and in every order ---

SOURCES = ("ref", "wiki", "web")
SCORED = ("factuality_score", "coverage")
AGREEMENT = ("accuracy", "balanced_accuracy", "accuracy_all", "balanced_accuracy_all")


def agreement(verdicts: list[list[int]]) -> tuple[float, ...]:
    """Return accuracy and balanced accuracy; the first verdicts are those of false claims."""
    right = [[label == human for label in one] for human, one in enumerate(verdicts)]
    return sum(map(sum, right)) / sum(map(len, right)), sum(sum(o) / len(o) for o in right) / 2


def test_every_order_scores_as_its_verdicts_do(tmp_path: Path) -> None:
    draw = random.Random(3)
    votes = {
        f"r{n}": {
            f"u{n}-{u}": {source: draw.choice(["s", "r", "sr", "n", "-"]) for source in SOURCES}
            for u in range(draw.randrange(0, 5))
        }
        for n in range(25)
    }
    labels = {unit: draw.choice([0, 1, 1, None]) for units in votes.values() for unit in units}
    write_run(tmp_path, rows_of(votes, SOURCES, "all", labels=labels), mode="all")
    with open_results(tmp_path) as results:
        by_order = {
            (row["mode"], row["source_order"]): row
            for row in results.query("FROM source_benchmark").to_pylist()
        }
        ways = [("seq", order) for order in permutations(SOURCES)]
        ways += [("single", (source,)) for source in SOURCES] + [("mv", SOURCES)]
        assert set(by_order) == {(mode, ",".join(order)) for mode, order in ways}
        for mode, order in ways:
            rules = VoteRules(order, mode)
            score = scores_if(results, rules)[0]
            verdicts = [row for _, scores in recompute(results, rules) for row in scores.verdicts]
            judged = [
                [row.label for row in verdicts if labels[row.unit_id] == human] for human in (0, 1)
            ]
            decided = [[label for label in one if label is not None] for one in judged]
            everything = [[label or 0 for label in one] for one in judged]
            row = by_order[mode, ",".join(order)]
            assert row["given"] == (mode == "seq" and order == SOURCES)
            assert row["n_labelled"] == sum(map(len, judged))
            expected = [score[name] for name in SCORED]
            expected += [*agreement(decided), *agreement(everything)]
            assert [row[name] for name in (*SCORED, *AGREEMENT)] == pytest.approx(expected)
    measures = ("balanced_accuracy_all", "accuracy_all")
    in_order = [row for row in by_order.values() if row["mode"] == "seq"]
    best = max(in_order, key=lambda row: [round(row[name], 9) for name in measures])
    assert best["rank_by_people"] == 1


def test_an_order_is_charged_for_what_earlier_sources_leave_open(ask: Ask) -> None:
    costs = "SELECT mode, source_order, n_calls, cost_usd FROM source_benchmark"
    votes = {
        "a": {f"a{n}": {"ref": "s" if n < 3 else "n", "wiki": "r"} for n in range(4)},
        "b": {"b0": {"ref": "s", "wiki": "s"}},
    }
    rows = rows_of(votes, mode="all")
    rows["usage"] = [
        request("a", None, 9.0),  # extraction is no source's
        request("a", "ref", 0.4),
        *(request("a", "wiki", 0.25) for _ in range(8)),  # two requests a unit
        request("b", "wiki", 0.5),
        request("b", "wiki", 7.0, coalesced=True),  # charged to who asked first
        request("b", "ref", 0.0, cached=True),  # it would have been needed
    ]
    assert {row[:2]: row[2:] for row in ask(rows, "all")(costs)} == {
        ("single", "ref"): (2, pytest.approx(0.4)),
        ("single", "wiki"): (9, pytest.approx(2.5)),
        ("mv", "ref,wiki"): (11, pytest.approx(2.9)),
        # One of four units of a is open: two of eight requests. b is settled.
        ("seq", "ref,wiki"): (4, pytest.approx(0.9)),
        ("seq", "wiki,ref"): (9, pytest.approx(2.5)),
    }
    # A cost that nobody knows is not a sum.
    rows = rows_of({"a": {"a0": {"ref": "s", "wiki": "s"}}}, mode="all")
    rows["usage"] = [request("a", "ref", 0.5), request("a", "wiki", 0.5, cost_usd=None)]
    assert {row[:2]: row[3] for row in ask(rows, "all")(costs)} == {
        ("single", "ref"): 0.5,
        ("single", "wiki"): None,
        ("mv", "ref,wiki"): None,
        ("seq", "ref,wiki"): 0.5,  # ref settles all of it
        ("seq", "wiki,ref"): None,
    }


def test_six_sources_have_all_their_orders_and_seven_are_refused(ask: Ask) -> None:
    names = "abcdef"
    votes = {"r": {"u": {name: "s" if name == "f" else "n" for name in names}}}
    sql = "SELECT mode, count(*), min(coverage) FROM source_benchmark GROUP BY ALL"
    rows = ask(rows_of(votes, names, mode="all"), "all")(sql)
    assert set(rows) == {("seq", 720, 1.0), ("single", 6, 0.0), ("mv", 1, 1.0)}
    votes["r"]["u"]["g"] = "n"
    refused = ask(rows_of(votes, "abcdefg", mode="all"), "all")
    with pytest.raises(UsageError, match=r"^the orders of 7 sources .*ufo benchmark DIR --order"):
        refused(sql)


# --- the files of views ---

HEADER = """-- Title: in one line
-- Help, in
-- note: two lines.
-- group: cost
-- summary: A line
-- needs: scores, , cluster_of
-- order: run, model
-- shows: run
-- empty: nothing was asked
-- parameters: a, b := NULL

SELECT 1 AS one;
-- group: scores
SELECT 2;
"""


def test_each_field_of_a_header_is_read() -> None:
    assert parse_view("mine", HEADER) == View(
        name="mine",
        title="Title: in one line",
        help="Help, in note: two lines.",
        sql="SELECT 1 AS one;\n-- group: scores\nSELECT 2",
        needs=("scores", "cluster_of"),
        order="run, model",
        shows="run",
        empty="nothing was asked",
        parameters="a, b := NULL",
        group="cost",
        summary="A line",
    )


@pytest.mark.parametrize("text", ["SELECT 1", "\n SELECT 1 ;\n", "-- order: run\nSELECT 1"])
def test_a_file_without_a_title_has_its_name(text: str) -> None:
    view = parse_view("mine", text)
    assert view.title == "mine"
    assert view.help == ""
    assert view.sql.strip() == "SELECT 1"


@pytest.mark.parametrize(
    ("name", "parameters", "sql", "definition"),
    [
        ("a b", None, "SELECT 1", 'CREATE VIEW "a b" AS SELECT 1'),
        ('a"b', None, "FROM x", 'CREATE VIEW "a""b" AS FROM x'),
        ("m", "", "SELECT 1", "CREATE MACRO m() AS TABLE SELECT 1"),
        ("m", "a", " select a", "CREATE MACRO m(a) AS TABLE  select a"),
        (
            "m",
            "a",
            "WITH x AS (FROM y) FROM x",
            "CREATE MACRO m(a) AS TABLE WITH x AS (FROM y) FROM x",
        ),
        ("m", "a", "FROM x", "CREATE MACRO m(a) AS TABLE FROM x"),
        ("m", "a", "a + (SELECT 1)", "CREATE MACRO m(a) AS a + (SELECT 1)"),
    ],
    ids=["a view", "a quote", "no parameter", "small letters", "WITH", "FROM", "an expression"],
)
def test_a_view_or_a_macro_is_created(
    name: str, parameters: str | None, sql: str, definition: str
) -> None:
    assert View(name, "", "", sql, parameters=parameters).definition == definition


def test_reports_of_ones_own_come_after_the_shipped_ones_and_their_needs(tmp_path: Path) -> None:
    files = {"b.sql": "-- B\n-- group: cost\nSELECT 1", "a.sql": "-- needs: b\nSELECT 2"}
    for name, text in (files | {"c.txt": "no report"}).items():
        (tmp_path / name).write_text(text)
    shipped, (first, second) = load_views(tmp_path)[:-2], load_views(str(tmp_path))[-2:]
    assert {view.name for view in shipped} == {view.name for view in load_views()}
    assert [(view.name, view.title, view.group) for view in (first, second)] == [
        ("b", "B", "own"),
        ("a", "a", "own"),
    ]


@pytest.mark.parametrize("name", ["scores", "cluster_of", "evidence", "labels", "runs"])
def test_a_report_may_not_have_the_name_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.sql").write_text("SELECT 1")
    with pytest.raises(UsageError, match=f"{name}.sql has the name of a shipped report or"):
        load_views(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_report_may_begin_with_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.sql").write_text("-- Größe\nSELECT 1", encoding)
    assert load_views(tmp_path)[-1].title == "Größe"


def test_a_report_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.sql").mkdir()
    with pytest.raises(UsageError, match=f"cannot read the report {tmp_path}/a.sql: "):
        load_views(tmp_path)


def test_views_are_made_with_those_they_need() -> None:
    names = [view.name for view in views_with_needs({"scores_by_run", "evidence"})]
    assert set(names) == {"scores_by_run", "score_means", "cluster_of", "scores", "run_modes"}
    for name, needed in (("scores", "run_modes"), ("score_means", "scores")):
        assert names.index(needed) < names.index(name)


def test_the_tables_of_a_view_are_named_in_its_sql() -> None:
    views = [View("a", "evidence", "", sql) for sql in ("FROM usage, labels", "FROM sources_x")]
    assert tables_of(views) == {"usage", "labels"}
