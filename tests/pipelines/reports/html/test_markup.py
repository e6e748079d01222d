import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reports.html.markup import Html, data, folded, join, link, table, tag, text
from tests.pipelines.reports.html.reading import Reader


@given(st.text())
def test_any_text_is_read_back_as_itself(value):
    read = Reader(tag("p", value, title=value))
    assert [name for name, _ in read.elements] == ["p"]
    # Control characters and what HTML makes of line ends are the only change.
    expected = "".join(c for c in value if c >= " " and not "\x7f" <= c <= "\x9f")
    kept = "".join(c for c in "".join(read.texts) if c not in "\n\t\ufffd")
    assert kept == expected.replace("\ufffd", "")
    assert (read.wrong, read.open) == ([], [])


def test_markup_is_kept_and_none_is_nothing():
    assert tag("b", Html("<i>x</i>"), None, 3) == "<b><i>x</i>3</b>"
    assert join(["<", None, tag("br")], " · ") == "&lt; · <br>"
    assert text(tag("br")) == "<br>"


def test_attributes():
    assert tag("input", class_="a b", aria_label='"<', checked=True, name=None, open=False) == (
        '<input class="a b" aria-label="&quot;&lt;" checked>'
    )
    assert data("x", "td") == '<td dir="auto">x</td>'
    assert folded("more", "x") == "<details><summary>more</summary>x</details>"


@pytest.mark.parametrize(
    "address",
    [None, "", "javascript:alert(1)", " javascript:x", "data:text/html,x", "http://[x", "a"],
)
def test_only_addresses_of_the_web_are_links(address):
    assert "<a" not in link(address, "page")
    assert 'href="https://x.example/?a=1&amp;b=2"' in link("https://x.example/?a=1&b=2", "page")


def test_a_table_says_of_how_many_rows_and_leaves_out_what_says_nothing():
    rows = [{"run": "r", "n_units": 1_000, "model": "a_b", "score": 0.5, "p": None}]
    read = Reader(table(rows * 120, "Units"))
    assert read.texts[:4] == ["Units: 100 of 120 rows", "units", "model", "score"]
    assert read.texts[4:7] == ["1,000", "a_b", "0.500"]
    assert len(read.all("tr")) == 101
    assert Reader(table(rows, "Units", total=7)).texts[0] == "Units: 1 of 7 rows"
    assert Reader(table(rows, "Units", ["score"])).texts[:2] == ["Units", "score"]


def test_long_cells_are_cut():
    (cell,) = Reader(table([{"x": "long " * 200}], "T")).texts[2:]
    assert len(cell) <= 300
    assert cell.endswith("…")
