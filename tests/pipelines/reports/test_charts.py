import re
from typing import Any

from tests.pipelines.reports.reading import Reader
from ufo.pipelines.reports.html_report import (
    Bar,
    draw_contributions,
    draw_contributions_by,
    draw_dots,
    draw_outcomes,
    draw_scores,
    shortened,
)


def row_of(source: str, n: int | None, position: int | None, mode: str = "seq", **more: Any) -> Any:
    return {"mode": mode, "source": source, "position": position, "n_decided": n, **more}


def test_dots_stand_at_their_values_with_their_intervals() -> None:
    drawn = draw_dots(
        [Bar("a", 0.5, 0.25, 1.0), Bar("b", None), Bar("c", 0.0, mark=1.0)], "score", mark="people"
    )
    read = Reader(drawn)
    assert [circle["cx"] for circle in read.all("circle")] == ["180.0", "12.0"]
    assert any(path["d"] == "M96.0 30H348.0" for path in read.all("path"))
    (svg,) = read.all("svg")
    assert svg["aria-label"] == "score: a 0.500 (0.250 to 1.000); b no score; c 0.000"
    assert "◇ people" in read.text


def test_scores_are_those_of_the_rows_with_a_warning_where_many_judgements_failed() -> None:
    ends = {"low": 0.4, "high": 0.6, "n_judgements": 9, "n_unusable": 3}
    rows: list[dict[str, Any]] = [
        {"model": "a", "factuality_score": 0.5, **ends},
        {"model": None, "factuality_score": None, "low": None, "high": None},
    ]
    (svg,) = Reader(draw_scores(rows, "model")).all("svg")
    assert svg["aria-label"].endswith("a ⚠ 0.500 (0.400 to 0.600); (no model) no score")


def test_the_slices_of_a_pie_follow_each_other() -> None:
    rows = [row_of("ref", 6, 1), row_of("wiki", 2, 2), row_of("none", 2, None)]
    read = Reader(draw_contributions(rows) or "")
    slices = [(one["stroke-dasharray"], one["stroke-dashoffset"]) for one in read.all("circle")]
    assert slices == [("60.0 100", "-0.0"), ("20.0 100", "-60.0"), ("20.0 100", "-80.0")]
    for said in ("ref", "60 % (6)", "undecided", "20 % (2)"):
        assert said in read.text
    colors = [one["fill"] for one in read.all("rect")]
    assert len(set(colors)) == 3


def test_votes_are_shared_in_a_vote_of_all_and_a_source_alone_leaves_some_undecided() -> None:
    votes = [row_of("ref", None, 1, "mv", n_votes=3), row_of("wiki", None, 2, "mv", n_votes=1)]
    assert "75 % (3)" in Reader(draw_contributions(votes) or "").text
    alone = [row_of("ref", 1, 1, "single", n_units=4)]
    assert "undecided 75 % (3)" in Reader(draw_contributions(alone) or "").text
    assert draw_contributions([row_of("ref", 0, 1), row_of("none", 0, None)]) is None


def test_stacks_share_their_width_and_one_key() -> None:
    rows = [
        row_of(source, n, place, model=model)
        for model, counts in (("a", (1, 3)), ("b", (4, 0)))
        for source, n, place in (("ref", counts[0], 1), ("none", counts[1], None))
    ]
    drawn = draw_contributions_by(rows, "model")
    widths = [float(one) for one in re.findall(r'width="([0-9.]+)" height="14"', drawn)]
    assert widths == [86.0, 258.0, 344.0]
    outcomes = [{"dataset": "x", "n_supported": 2, "n_refuted": 1, "n_undecided": 1}]
    (svg,) = Reader(draw_outcomes(outcomes, "dataset")).all("svg")
    assert svg["aria-label"] == (
        "outcomes: x: supported 50 % (2), contradicted 25 % (1), not decided 25 % (1)"
    )


def test_long_names_keep_their_ends_and_names_stay_texts() -> None:
    names = [f"an-organisation/a-model-of-many-parts-{size}-instruct" for size in ("8B", "70B")]
    assert len({shortened(name) for name in names}) == 2
    assert all(len(shortened(name)) <= 26 for name in names)
    assert len(shortened("模型" * 20)) <= 13
    read = Reader(draw_dots([Bar("</svg><script>alert(1)</script>", 0.5)], "score"))
    assert not read.all("script")
