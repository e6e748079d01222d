from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ufo.pipelines.reports.plots import draw_pie, plot_contributions, plot_scores, save
from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results, open_results

VOTES = {
    "a": {"a1": {"ref": "s"}, "a2": {"ref": "n", "wiki": "r"}, "a3": {"ref": "n", "wiki": "n"}},
    "b": {"b1": {"ref": "s"}},
    "c": {},
}
MODELS = {"a": "alder", "b": "birch", "c": "$cedar_$"}


@pytest.fixture(name="results", scope="module")
def _results(
    tmp_path_factory: pytest.TempPathFactory,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, rows_of(VOTES, models=MODELS))
    with open_results(folder) as results:
        yield results


def labels(figure: Any) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_contributions_show_every_source_and_what_nobody_decided(results: Results) -> None:
    figure = plot_contributions(results)
    assert labels(figure) == [
        "ref  50.0%  (n = 2)",
        "wiki  25.0%  (n = 1)",
        "undecided  25.0%  (n = 1)",
    ]
    wedges: list[Any] = list(figure.axes[0].patches)
    assert [round(wedge.theta2 - wedge.theta1) for wedge in wedges] == [180, 90, 90]
    # Grey is for the undecided alone.
    greys = [len(set(wedge.get_facecolor()[:3])) == 1 for wedge in wedges]
    assert greys == [False, False, True]
    assert texts(figure) == ["50%", "25%", "25%"]


@pytest.mark.parametrize(
    ("mode", "votes", "expected"),
    [
        ("mv", {"ref": "ss", "wiki": "r"}, ["ref  66.7%  (n = 2)", "wiki  33.3%  (n = 1)"]),
        ("single", {"ref": "n"}, ["ref  0.0%  (n = 0)", "undecided  100.0%  (n = 1)"]),
        ("all", {"ref": "n", "wiki": "s"}, ["ref  0.0%  (n = 0)", "wiki  100.0%  (n = 1)"]),
    ],
)
def test_contributions_in_each_mode(
    tmp_path: Path,
    rows_of: Callable[..., Any],
    write_run: Callable[..., Path],
    mode: str,
    votes: dict[str, str],
    expected: list[str],
) -> None:
    write_run(tmp_path, rows_of({"a": {"u": votes}}, tuple(votes), mode=mode), mode=mode)
    with open_results(tmp_path) as results:
        assert labels(plot_contributions(results))[:2] == expected


def test_nothing_to_draw_is_said(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    write_run(tmp_path, rows_of({}))
    with open_results(tmp_path) as results:
        assert "nothing decided" in texts(plot_contributions(results, tmp_path / "a.png"))[0]
        assert texts(plot_scores(results, tmp_path / "b.png")) == ["no responses"]


def test_scores_are_bars_with_values_the_best_on_top(results: Results) -> None:
    figure = plot_scores(results)
    axes: Any = figure.axes[0]
    names_and_values = ["birch", "1.000", "alder", "0.333", "$cedar_$", "no score"]
    assert texts(figure) == names_and_values
    assert [bar.get_width() for bar in axes.patches] == [1.0, pytest.approx(1 / 3)]
    assert axes.yaxis_inverted()
    assert texts(plot_scores(results, by="response"))[::2] == ["b", "a", "c"]
    assert texts(plot_scores(results, by="dataset"))[0] == "(no dataset)"


def test_scores_by_people_are_marked(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    rows = rows_of(VOTES, models=MODELS)
    rows["responses"] = [
        replace(row, human_score=0.6 if row.response_id == "b" else None)
        for row in rows["responses"]
    ]
    write_run(tmp_path, rows)
    with open_results(tmp_path) as results:
        figure = plot_scores(results, by="response")
    axes: Any = figure.axes[0]
    *_, marks = axes.collections
    assert marks.get_offsets().tolist() == [[0.6, 0.12]]
    assert labels(figure) == ["score by people"]


def test_of_many_the_lowest_are_drawn(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    write_run(tmp_path, rows_of({f"r{n:02}": {"u": {"ref": "rs"[n > 0]}} for n in range(60)}))
    with open_results(tmp_path) as results:
        figure = plot_scores(results, by="response")
    axes = figure.axes[0]
    assert len(axes.patches) == 40
    assert axes.get_title(loc="left") == "Factuality score by response (the 40 lowest of 60)"
    assert texts(figure)[-2:] == ["r00", "0.000"]


@pytest.mark.parametrize("plot", [plot_contributions, plot_scores])
def test_files_are_what_their_ending_says_and_equal_for_equal_results(
    results: Results, tmp_path: Path, plot: Callable[..., Any]
) -> None:
    png, svg, again = (tmp_path / name for name in ("a b.PNG", "ü.svg", "again.svg"))
    for path in (png, svg, again):
        plot(results, path)
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "undecided" in text or "$cedar_$" in text
    assert again.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("plot", [plot_contributions, plot_scores])
def test_wrong_files_are_usage_errors(
    results: Results, tmp_path: Path, plot: Callable[..., Any]
) -> None:
    with pytest.raises(UsageError, match=r"'.jpg'; allowed: .png, .svg"):
        plot(results, tmp_path / "x.jpg")
    with pytest.raises(UsageError, match="cannot write the plot"):
        plot(results, tmp_path / "missing" / "x.png")


def test_an_unknown_kind_of_bars(results: Results) -> None:
    with pytest.raises(UsageError, match=r"unknown by 'modle'.*'model'"):
        plot_scores(results, by="modle")


def test_names_in_any_script_are_drawn(
    tmp_path: Path, rows_of: Callable[..., Any], write_run: Callable[..., Path]
) -> None:
    votes = {"a": {"u": {"维基 🛸": "s"}}}
    write_run(tmp_path, rows_of(votes, ("维基 🛸",), models={"a": "модель 模型"}))
    with open_results(tmp_path) as results:
        plot_contributions(results, tmp_path / "c.png")
        plot_scores(results, tmp_path / "s.svg")
    assert "模型" in (tmp_path / "s.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["x" * 60, "田" * 30, "a source\nof mine " * 9])
def test_a_long_name_leaves_room_for_the_pie(name: str, tmp_path: Path) -> None:
    figure = draw_pie([(name, 3, "#123456"), ("undecided", 1, "#cccccc")], "claims")
    save(figure, tmp_path / "pie.svg", "svg")
    (label, _) = labels(figure)
    assert "…" in label
    assert label.endswith("  75.0%  (n = 3)")
    assert figure.axes[0].get_position().width > 0.2
