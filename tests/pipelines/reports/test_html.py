"""The page of a run: its parts, hostile texts, bounds, charts, and comparisons of runs."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.conftest import ok, ufo
from tests.pipelines.reports.conftest import page_of, same_as_kept
from tests.pipelines.reports.reading import Reader
from ufo.pipelines.reports.comparison import compare_models, compare_runs
from ufo.pipelines.reports.html_report import (
    comparison_html,
    draw_decided,
    draw_scores,
    overview_html,
)
from ufo.pipelines.reports.overview import overview
from ufo.schemas.records import Usage
from ufo.schemas.results import Results, open_results
from ufo.schemas.run_folders import choose_runs
from ufo.transforms.score_words import score_in_words


def sections(read: Reader) -> list[str]:
    return [part["id"] for part in read.all("section") if "id" in part]


def test_a_page_has_every_part_of_the_run(page: str) -> None:
    read = Reader(page)
    assert sections(read) == ["responses", "g1", "g2", "g3", "g4", "g5"]
    assert read.all("html")[0]["lang"] == "en"
    drawn = read.all("svg")
    assert {svg["role"] for svg in drawn} == {"img"}
    assert [svg for svg in drawn if ": " not in svg["aria-label"]] == []
    for expected in ("Scores", "Sources", "Agreement with people", "Cost", "Problems", "BadJson"):
        assert expected in read.text


OVERVIEW, RESPONSES, CHARTS = "# overview", "# responses", "# charts"


@pytest.mark.parametrize("part", [OVERVIEW, RESPONSES, CHARTS])
def test_a_page_says_what_it_said(page: str, part: str) -> None:
    head, _, rest = page.partition('<section id="responses"')
    responses = '<section id="responses"' + rest.partition('<section id="g1"')[0]
    if part == CHARTS:
        texts = [svg["aria-label"] for svg in Reader(page).all("svg")]
    else:
        read = Reader(head if part == OVERVIEW else responses)
        texts = [" ".join(text.split()) for text in read.texts if text not in read.styles]
    same_as_kept("page", part, "\n".join(filter(None, texts)))


def test_a_page_asks_for_nothing_and_hostile_texts_stay_texts(page: str, hostile_page: str) -> None:
    for read in (Reader(page), Reader(hostile_page)):
        assert read.loads == []
        tags = {tag for tag, _ in read.elements}
        assert not tags & {"img", "link", "iframe", "object", "embed", "base", "form", "script"}
        assert len(read.styles) == len(read.all("style")) == 1
        (policy,) = [meta for meta in read.all("meta") if "http-equiv" in meta]
        assert policy["content"].startswith("default-src 'none'; ")
        assert read.wrong == []
        assert read.open == []
        assert not any(name.startswith("on") for _, found in read.elements for name in found)
    assert "</script><script>alert(1)</script>" in read.text
    addresses = [attributes["href"] for attributes in read.all("a")]
    assert {address[:8] for address in addresses if address[0] != "#"} == {"https://"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", hostile_page)
    # A text cannot turn the direction of those around it.
    turned = re.findall(r"<(\w+)([^>]*)>[^<>]*\u202e", hostile_page)
    assert {tag for tag, _ in turned} == {"bdi"}
    assert [attributes for _, attributes in turned if 'dir="auto"' not in attributes] == []


def test_what_a_run_does_not_have_is_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, rows_of({"a": {"u": {"ref": "s"}}}))
    read = Reader(page_of(tmp_path))
    assert sections(read) == ["responses", "g1", "g2"]
    for left_out in ("by model", "data set", "Contradicted", "failed", "Cost", "Corrected"):
        assert left_out not in read.text.partition("Responses to look at first")[0]


@pytest.mark.parametrize(
    ("mode", "statuses", "named"),
    [
        pytest.param("seq", ("used", "used"), "ref, then wiki", id="one after the other"),
        pytest.param("mv", ("used", "used"), "ref, wiki", id="a vote of all"),
        pytest.param("seq", ("used", "unavailable"), "ref", id="without one that was not asked"),
        pytest.param("seq", ("unavailable", "unavailable"), "no source", id="none"),
    ],
)
def test_the_sources_that_were_asked_are_named(
    tmp_path: Path, mode: str, statuses: tuple[str, str], named: str
) -> None:
    rows = rows_of({"a": {"u": {"ref": "s", "wiki": "s"}}})
    rows["sources"] = [
        replace(row, status=status) for row, status in zip(rows["sources"], statuses, strict=True)
    ]
    write_run(tmp_path, rows, mode=mode)
    with open_results(tmp_path) as results:
        text = Reader(overview_html(results)).text
    assert re.search(rf"1 response, judged by offline from {named}(?![,\w])", text)


COSTS = {
    "nothing asked": ([], "No request to a model or a search engine"),
    "known": ([0.25, 1.0], "2 requests, 20 tokens, $1.25"),
    "little": ([0.00021], "1 request, 10 tokens, $0.0002"),
    "unknown": ([None], "1 request, 10 tokens, no cost known"),
    "partly unknown": (
        [0.5, None],
        "2 requests, 20 tokens, $0.5000 and the unknown price of 1 request",
    ),
}


@pytest.mark.parametrize(("dollars", "text"), COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("cached", [False, True])
def test_the_overview_says_what_the_requests_took(
    tmp_path: Path, dollars: list[float | None], text: str, cached: bool
) -> None:
    def usage(name: str, cost: float | None, cached: bool) -> Usage:
        return Usage(name, "verify", "ref", "m", "a", None, "ok", cached, False, 0, 9, 1, 0.1, cost)

    rows = rows_of({"a": {"u": {"ref": "s"}}})
    rows["usage"] = [usage(str(at), cost, False) for at, cost in enumerate(dollars)]
    if cached:
        rows["usage"].append(usage("c", 0.0, True))
        text = "0 requests, 0 tokens, $0.0000" if not dollars else text
        text += "; 1 answer from the cache"
    write_run(tmp_path, rows)
    with open_results(tmp_path) as results:
        assert f"\n{text}\n" in overview_html(results).replace('<p class="muted">', "\n").replace(
            "</p>", "\n"
        )


def test_a_report_says_where_all_contradicted_claims_are(tmp_path: Path) -> None:
    votes = {f"r{n}": {f"u{n}": {"ref": "r"}} for n in range(11)}
    write_run(tmp_path, rows_of(votes), "eleven")
    write_run(tmp_path, rows_of({"r": {"u": {"ref": "r"}}}), "one")
    for name, is_cut in (("eleven", True), ("one", False)):
        with open_results(tmp_path, name) as results:
            text = Reader(overview_html(results)).text
        assert ("Contradicted claims: 10 of 11" in text) == is_cut
        assert ("ufo serve --results DIR shows all of a run" in text) == is_cut


@pytest.mark.slow
def test_many_models_responses_and_rows_are_bounded(tmp_path: Path) -> None:
    votes = {f"r{n:03}": {f"u{n}": {"ref": "s" if n % 3 else "r"}} for n in range(150)}
    models = {name: f"m{int(name[1:]):03}" for name in votes}
    write_run(tmp_path, rows_of(votes, models=models))
    read = Reader(page_of(tmp_path))
    assert "The 20 with the lowest scores of 150 responses" in read.text
    assert len(read.all("article")) == 20
    assert "Scores of each model: 100 of 150 rows" in read.text


def test_the_command_writes_the_page_beside_what_it_prints(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "ü page.html"
    done = ok("report", folder, "scores", "--html", path, "--json")
    assert f"wrote {path}" in done.err
    assert done.out.startswith("[")
    assert not list(tmp_path.glob("*.unfinished"))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    printed = ok("report", folder, "--html", "-")
    assert (printed.out, printed.err) == (path.read_text(encoding="utf-8"), "")
    write_run(tmp_path / "recall", rows_of({}), mode="recall")
    refused = ufo("report", tmp_path / "recall", "--html", tmp_path / "y.html")
    assert refused.code == 2
    assert "is of 'ufo recall', which has no page" in refused.err
    assert not (tmp_path / "y.html").exists()


def test_two_runs_are_compared_with_the_claims_that_turned(tmp_path: Path) -> None:
    for name, letters in (("before", "ss"), ("after", "sr")):
        votes = {f"r{n}": {f"u{n}": {"ref": one}} for n, one in enumerate(letters)}
        write_run(tmp_path, rows_of(votes), name)
    with Results([*choose_runs(tmp_path, "before"), *choose_runs(tmp_path, "after")]) as results:
        comparison = compare_runs(results)
    assert comparison["lost"] == 1
    assert comparison["won"] == 0
    assert comparison["n_pairs"] == 2
    text = Reader(comparison_html(comparison, lambda run, response: None)).text
    for letters in ("Claim u1.", "supported by ref → contradicted by ref", "Paired by 2 questions"):
        assert letters in text


def test_a_compared_run_has_its_own_numbers_and_the_difference_those_of_both(
    tmp_path: Path,
) -> None:
    shared = {"s1": {"u1": {"ref": "s"}}, "s2": {"u2": {"ref": "s"}}, "s3": {"u3": {"ref": "s"}}}
    worse = {**shared, "s3": {"u3": {"ref": "r"}}, "s2": {"u2": {"ref": "n"}}}
    own_a = {"a1": {"u4": {"ref": "r"}, "u5": {"ref": "r"}}}
    own_b = {f"b{n}": {f"v{n}": {"ref": "s"}} for n in range(3)}
    write_run(tmp_path, rows_of(shared | own_a), "old", title="قديم")
    write_run(tmp_path, rows_of(worse | own_b), "new", title="New")
    whole = {}
    for name in ("old", "new"):
        with open_results(tmp_path, name) as results:
            whole[name] = overview(results)
    with Results([*choose_runs(tmp_path, "old"), *choose_runs(tmp_path, "new")]) as results:
        comparison = compare_runs(results, titled=True)
    page = comparison_html(comparison, lambda run, response: None)
    text = " ".join(Reader(page).text.split())
    # The difference is of the three questions that both have.
    assert comparison["headline"].startswith(
        "New scores 0.667 lower than قديم over the 3 questions"
    )
    assert "0.333 against 1.000" in comparison["headline"]
    # Each run is as its own overview says, with all of its responses.
    assert whole["old"]["words"].startswith("factuality score 0.750 (")
    assert whole["new"]["words"].startswith("factuality score 0.667 (")
    assert (
        comparison["own"]["a"]
        == f"{whole['old']['words']}; 5 claims (2 contradicted) in 4 responses"
    )
    assert (
        comparison["own"]["b"]
        == f"{whole['new']['words']}; 6 claims (1 contradicted) in 6 responses"
    )
    assert f"New : {comparison['own']['b']}" in text
    assert page.count('<bdi dir="auto">قديم</bdi>') == page.count("قديم") > 1


def test_two_compared_models_have_their_own_numbers(tmp_path: Path) -> None:
    votes = {f"{model}{n}": {f"{model}{n}": {"ref": letter}} for model, said_of in
             {"a": "ssr", "b": "rrsss"}.items() for n, letter in enumerate(said_of)}  # fmt: skip
    rows = rows_of(votes, models={name: name[0] for name in votes},
                   questions={name: name[1] for name in votes})  # fmt: skip
    write_run(tmp_path, rows)
    with open_results(tmp_path) as results:
        comparison = compare_models(results, "a", "b")
        rows_by_model = {row["model"]: row for row in overview(results)["models"]}
    assert comparison["n"] == 3
    assert (comparison["score_a"], comparison["score_b"]) == pytest.approx((2 / 3, 1 / 3))
    for side, n in (("a", 3), ("b", 5)):
        assert comparison["own"][side].startswith(score_in_words(rows_by_model[side]))
        assert comparison["own"][side].endswith(f" in {n} responses")


# --- responses


def articles_in(page: str) -> list[str]:
    return re.findall(r"<article.*?</article>", page, re.DOTALL)


def test_sentences_have_colour_symbol_and_label(page: str) -> None:
    article = next(one for one in articles_in(page) if "S a1." in one)
    chips = re.findall(
        r'class="sentence (\w+)"><span class="words">(.*?)</span>\u2060 <a[^>]*>(.*?)</a>', article
    )
    chips = [(look, text, Reader(chip).text) for look, text, chip in chips]
    assert chips == [
        ("good", "S a1.", "✓ supported · support 0.67"),
        ("bad", "S a2.", "✗ contradicted · support 0.33"),
        ("good", "S a3.", "✓ supported · support 1.00"),
    ]
    assert "Nothing to check here." in article
    assert article.index("🛸") < article.index("S a1.")


def test_texts_claims_and_evidence_are_bounded(tmp_path: Path) -> None:
    rows = rows_of({"a": {f"u{n:03}": {"ref": "r" * 9} for n in range(60)}})
    for table, change in (
        ("responses", {"text": "word " * 10_000}),
        ("evidence", {"citation": None, "rationale": "why " * 5_000}),
        ("passages", {"text": "long " * 5_000}),
    ):
        rows[table] = [replace(row, **change) for row in rows[table]]
    write_run(tmp_path, rows)
    (article,) = articles_in(page_of(tmp_path))
    text = Reader(article).text
    for sentence in ("40 of 60 claims are", "5 of 9 judgements are", "38,000 more characters"):
        assert sentence in text
    assert len(article) < 400_000


def test_a_claim_without_a_sentence_is_apart_and_a_wrong_quote_is_told(tmp_path: Path) -> None:
    rows = rows_of({"a": {"u": {"ref": "s"}, "v": {"ref": "-"}}})
    rows["fact_units"] = [replace(row, sentence_index=None) for row in rows["fact_units"]]
    rows["evidence"] = [replace(row, citation_found=False) for row in rows["evidence"]]
    write_run(tmp_path, rows)
    text = Reader(articles_in(page_of(tmp_path))[0]).text
    assert "Claims without a place in the text" in text
    assert "does not answer: no passages" in text
    assert "Its quote is not in the passage." in text


# --- charts: what they draw, and what they say of it


def row_of(source: str, n: int | None, position: int | None, mode: str = "seq", **more: Any) -> Any:
    return {"mode": mode, "source": source, "position": position, "n_decided": n, **more}


def scored(model: str | None, score: float | None, **more: Any) -> Any:
    ends = {"low": None, "high": None, "human_score": None}
    known = {"n_units": 0 if score is None else 4, "coverage": 1.0}
    return {"model": model, "factuality_score": score, **ends, **known, **more}


def test_dots_stand_at_their_scores_with_intervals_and_warnings() -> None:
    failed = {"low": 0.25, "high": 1.0, "n_judgements": 9, "n_unusable": 3}
    rows = [scored("a", 0.5, **failed), scored(None, None), scored("c", 0.0, human_score=1.0)]
    read = Reader(draw_scores(rows))
    assert [circle["cx"] for circle in read.all("circle")] == ["180.0", "12.0"]
    assert any(path["d"] == "M96.0 30H348.0" for path in read.all("path"))
    (svg,) = read.all("svg")
    assert svg["aria-label"].endswith(
        ": a ⚠ 0.500 (0.250 to 1.000); (no model) no score: there is no claim; c 0.000"
    )
    assert "◇ score by people" in read.text
    assert "◇" not in Reader(draw_scores(rows[:2])).text


@pytest.mark.parametrize(
    ("score", "coverage", "text", "dots"),
    [
        pytest.param(0.3, 0.5, "0.300 (0.100 to 0.900)", 1, id="half is known"),
        pytest.param(0.3, 0.4, "0.300, coverage 0.400", 1, id="less than half is known"),
        pytest.param(0.0, 0.0, "no score: no source knew any of 4 claims", 0, id="nothing"),
    ],
)
def test_a_dot_is_told_with_the_coverage_where_it_is_low(
    score: float, coverage: float, text: str, dots: int
) -> None:
    read = Reader(draw_scores([scored("a", score, low=0.1, high=0.9, coverage=coverage)]))
    assert text in read.text
    assert len(read.all("circle")) == dots


def test_votes_are_shared_in_a_vote_of_all_and_a_source_alone_leaves_some_undecided() -> None:
    votes = [row_of("ref", None, 1, "mv", n_votes=3), row_of("wiki", None, 2, "mv", n_votes=1)]
    assert "75 % (3)" in Reader(draw_decided(votes) or "").text
    alone = [row_of("ref", 1, 1, "single", n_units=4)]
    assert "undecided 75 % (3)" in Reader(draw_decided(alone) or "").text
    assert draw_decided([row_of("ref", 0, 1), row_of("none", 0, None)]) is None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("s" * 20, "s" * 20, id="short"),
        pytest.param("s" * 60, "s" * 14 + "…" + "s" * 14, id="long"),
        pytest.param("W" * 60, "W" * 9 + "…" + "W" * 8, id="wide letters"),
        pytest.param("i" * 40, "i" * 40, id="narrow letters"),
        pytest.param("问" * 60, "问" * 9 + "…" + "问" * 8, id="Chinese"),
        pytest.param("א" * 60, "א" * 9 + "…" + "א" * 8, id="Hebrew"),
        pytest.param("e\u0301" * 60, "e\u0301" * 14 + "…" + "e\u0301" * 14, id="with marks"),
    ],
)
def test_the_name_of_a_source_is_as_long_as_there_is_room_beside_its_share(
    name: str, shown: str
) -> None:
    drawn = Reader(draw_decided([row_of(name, 3, 1), row_of("b", 1, 2)]) or "")
    label = f"{name} {shown}" if shown != name else name  # the whole of it on hovering
    assert f"{label} 75 % (3) b 25 % (1)" in drawn.text
