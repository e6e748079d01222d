import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.reports.html.conftest import page_of
from tests.pipelines.reports.html.reading import Reader
from ufo.pipelines.cli import main
from ufo.pipelines.reports.html.page import write_html
from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results

TITLES = [
    "Factuality scores",
    "Corrected by people",
    "Who decided",
    "Order of the sources",
    "Agreement with people",
    "Most doubtful responses",
    "Cost",
    "Failures and errors",
]


def of_votes(
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    votes: dict[str, Any],
    mode: str = "seq",
    **changes: Any,
) -> Reader:
    write_run(tmp_path, rows_of(votes, mode=mode) | changes, mode=mode)
    return Reader(page_of(tmp_path))


def titles(read: Reader) -> list[str]:
    return [title for title in [*TITLES, "Reports of your own"] if f"{title} " in read.text]


def test_a_page_has_every_part_of_the_run(page: str) -> None:
    read = Reader(page)
    assert [part["id"] for part in read.all("section") if "id" in part] == [
        "scores",
        "corrected-scores",
        "contributions",
        "orders",
        "agreement",
        "doubtful",
        "cost",
        "failures",
    ]
    assert titles(read) == TITLES
    for expected in [
        "all: every source for every unit",
        "ref, wiki",
        "6 responses, 10 claims, 1 failure",
        "2 judgements without an answer",
        "95 % interval",
        "in.jsonl:3",
        "BadJson",
        "Written by ufo 0.1.0.",
        "2025-06-01 12:00:00",
        "claims supported",
    ]:
        assert expected in read.text
    assert read.all("html")[0]["lang"] == "en"
    assert (read.wrong, read.open) == ([], [])


def test_numbers_are_those_of_the_views(folder: Path, page: str) -> None:
    read = Reader(page)
    with open_results(folder) as results:
        sql = "SELECT round(factuality_score, 3) AS x FROM scores_by_model WHERE mode = 'seq'"
        for row in results.query(sql).to_pylist():
            assert f"{row['x']:.3f}" in read.text
        sql = "SELECT value FROM agreement WHERE part = 'all' AND coalesce(mode, 'seq') = 'seq'"
        for row in results.query(sql).to_pylist():
            assert f"{row['value']:.3f}".replace("-", "−") in read.text


def test_every_plot_is_described_and_has_its_table(page: str) -> None:
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    assert len(figures) >= 7
    for figure in figures:
        read = Reader(figure)
        (svg,) = read.all("svg")
        assert svg["role"] == "img"
        assert ": " in svg["aria-label"]
        assert len(read.all("table")) == len(read.all("details")) == 1
        assert len(read.all("tr")) >= 2
        assert len(read.all("h3")) == 1
    # One plot's colours and clips must not become another's.
    ids = [attributes["id"] for _, attributes in Reader(page).elements if attributes.get("id")]
    assert len(ids) == len(set(ids))


def test_a_page_asks_for_nothing(page: str, hostile_page: str) -> None:
    for read in (Reader(page), Reader(hostile_page)):
        assert read.loads == []
        assert not {"img", "link", "iframe", "object", "embed", "base", "form"} & {
            tag for tag, _ in read.elements
        }
        assert len(read.styles) == 1
        (policy,) = [meta for meta in read.all("meta") if "http-equiv" in meta]
        assert policy["content"].startswith("default-src 'none'; ")


def test_hostile_texts_stay_texts(hostile_page: str) -> None:
    read = Reader(hostile_page)
    assert len(read.all("style")) == 1
    assert not read.all("script")
    assert (read.wrong, read.open) == ([], [])
    assert not any(name.startswith("on") for _, found in read.elements for name in found)
    assert "</script><script>alert(1)</script>" in read.text
    addresses = [attributes["href"] for attributes in read.all("a")]
    assert {address[:8] for address in addresses if address[0] != "#"} == {"https://"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", hostile_page)


def test_a_text_cannot_turn_the_direction_of_those_around_it(hostile_page: str) -> None:
    turned = re.findall(r"<(\w+)([^>]*)>[^<>]*\u202e", hostile_page)
    assert {tag for tag, _ in turned} == {"bdi"}
    assert all('dir="auto"' in attributes for _, attributes in turned)


def test_equal_runs_give_equal_pages(
    tmp_path: Path, told_rows: Callable[..., Any], write_run: Callable[..., Path], page: str
) -> None:
    write_run(tmp_path, told_rows(), "day", mode="all")
    assert page_of(tmp_path) == page


def test_what_a_run_does_not_have_is_left_out(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    read = of_votes(tmp_path, rows_of, write_run, {"a": {"u": {"ref": "s"}}})
    assert titles(read) == ["Factuality scores", "Who decided", "Most doubtful responses"]
    assert "Models compared" not in read.text
    assert "Categories of evidence" not in read.text
    assert "no failures" in read.text


@pytest.mark.parametrize("votes", [{}, {"a": {}}])
def test_a_run_without_units_says_so(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path], votes: Any
) -> None:
    read = of_votes(tmp_path, rows_of, write_run, votes)
    assert "No response has a claim" in read.text
    assert "doubtful" not in [part.get("id") for part in read.all("section")]


@pytest.mark.parametrize("mode", ["mv", "single"])
def test_the_other_modes(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path], mode: str
) -> None:
    sources = ("ref",) if mode == "single" else ("ref", "wiki")
    votes = {"a": {"u": dict.fromkeys(sources, "s"), "v": dict.fromkeys(sources, "r")}}
    write_run(tmp_path, rows_of(votes, sources, mode=mode), mode=mode)
    read = Reader(page_of(tmp_path))
    assert "0.500" in read.text
    assert "2 claims and the evidence" in read.text
    assert "Order of the sources" not in read.text


