"""What the charts of a page draw, and what they say of it."""

from typing import Any

from tests.pipelines.reports.reading import Reader
from ufo.pipelines.reports.html_report import draw_decided, draw_scores, shortened


def row_of(source: str, n: int | None, position: int | None, mode: str = "seq", **more: Any) -> Any:
    return {"mode": mode, "source": source, "position": position, "n_decided": n, **more}


def scored(model: str | None, score: float | None, **more: Any) -> Any:
    ends = {"low": None, "high": None, "human_score": None}
    return {"model": model, "factuality_score": score, **ends, **more}


def test_dots_stand_at_their_scores_with_intervals_and_warnings() -> None:
    failed = {"low": 0.25, "high": 1.0, "n_judgements": 9, "n_unusable": 3}
    rows = [scored("a", 0.5, **failed), scored(None, None), scored("c", 0.0, human_score=1.0)]
    read = Reader(draw_scores(rows))
    assert [circle["cx"] for circle in read.all("circle")] == ["180.0", "12.0"]
    assert any(path["d"] == "M96.0 30H348.0" for path in read.all("path"))
    (svg,) = read.all("svg")
    assert svg["aria-label"].endswith(": a ⚠ 0.500 (0.250 to 1.000); (no model) no score; c 0.000")
    assert "◇ score by people" in read.text
    assert "◇" not in Reader(draw_scores(rows[:2])).text


def test_votes_are_shared_in_a_vote_of_all_and_a_source_alone_leaves_some_undecided() -> None:
    votes = [row_of("ref", None, 1, "mv", n_votes=3), row_of("wiki", None, 2, "mv", n_votes=1)]
    assert "75 % (3)" in Reader(draw_decided(votes) or "").text
    alone = [row_of("ref", 1, 1, "single", n_units=4)]
    assert "undecided 75 % (3)" in Reader(draw_decided(alone) or "").text
    assert draw_decided([row_of("ref", 0, 1), row_of("none", 0, None)]) is None


def test_long_names_keep_their_ends_and_names_stay_texts() -> None:
    names = [f"an-organisation/a-model-of-many-parts-{size}-instruct" for size in ("8B", "70B")]
    assert len({shortened(name) for name in names}) == 2
    assert all(len(shortened(name)) <= 26 for name in names)
    assert len(shortened("模型" * 20)) <= 13
    read = Reader(draw_scores([scored("</svg><script>alert(1)</script>", 0.5)]))
    assert not read.all("script")
