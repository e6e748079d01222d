"""Labels speak for the claims that they were drawn from, and annotators may differ."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ends, ok, read_csv, write_csv
from ufo.pipelines.labels import import_sheet
from ufo.schemas.errors import UsageError
from ufo.schemas.label_sheets import keep_label
from ufo.schemas.labels import Label
from ufo.schemas.results import open_results
from ufo.schemas.tables import LABEL_POPULATIONS, LABELS, arrow_schema

Ask = Callable[..., list[dict[str, Any]]]


def votes(names: Iterable[str], letters: str = "s") -> dict[str, Any]:
    """The votes of responses of one claim each."""
    return {name: {f"{name}-u": {"ref": letters}} for name in names}


OLD = [f"a{n:03}" for n in range(200)]
NEW = [f"b{n:03}" for n in range(200)]


@pytest.fixture(name="runs")
def _runs(tmp_path: Path) -> Path:
    """Run A of 200 claims, AB that took these over and has 200 more, A2 of A's by another judge."""
    folder = tmp_path / "out"
    for name, day, rows in (
        ("A", 1, votes(OLD)),
        ("AB", 2, votes([*OLD, *NEW])),
        ("A2", 3, votes(OLD, "r")),
        ("AC", 4, votes([*OLD[:40], *NEW])),
    ):
        write_run(folder, rows_of(rows, ("ref",)), name, finished_at=f"2025-06-0{day}T00:00:00Z")
    return folder


@pytest.fixture(name="ask")
def _ask(runs: Path) -> Ask:
    def ask(sql: str, run: str | None = None) -> list[dict[str, Any]]:
        with open_results(runs, run) as results:
            rows: list[dict[str, Any]] = results.query(sql).to_pylist()
            return rows

    return ask


def drawn(runs: Path, sheet: Path, n: int, run: str, of_true: int, **more: str) -> Path:
    """Draw a sheet of n claims, label the first `of_true` as true and the others as false, and read
    it back."""
    ok("label", "sample", runs, "--n", n, "--run", run, "--output", sheet)
    rows = read_csv(sheet)
    for at, row in enumerate(rows):
        row |= {"label": "supported" if at < of_true else "contradicted"} | more
    write_csv(sheet, rows)
    ok("label", "import", runs, sheet)
    return sheet


CORRECTED = (
    "SELECT level, corrected_score AS score, low, high, n_labelled, n_covered, n_units, "
    "covered_share AS share FROM corrected_scores WHERE level IN ('run', 'sampled')"
)