def test_many_models_responses_and_rows_are_bounded(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    votes = {f"r{n:03}": {f"u{n}": {"ref": "s" if n % 3 else "r"}} for n in range(150)}
    models = {name: f"m{int(name[1:]):03}" for name in votes}
    write_run(tmp_path, rows_of(votes, models=models))
    read = Reader(page_of(tmp_path))
    assert "20 of 150 responses" in read.text
    assert len(read.all("article")) == 20
    assert "The 24 lowest of 150." in read.text
    assert "By model: 100 of 150 rows" in read.text
    assert "Who decided, by model: 100 of " in read.text


def test_reports_of_ones_own_are_tables_at_the_end(folder: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "units.sql").write_text(
        "-- Units <b>of</b> each response\n-- needs: scores\n-- order: response_id\n"
        "SELECT response_id, n_units FROM scores WHERE mode = 'seq'"
    )
    (reports / "none.sql").write_text("-- Nothing\nSELECT 1 AS x WHERE false")
    read = Reader(page_of(folder, reports=reports))
    assert "Units <b>of</b> each response" in read.text
    assert "Nothing " not in read.text.replace("Nothing to check here.", "")
    assert read.all("section")[-1]["id"] == "own"


def test_the_command_writes_the_page_beside_what_it_prints(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str
) -> None:
    path = tmp_path / "ü page.html"
    words = ["report", str(folder), "coverage", "--html", str(path), "--json"]
    assert main([*words, "--threshold", "0.9"]) == 0
    done = capsys.readouterr()
    assert f"wrote {path}" in done.err
    assert done.out.startswith("[")
    assert not list(tmp_path.glob("*.unfinished"))
    written = path.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    # Another threshold calls other sentences not factual.
    assert written != page


def test_wrong_uses_are_reported(
    folder: Path,
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["report", str(folder), "--html", str(tmp_path / "no" / "x.html")]) == 2
    assert "--html: cannot write" in capsys.readouterr().err
    write_run(tmp_path / "recall", rows_of({}), mode="recall")
    with (
        open_results(tmp_path / "recall") as results,
        pytest.raises(UsageError, match="is of 'ufo recall', which has no page"),
    ):
        write_html(results, str(tmp_path / "y.html"))
    assert not (tmp_path / "y.html").exists()


def test_more_sources_than_orders_are_compared_of_leave_them_out(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    sources = tuple("abcdefg")
    rows = rows_of({"r": {"u": dict.fromkeys(sources, "s")}}, sources, mode="all")
    write_run(tmp_path, rows, mode="all")
    assert "Order of the sources" not in page_of(tmp_path)


def test_twenty_four_orders_are_cut_to_the_best(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    sources = ("one", "two", "three", "four")
    votes = {"r": {"u": dict(zip(sources, "srsn", strict=True))}, "t": {"v": {"one": "s"}}}
    rows = rows_of(votes, sources, mode="all")
    rows["fact_units"] = [replace(row, human_label=1) for row in rows["fact_units"]]
    write_run(tmp_path, rows, mode="all")
    read = Reader(page_of(tmp_path))
    assert "The first 16 of 29." in read.text
    assert "vote of all 4" in read.text


def test_models_whose_names_differ_at_the_end_are_distinguished_in_plots(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    models = [f"an-organisation/a-model-of-many-parts-{size}-instruct" for size in ("8B", "70B")]
    votes = {f"r{n}": {f"u{n}": {"ref": "srrrrs"[n]}} for n in range(6)}
    named = {name: models[n % 2] for n, name in enumerate(votes)}
    write_run(tmp_path, rows_of(votes, sources=("ref",), models=named))
    svg = "".join(re.findall(r"<svg.*?</svg>", page_of(tmp_path), re.DOTALL))
    drawn = set(re.findall(r"<text[^>]*>\s*([^<]*…[^<]*)</text>", svg))
    assert drawn == {
        "an-organisati…-of-many-parts-8B-instruct",
        "an-organisati…of-many-parts-70B-instruct",
        "…arts-70B-instruct − …parts-8B-instruct",
    }


def test_a_contradicted_claim_names_question_model_and_response(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    votes = {"r1": {"u1": {"ref": "r"}}, "r2": {"u2": {"ref": "s"}}}
    write_run(tmp_path, rows_of(votes, models={"r1": "alder"}))
    (listed,) = re.findall(r'<ul class="plain contradictions".*?</ul>', page_of(tmp_path), re.S)
    assert Reader(listed).text == (
        "✗ Claim u1. What of r1? · alder · r1 what ref says of u1 Page u1"
    )
