"""The pie of who decided: its slices, its words, and the picture that can be saved."""

import math
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.dom.minidom import parseString

import pytest

from tests.conftest import rows_of, write_run
from tests.pipelines.reports.reading import Reader
from ufo.pipelines.reports.evaluation import Evaluation
from ufo.pipelines.reports.html_report import COLORS, UNDECIDED, draw_pie
from ufo.pipelines.reports.pie import Pie
from ufo.schemas.errors import UsageError
from ufo.schemas.results import open_results


def row_of(source: str, n: int, position: int | None, mode: str = "seq", **more: Any) -> Any:
    row = {"mode": mode, "source": source, "position": position, "n_decided": n, "share": None}
    return row | more


def pie_of(*counts: int, undecided: int = 0) -> list[Any]:
    """Rows of the sources s1, s2, … that decided so many claims, and of those that none did."""
    decided = [row_of(f"s{at}", n, at) for at, n in enumerate(counts, 1)]
    return [*decided, row_of("none", undecided, None)]


def angles(svg: str) -> list[float]:
    """The size of each slice in degrees, from the path of its arc."""
    degrees = []
    for path in Reader(svg).all("path"):
        numbers = [float(one) for one in re.findall(r"-?\d+\.\d+", path["d"])]
        begin, end = (math.degrees(math.atan2(x, -y)) for x, y in (numbers[:2], numbers[2:]))
        degrees.append(round((end - begin) % 360, 1))
        assert (degrees[-1] > 180) == (" 0 1 1 " in path["d"])
    return degrees


def test_slices_are_as_large_as_the_shares_and_go_round() -> None:
    drawn = str(draw_pie(pie_of(6, 3, undecided=1)))
    assert angles(drawn) == [216.0, 108.0, 36.0]
    fills = [path["fill"] for path in Reader(drawn).all("path")]
    assert fills == [COLORS[0], COLORS[1], UNDECIDED]


def test_one_slice_is_a_whole_circle() -> None:
    read = Reader(str(draw_pie(pie_of(4))))
    assert read.all("path") == []
    assert [circle["fill"] for circle in read.all("circle")] == [COLORS[0]]
    assert "100 % (4)" in read.text


def test_eight_sources_have_eight_colours() -> None:
    drawn = Reader(str(draw_pie(pie_of(*range(1, 9), undecided=9))))
    fills = [path["fill"] for path in drawn.all("path")]
    assert len(set(fills)) == 9
    assert [rect["fill"] for rect in drawn.all("rect")] == fills


def test_a_part_is_never_called_nothing_nor_all() -> None:
    text = Reader(str(draw_pie(pie_of(999, 1)))).text
    assert ">99 % (999)" in text
    assert "<1 % (1)" in text
    assert "0 % (0)" in text  # nobody's share is undecided


def test_a_share_stands_in_its_slice_where_it_has_room() -> None:
    texts = Reader(str(draw_pie(pie_of(93, 7)))).texts
    assert texts.count("93 %") == texts.count("7 %") == 1
    assert "6 %" not in Reader(str(draw_pie(pie_of(94, 6)))).texts


def test_the_shares_are_told_in_words() -> None:
    name = "a-source-with-a-name-of-more-than-20-letters"
    drawn = str(draw_pie([row_of(name, 3, 1), row_of("none", 1, None)], "Who decided"))
    (svg,) = Reader(drawn).all("svg")
    assert svg["role"] == "img"
    shares = f"{name} 75 % (3), undecided 25 % (1)"
    assert svg["aria-label"] == f"who decided: {shares}"
    assert "<title>Who decided</title>" in drawn
    assert f"<desc>4 claims: {shares}</desc>" in drawn


def test_in_a_vote_the_votes_are_shared() -> None:
    rows = [row_of("ref", 0, 1, "mv", n_votes=3), row_of("wiki", 0, 2, "mv", n_votes=1)]
    assert "<desc>4 valid votes: ref 75 % (3), wiki 25 % (1)</desc>" in str(draw_pie(rows))


@pytest.mark.parametrize("rows", [[], pie_of(0)], ids=["no source", "no claim"])
def test_without_a_claim_there_is_an_empty_circle(rows: list[Any]) -> None:
    drawn = str(draw_pie(rows, "Who decided"))
    parseString(drawn)
    assert angles(drawn) == []
    assert "0 claims" in Reader(drawn).text
    assert "who decided: nobody" in drawn


# --- the picture


HOSTILE = '</svg><script>alert(1)</script>"&\x07'


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> Evaluation:
    votes = {"a": {"u": {"ref": "s"}, "v": {"ref": "n", "wiki": "r"}}, "b": {"w": {"ref": "n"}}}
    write_run(tmp_path, rows_of(votes, models={"a": "alder", "b": HOSTILE}))
    return Evaluation(open_results(str(tmp_path)), "", ExitStack())


def test_a_run_draws_who_decided(run: Evaluation) -> None:
    pie = run.pie()
    assert "<desc>3 claims: ref 33 % (1), wiki 33 % (1), undecided 33 % (1)</desc>" in str(pie)
    assert repr(pie) == "<ufo pie: ref 33%, wiki 33%, none 33%>"
    assert pie._repr_svg_() == str(pie)


def test_a_pie_may_be_of_one_model(run: Evaluation) -> None:
    pie = run.pie("alder")
    assert "<title>Who decided: alder</title>" in str(pie)
    assert "<desc>2 claims: " in str(pie)
    assert repr(pie).startswith("<ufo pie of alder: ref 50%")
    with pytest.raises(UsageError, match=r"unknown model 'elder'.*Did you mean 'alder'"):
        run.pie("elder")


def test_a_picture_is_a_file_of_its_own_in_light_and_dark(run: Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "who.svg"
    run.pie().save(path)
    saved = path.read_text(encoding="utf-8")
    assert [one.nodeName for one in parseString(saved).childNodes] == ["svg"]
    assert "prefers-color-scheme: dark" in saved
    assert "var(" not in saved  # many programs do not know it
    with pytest.raises(UsageError, match="cannot write"):
        run.pie().save(tmp_path / "none" / "who.svg")


def test_a_hostile_name_is_text(run: Evaluation) -> None:
    drawn = str(run.pie(HOSTILE))
    assert "<script" not in drawn
    parseString(drawn)


def test_a_pie_without_a_claim_says_so() -> None:
    assert repr(Pie([])) == "<ufo pie: no claim>"
