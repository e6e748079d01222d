"""Names of pages, their keys, and redirects."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from tests.indexes.conftest import page, written
from ufo.indexes.names import NameTable, base_name, follow, keys_in, name_keys, normal_name


def test_names_as_mediawiki_writes_them() -> None:
    names = ["marie_Curie", "  iPod  touch ", "élan", "ßtra", "10 Downing", ""]
    normal = ["Marie Curie", "IPod touch", "Élan", "ßtra", "10 Downing", ""]
    assert [normal_name(name) for name in names] == normal
    titles = ["Big Stone Gap (film)", "Danube", "(a)", ""]
    assert [base_name(title) for title in titles] == ["Big Stone Gap", "Danube", "(a)", ""]


HERE = Path(__file__).parent
TITLES = ["Marie Curie", "Curie (unit)", "Danube", "It", "Black Sea"]
TITLES += ["Österreich", "3M", "St. Ives"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> NameTable:
    ulm = [f"Ulm ({number})" for number in range(30)]
    pages = dict.fromkeys([*TITLES, "danube", *ulm, "Ulm"], "x")
    return NameTable(written(tmp_path_factory.mktemp("names") / "index", pages))


@pytest.mark.parametrize(("page", "title"), list(enumerate(TITLES)))
def test_every_title_is_found(table: NameTable, page: int, title: str) -> None:
    assert page in table.pages(title)


@pytest.mark.parametrize("name", ["", "A", "Danub", "Zz", "\ud800"], ids=ascii)
def test_another_name_is_of_no_page(table: NameTable, name: str) -> None:
    assert table.pages(name) == ()


@pytest.mark.parametrize(
    ("name", "pages"),
    [("Danube", (2, 8)), ("danube ", (2, 8)), ("Curie", (1,)), ("Curie (unit)", (1,))],
    ids=["as it is written", "in small letters", "without its brackets", "with its brackets"],
)
def test_a_name_is_of_the_pages_that_have_it(
    table: NameTable, name: str, pages: tuple[int, ...]
) -> None:
    assert table.pages(name) == pages


def test_the_page_of_that_title_comes_first_and_twenty_of_a_common_name(table: NameTable) -> None:
    assert len(table) == 10 + 61  # "Curie" of "Curie (unit)" too, and "Ulm" of each of its kind
    assert table.pages("Ulm")[0] == 39
    assert len(table.pages("Ulm")) == 20


@pytest.mark.parametrize(("text", "names"), cases(HERE / "names.txt"))
def test_names_in_a_text(table: NameTable, text: str, names: str) -> None:
    assert " | ".join(table.names_in(text)) == names


@pytest.mark.parametrize("ending", [".", "…", "'", "’", "'s", "’s", "'s.", ".’", ":", "”", ""])
def test_a_name_may_have_an_ending(table: NameTable, ending: str) -> None:
    assert table.names_in(f"the Danube{ending} and it") == ("Danube",)


LONG = "One Two Three Four Five Six Seven"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> NameTable:
    """Pages of long names and of odd ones, and an alias that is also a name in brackets."""
    titles = ["Rhine (ship)", "Rhein", LONG, LONG.removesuffix(" Seven"), "A", "Bank of the"]
    wiki = [*(page(title, "x") for title in titles), page("rhine", "", redirect="Rhein")]
    return NameTable(written(tmp_path_factory.mktemp("few") / "index", wiki=wiki))


def test_an_alias_comes_before_a_title_without_its_brackets(few: NameTable) -> None:
    assert few.pages("Rhine") == (1, 0)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(LONG, (LONG.removesuffix(" Seven"),), id="of six words, not of seven"),
        pytest.param("A Rhein", ("Rhein",), id="not a letter"),
        pytest.param("Bank of the Rhein", ("Rhein",), id="not one that ends in a function word"),
    ],
)
def test_which_names_are_found(few: NameTable, text: str, names: tuple[str, ...]) -> None:
    assert few.names_in(text) == names


def test_no_names_are_in_an_index_without_pages(tmp_path: Path) -> None:
    table = NameTable(written(tmp_path / "index", {}, wiki=[page("A", "x", ns=4)]))
    assert len(table) == 0
    assert table.pages("A") == ()
    assert table.names_in("Marie Curie") == ()


@given(text=st.text(max_size=60))
def test_any_text_does(table: NameTable, text: str) -> None:
    assert [name for name in table.names_in(text) if not table.pages(name)] == []
    assert normal_name(normal_name(text)) == normal_name(text)


@pytest.mark.parametrize(("redirects", "titles", "pages"), cases(HERE / "redirects.txt"))
def test_an_alias_leads_to_its_page(redirects: str, titles: str, pages: str) -> None:
    pairs = [pair.split(">") for pair in redirects.split()]
    targets, keys = name_keys([to for _, to in pairs]), name_keys(titles.split())
    followed = follow([name for name, _ in pairs], targets, keys).tolist()
    assert " ".join(map(str, followed)) == pages


@given(st.text(), st.data(), st.sets(st.text(), max_size=50))
def test_a_part_of_a_text_has_its_key(text: str, data: st.DataObject, names: set[str]) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    [key] = keys_in(text, np.array([start]), np.array([end]))
    assert [key] == name_keys([text[start:end]]).tolist()
    assert len(set(name_keys(names).tolist())) == len(names)


def test_keys_are_the_same_in_every_process_and_for_any_number_of_names() -> None:
    names = [f"Name {number} \U0001f600 \ud800" for number in range(5_000)]
    keys = name_keys(names)
    assert len(set(keys.tolist())) == len(names)
    assert keys[-1:].tolist() == name_keys(names[-1:]).tolist()
    assert name_keys(["Danube"]).tolist() == [7279866166700881286]
    assert name_keys(()).tolist() == []
    long = "a" * 100_000
    long_keys = keys_in(long, np.array([0, 1]), np.array([99_999, 100_000])).tolist()
    assert long_keys[0] == int(name_keys([long[1:]])[0])