def test_labels_of_a_run_are_no_sample_of_one_that_took_over_its_claims(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    drawn(runs, tmp_path / "Ann.csv", 100, "A", 50)
    (whole,) = ask(CORRECTED, "A")
    assert (whole["score"], whole["share"]) == (0.5, 1.0)
    assert 0.39 < whole["low"] < 0.45 < 0.55 < whole["high"] < 0.61
    # Half of AB's claims were never to be drawn.
    whole, part = ask(CORRECTED, "AB")
    assert (whole["n_labelled"], whole["n_covered"], whole["n_units"]) == (100, 200, 400)
    assert whole["score"] == pytest.approx(0.5 * 0.5 + 0.5 * 1.0)  # the judge supports all of them
    assert whole["low"] < 0.25 < 0.7 < whole["high"]
    assert part["level"] == "sampled"
    assert part["score"] == 0.5
    assert part["n_units"] == 200
    printed = ok("report", runs, "--run", "AB").out
    assert "from 100 labels that speak for 200 of 400 claims" in " ".join(printed.split())
    assert "Of these 200 claims 0.500" in printed
    assert f"ufo label sample {runs} --run AB" in " ".join(printed.split())
    # In AC they speak for 40 of 240 claims.
    whole, part = ask(CORRECTED, "AC")
    assert (whole["score"], whole["low"], whole["high"]) == (None, None, None)
    assert whole["share"] == pytest.approx(1 / 6)
    assert part["score"] is not None
    printed = " ".join(ok("report", runs, "--run", "AC").out.split())
    assert "no score of the whole" in printed
    assert "labels speak for 40 of 240 claims, which is less than half" in printed
    assert f"drawn from the other 200 claims: ufo label sample {runs} --run AC" in printed
    # The same claims by another judge: all labels apply.
    (whole,) = ask(CORRECTED, "A2")
    assert (whole["share"], whole["n_labelled"]) == (1.0, 100)
    assert whole["score"] == pytest.approx(0.5)


def test_the_next_sample_is_of_the_claims_that_no_sheet_covers(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    drawn(runs, tmp_path / "Ann.csv", 100, "A", 50)
    message = ok(
        "label", "sample", runs, "--run", "AB", "--n", 50, "--output", tmp_path / "b.csv"
    ).err
    assert "50 of 200 claims that no sheet covers, at random; the other 200 of 400" in message
    rows = read_csv(tmp_path / "b.csv")
    assert {row["response_id"][0] for row in rows} == {"b"}
    assert {(row["stratum"], row["stratum_size"]) for row in rows} == {("not in Ann", "200")}
    for at, row in enumerate(rows):
        row["label"] = "true" if at < 45 else "false"
    write_csv(tmp_path / "b.csv", rows)
    ok("label", "import", runs, tmp_path / "b.csv", "--sheet", "Bob")
    (whole,) = ask(CORRECTED, "AB")
    assert whole["score"] == pytest.approx(0.7)
    assert whole["share"] == 1.0
    assert whole["low"] < 0.7 < whole["high"]
    # Each of AC's parts counts by its size in AC.
    (whole,) = ask(CORRECTED, "AC")
    old = ask("SELECT avg(label) AS mean FROM human_labels WHERE response_id < 'b'", "AC")[0][
        "mean"
    ]
    assert whole["score"] == pytest.approx((40 * old + 200 * 0.9) / 240)
    # With all claims covered a further sheet is drawn from all.
    assert "50 of 400 claims at random" in ok("label", "sample", runs, "--run", "AB", "--n", 50).err


def test_a_sheet_keeps_what_it_was_drawn_from_when_its_run_has_gone(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    sheet = drawn(runs, tmp_path / "Ann.csv", 100, "A", 50)
    before = ask(CORRECTED, "AB")
    (runs / "run=A").rename(tmp_path / "gone")
    assert ask(CORRECTED, "AB") == before
    # The second half of a sheet may come later.
    assert ok("label", "import", runs, sheet, "--json").json["changed"] == 0
    assert ask(CORRECTED, "AB") == before


def test_halves_of_a_sheet_make_the_whole(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = tmp_path / "Ann.csv"
    ok("label", "sample", runs, "--n", 100, "--run", "A", "--output", sheet)
    rows = read_csv(sheet)

    def label_and_import(part: slice) -> None:
        filled = [dict(row) for row in rows]
        for row in filled[part]:
            row["label"] = "yes"
        write_csv(sheet, filled)
        ok("label", "import", runs, sheet)

    label_and_import(slice(0, 50))
    assert ask("SELECT DISTINCT weight FROM labels", "A") == [{"weight": 4.0}]
    label_and_import(slice(50, 100))
    assert ask("SELECT count(*) AS n, min(weight) AS w, max(weight) AS v FROM labels") == [
        {"n": 100, "w": 2.0, "v": 2.0}
    ]


def test_a_tie_counts_half_and_is_listed(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = drawn(runs, tmp_path / "Ann.csv", 100, "A", 50)
    rows = read_csv(sheet)
    write_csv(sheet, rows, label="true")
    done = ok("label", "import", runs, sheet, "--sheet", "Bob")
    assert "100 added, 0 replaced, 0 withdrawn" in done.out
    assert "50 claims with another label by another annotator" in done.out
    (whole,) = ask(CORRECTED, "A")
    assert (whole["score"], whole["n_labelled"]) == (0.75, 100)
    ties = ask("SELECT * FROM label_conflicts", "A")
    assert len(ties) == 50
    assert all(row["tied"] and row["label"] == 0.5 for row in ties)
    assert {row["said"] for row in ties} == {"Ann: false, Bob: true"}
    both = ask("SELECT * FROM label_agreement", "A")
    assert [row["part"] for row in both] == ["all", "pair"]
    assert {row["share_equal"] for row in both} == {0.5}
    assert {row["kappa"] for row in both} == {0.0}
    assert {row["n_units"] for row in both} == {100}
    # The judge supports all of A, so it is wrong by half in each tie.
    (errors,) = ask(
        "SELECT value, n_errors FROM judge_errors WHERE error = 'wrong' AND source = 'all'", "A"
    )
    assert errors == {"value": 0.25, "n_errors": 25.0}
    accuracy = "SELECT value FROM agreement WHERE metric = 'accuracy' AND part = 'all'"
    assert ask(accuracy, "A") == [{"value": 0.75}]
    assert ask("SELECT * FROM disagreements WHERE kind = 'people'", "A") == []
    # A third annotator decides.
    ok("label", "import", runs, sheet, "--sheet", "Cid")
    assert {row["label"] for row in ask("SELECT label FROM label_conflicts", "A")} == {1.0}
    (whole,) = ask(CORRECTED, "A")
    assert whole["score"] == 1.0


def test_a_long_sheet_has_a_row_an_annotator(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    lines = [
        f"{claim},{claim}-u,{who},{label}"
        for claim in OLD[:10]
        for who, label in (("Ann", "true"), ("Bob", "false" if claim < "a005" else "true"))
    ]
    sheet.write_text("\n".join(["response_id,unit_id,annotator,label", *lines]))
    printed = ok("label", "import", runs, sheet, "--json").json
    assert (printed["rows"], printed["added"], printed["contradicted"]) == (20, 20, 5)
    assert {row["annotator"] for row in ask("SELECT annotator FROM labels")} == {"Ann", "Bob"}
    labels = ask("SELECT label, n_labels FROM human_labels ORDER BY response_id", "A")
    assert [row["label"] for row in labels] == [0.5] * 5 + [1.0] * 5
    # Only what is named changes: Bob's of one claim, not Ann's, nor his others.
    sheet.write_text(
        "response_id,unit_id,annotator,label\na000,a000-u,Bob,true\na001,a001-u,Ann,\n"
    )
    printed = ok("label", "import", runs, sheet, "--json").json
    assert (printed["added"], printed["replaced"], printed["changed"], printed["blank"]) == (
        0,
        1,
        1,
        1,
    )
    labels = ask("SELECT label FROM human_labels ORDER BY response_id", "A")
    assert [row["label"] for row in labels] == [1.0] + [0.5] * 4 + [1.0] * 5
    # What somebody could not say in the end is withdrawn.
    sheet.write_text("response_id,unit_id,annotator,label\na001,a001-u,Bob,not found\n")
    printed = ok("label", "import", runs, sheet)
    assert "0 added, 0 replaced, 1 withdrawn" in printed.out
    assert ask("SELECT label FROM human_labels WHERE response_id = 'a001'", "A") == [{"label": 1.0}]


def test_lines_that_cannot_be_read_cost_themselves(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(
        "run,response_id,unit_id,label\nA,a000,a000-u,true\nA,a001,a001-u,maybe\n"
        "A,a002,gone,true\nB,a003,a003-u,true\nA,b000,b000-u,false\nA,a004,a004-u,0.7\n"
        "A,a005,a005-u,no\nA,a005,a005-u,yes\n"
    )
    done = ok("label", "import", runs, sheet)
    assert "8 rows: 2 labelled (1 true, 0 false, 1 between)" in done.out
    assert "left out 5 lines:" in done.err
    for message in (
        "line 3: 'maybe' is no label: true, yes or supported",
        "line 4: no finished run in",
        "line 5: no finished run 'B'",
        "line 6: run 'A' has no claim 'b000-u'",
        "line 9: claim 'a005-u' has another label on line 8; neither is taken",
    ):
        assert message in done.err
    labels = ask("SELECT response_id, label FROM human_labels ORDER BY ALL", "A")
    assert [tuple(row.values()) for row in labels] == [("a000", 1.0), ("a004", 0.7)]
    assert ok("label", "import", runs, sheet, "--json").json["problems"]


@pytest.mark.parametrize(
    ("head", "rows", "message"),
    [
        ("response_id,unit_id,label,label", "a000,a000-u,true,false", "more than one column label"),
        ("response_id,unit_id,label,Label ", "a000,a000-u,true,no", "more than one column label"),
        (
            "response_id,unit_id,label,mine,mine",
            "a000,a000-u,true,x,y",
            "there is more than one column mine; none of them is read",
        ),
        (
            "run,response_id,unit_id,label,stratum,stratum_size",
            "A,a000,a000-u,true,all,500",
            "stratum_size of 'all' is 500, but run A has 200 such claims; 200 is taken",
        ),
        (
            "run,response_id,unit_id,label,stratum,stratum_size",
            "A,a000,a000-u,true,long,50\nA,a001,a001-u,true,long,60\nA,a002,a002-u,,long,60",
            "stratum 'long' has more than one stratum_size: 60 (in 2 rows), 50 (in 1 row)",
        ),
        (
            "run,response_id,unit_id,label,stratum,stratum_size",
            "A,a000,a000-u,true,long,300",
            "the strata of run A have 300 claims by their stratum_size, and the run has 200",
        ),
        (
            "run,response_id,unit_id,label,stratum,stratum_size",
            "A,a000,a000-u,true,all,200",
            "drawn from run A; 40 of its 200 claims are in run AC",
        ),
        (
            "response_id,unit_id,label",
            "a100,a100-u,true",
            "drawn from run A2; 40 of its 200 claims are in run AC",
        ),
    ],
    ids=[
        "two columns of labels",
        "two but for case and space",
        "two other columns",
        "another size",
        "two sizes",
        "strata larger than the run",
        "another run",
        "a run that is not named",
    ],
)
def test_what_is_odd_about_a_sheet_is_said(
    runs: Path, tmp_path: Path, head: str, rows: str, message: str
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(f"{head}\n{rows}\n")
    done = ends(2 if "label,label" in head.lower() else 0, "label", "import", runs, sheet)
    assert message in done.err


def test_a_stratum_whose_size_has_changed_is_said(runs: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    for size in (50, 60):
        sheet.write_text(
            f"run,response_id,unit_id,label,stratum,stratum_size\nA,a000,a000-u,true,long,{size}\n"
        )
        done = ok("label", "import", runs, sheet)
    assert "stratum_size of 'long' was 50, and is 60 now" in done.err


STRATA = "run,response_id,unit_id,label,stratum,stratum_size\n"


@pytest.mark.parametrize(
    ("stratum", "size", "rows", "covered"),
    [
        ("by hand", 60, 20, 20),  # which the other 40 are is not known
        ("by hand", 60, 60, 60),
        ("by model", 50, 20, 50),  # all claims of one model
        ("by data set", 100, 20, 100),
        ("by both", 25, 10, 25),
        ("whole", 200, 20, 200),
    ],
)
def test_a_stratum_of_ones_own_is_a_part_of_a_run(
    runs: Path, ask: Ask, tmp_path: Path, stratum: str, size: int, rows: int, covered: int
) -> None:
    models = {claim: f"m{at % 4}" for at, claim in enumerate(OLD)}
    datasets = {claim: f"d{at // 100}" for at, claim in enumerate(OLD)}
    parts = rows_of(votes(OLD), ("ref",), models=models, datasets=datasets)
    write_run(runs, parts, "S", finished_at="2025-06-05T00:00:00Z")
    drawn_from = {
        "by model": [claim for claim in OLD if models[claim] == "m1"],
        "by both": [claim for claim in OLD if (models[claim], datasets[claim]) == ("m1", "d0")],
    }.get(stratum, OLD)
    lines = [
        f"S,{claim},{claim}-u,{'true' if at < 10 else ''},{stratum},{size}"
        for at, claim in enumerate(drawn_from[:rows])
    ]
    sheet = tmp_path / "s.csv"
    sheet.write_text(STRATA + "\n".join(lines))
    done = ok("label", "import", runs, sheet)
    message = "the sheet has 20 of the 60 claims of stratum 'by hand', and the others are not known"
    assert (message in done.err) == (covered < size)
    whole, *rest = ask(CORRECTED, "S")
    assert (whole["n_labelled"], whole["n_covered"], whole["n_units"]) == (10, covered, 200)
    assert (whole["score"] is None) == (covered < 100)
    assert [row["n_units"] for row in rest] == [covered] * (covered < 200)


def test_strata_that_come_one_by_one_make_the_whole(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    for stratum, names in (("first", OLD[:40]), ("second", OLD[60:100])):
        size = 60 if stratum == "first" else 140
        lines = [f"A,{one},{one}-u,true,{stratum},{size}" for one in names]
        sheet.write_text(STRATA + "\n".join(lines))
        ok("label", "import", runs, sheet)
    (whole,) = ask(CORRECTED, "A")
    assert (whole["n_labelled"], whole["share"]) == (80, 1.0)


def test_a_stratum_without_sheets_that_are_gone_is_of_its_rows(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    lines = [f"AB,{one},{one}-u,true,not in Gone,200" for one in NEW[:30]]
    sheet.write_text(STRATA + "\n".join(lines))
    assert "the sheet has 30 of the 200 claims" in ok("label", "import", runs, sheet).err
    whole, _ = ask(CORRECTED, "AB")
    assert (whole["score"], whole["n_covered"]) == (None, 30)


def test_a_sheet_of_a_run_that_is_gone_speaks_for_its_own_rows(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    sheet = tmp_path / "s.csv"
    ok("label", "sample", runs, "--n", 100, "--run", "A", "--output", sheet)
    rows = read_csv(sheet)
    for name in ("A", "A2"):
        (runs / f"run={name}").rename(tmp_path / name)
    write_csv(sheet, rows, label="true")
    done = ends(2, "label", "import", runs, sheet)
    assert "no finished run 'A'" in done.err
    assert "if it was deleted, leave out the column run" in done.err
    write_csv(sheet, rows, label="true", run="")
    done = ok("label", "import", runs, sheet)
    assert "the sheet has 100 of the 200 claims of stratum 'all'" in done.err
    whole, part = ask(CORRECTED, "AB")
    assert (whole["score"], whole["n_covered"], part["n_units"]) == (None, 100, 100)


def test_an_annotator_who_differs_from_themselves_is_listed(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    for name, label in (("one", "true"), ("two", "false")):
        sheet = tmp_path / f"{name}.csv"
        sheet.write_text(f"response_id,unit_id,annotator,label\na000,a000-u,Ann,{label}\n")
        done = ok("label", "import", runs, sheet)
    assert "1 claim with another label by the same annotator on another sheet" in done.err
    (row,) = ask("SELECT label, tied, said, share_equal FROM label_conflicts", "A")
    assert row == {"label": 0.5, "tied": True, "said": "Ann: false and true", "share_equal": None}


def test_a_majority_between_true_and_false_is_no_tie(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = tmp_path / "s.csv"
    answers = {"Ann": "0.5", "Bob": "0.5", "Cid": "1"}
    lines = [f"a000,a000-u,{who},{label}" for who, label in answers.items()]
    sheet.write_text("\n".join(["response_id,unit_id,annotator,label", *lines]))
    ok("label", "import", runs, sheet)
    assert ask("SELECT label, tied FROM label_conflicts", "A") == [{"label": 0.5, "tied": False}]


def test_agreement_on_one_label_is_said_to_be_undefined(runs: Path, tmp_path: Path) -> None:
    sheet = drawn(runs, tmp_path / "Ann.csv", 10, "A", 10)
    ok("label", "import", runs, sheet, "--sheet", "Bob")
    for row in ok("report", runs, "label_agreement", "--run", "A", "--json").json:
        assert (row["share_equal"], row["kappa"], row["alpha"]) == (1.0, None, None)
        assert row["note"].startswith("kappa and alpha are undefined: all gave one label")


def test_labels_of_the_page_are_of_the_run_on_which_they_were_given(
    runs: Path, ask: Ask, tmp_path: Path
) -> None:
    def say(name: str, run: str, units: list[str]) -> None:
        label = Label(run, name, f"{name}-u", 1, None, None, None, "page", "page")
        keep_label(runs, label, lambda: [(one, f"{one}-u") for one in units])

    for name in OLD[:20]:
        say(name, "A", OLD)
    (whole,) = ask(CORRECTED, "A")
    assert (whole["share"], whole["n_labelled"]) == (1.0, 20)
    (part,) = (row for row in ask(CORRECTED, "AB") if row["level"] == "sampled")
    assert part["n_units"] == 200
    # Three labels given on AB are a sample of what only AB has.
    for name in NEW[:3]:
        say(name, "AB", [*OLD, *NEW])
    (whole,) = ask(CORRECTED, "AB")
    assert (whole["share"], whole["n_labelled"]) == (1.0, 23)
    # Where a sheet was drawn its labels alone count.
    drawn(runs, tmp_path / "Ann.csv", 50, "A", 25)
    (whole,) = ask(CORRECTED, "A")
    assert whole["n_labelled"] == 50


def test_labels_of_an_earlier_version_are_read(runs: Path, ask: Ask, tmp_path: Path) -> None:
    sheet = drawn(runs, tmp_path / "Ann.csv", 100, "A", 50)
    path = runs / LABELS / "Ann.parquet"
    before = ask(CORRECTED, "A")
    rows = pq.read_table(path).drop_columns(["stratum_size"])
    old = arrow_schema(LABELS).field("label").with_type(pa.int64())
    rows = rows.set_column(
        rows.schema.get_field_index("label"), old, rows["label"].cast(pa.int64())
    )
    pq.write_table(rows, path)
    (runs / LABEL_POPULATIONS / "Ann.parquet").unlink()
    # They are of their own run; elsewhere they speak for themselves alone.
    assert ask(CORRECTED, "A") == before
    assert ask("SELECT DISTINCT weight FROM labels") == [{"weight": 2.0}]
    assert ask(CORRECTED, "AB")[0]["score"] is None
    # The sheet again keeps what it was drawn from.
    ok("label", "import", runs, sheet)
    assert ask(CORRECTED, "AB")[0]["share"] == 0.5
    assert ask(CORRECTED, "A") == before


_CELLS = {"": None, "unsure": "", "true": 1.0, "contradicted": 0.0, "0.5": 0.5}
_ROWS = st.dictionaries(
    st.tuples(st.sampled_from(OLD[:4]), st.sampled_from(["Ann", "Bob", "Cid"])),
    st.sampled_from(list(_CELLS)),
    min_size=1,
)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(_ROWS, min_size=1, max_size=4))
def test_imports_add_up_to_what_each_annotator_said_last(
    imports: list[dict[tuple[str, str], str]],
) -> None:
    kept_labels: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), rows_of(votes(OLD[:8]), ("ref",)), "A")
        sheet = Path(folder) / "s.csv"
        for rows in imports:
            lines = [f"{claim},{claim}-u,{who},{label}" for (claim, who), label in rows.items()]
            sheet.write_text("\n".join(["response_id,unit_id,annotator,label", *lines]))
            labels = {key: _CELLS[label] for key, label in rows.items()}
            new = {key: label for key, label in labels.items() if isinstance(label, float)}
            gone = {key for key, label in labels.items() if label == "" and key in kept_labels}
            if not new and not gone:
                with pytest.raises(UsageError, match="has no label"):
                    import_sheet(folder, str(sheet))
                continue
            imported = import_sheet(folder, str(sheet))
            assert imported["added"] == len(new.keys() - kept_labels.keys())
            assert imported["replaced"] == len(new.keys() & kept_labels.keys())
            assert imported["changed"] == sum(
                kept_labels[key] != new[key] for key in new.keys() & kept_labels.keys()
            )
            assert imported["withdrawn"] == len(gone)
            kept_labels = {
                key: label for key, label in kept_labels.items() if key not in gone
            } | new
            assert imported["contradicted"] == len(
                {
                    claim
                    for (claim, who), label in new.items()
                    if any(
                        o == claim and w != who and x != label for (o, w), x in kept_labels.items()
                    )
                }
            )
        if not (Path(folder) / LABELS).exists():
            return
        with open_results(folder) as results:
            kept = results.query("SELECT response_id, annotator, label FROM labels").to_pylist()
            human = results.query("SELECT response_id, label FROM human_labels").to_pylist()
            listed = results.query("SELECT response_id FROM label_conflicts").to_pylist()
    assert {(row["response_id"], row["annotator"]): row["label"] for row in kept} == kept_labels
    by_claim: dict[str, list[float]] = {}
    for (claim, _), label in kept_labels.items():
        by_claim.setdefault(claim, []).append(label)
    assert {row["response_id"]: row["label"] for row in human} == {
        claim: median(labels) for claim, labels in by_claim.items()
    }
    assert {row["response_id"] for row in listed} == {
        claim for claim, labels in by_claim.items() if len(set(labels)) > 1
    }
