"""Names of pages, their keys, and redirects."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ufo.indexes.names import NameTable, base_name, follow, keys_in, name_keys, normal_name


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("marie_Curie", "Marie Curie"),
        ("  iPod  touch ", "IPod touch"),
        ("élan", "Élan"),
        ("ßtra", "ßtra"),
        ("10 Downing", "10 Downing"),
        ("", ""),
    ],
)
def test_names_as_mediawiki_writes_them(name: str, normal: str) -> None:
    assert normal_name(name) == normal


@given(st.text())
def test_normalising_twice_changes_nothing(name: str) -> None:
    assert normal_name(normal_name(name)) == normal_name(name)


TITLES = [
    "Marie Curie",
    "Curie (unit)",
    "Danube",
    "It",
    "Black Sea",
    "Österreich",
    "3M",
    "St. Ives",
]


@pytest.fixture
def table(build_folder: Callable[..., Any]) -> NameTable:
    return NameTable(build_folder(dict.fromkeys([*TITLES, "danube"], "x")))


def test_every_title_is_found_and_nothing_else(table: NameTable) -> None:
    assert len(table) == 10  # "Curie" of "Curie (unit)" too
    for page, title in enumerate(TITLES):
        assert page in table.pages(title)
    assert table.pages("Danube") == (2, 8)
    assert table.pages("Curie") == table.pages("Curie (unit)") == (1,)
    assert table.pages("danube ") == (2, 8)
    for name in ("", "A", "Danub", "Zz", "\ud800"):
        assert table.pages(name) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Marie Curie's work", ["Marie Curie"]),
        ("The Danube ends in the Black Sea.", ["Danube", "Black Sea"]),
        ("It is marie curie and danube", []),
        ("He saw (Österreich), 3M and “Danube”; the Danube", ["Österreich", "3M", "Danube"]),
        ("Black Sea, Black, Sea", ["Black Sea"]),
        ("He lived in St. Ives", ["St. Ives"]),
        ("", []),
    ],
)
def test_names_in_a_text(table: NameTable, text: str, names: list[str]) -> None:
    assert table.names_in(text) == tuple(names)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
def test_any_text_does(table: NameTable, text: str) -> None:
    assert all(table.pages(name) for name in table.names_in(text))


@pytest.mark.parametrize(
    ("title", "base"),
    [("Big Stone Gap (film)", "Big Stone Gap"), ("Danube", "Danube"), ("(a)", "(a)"), ("", "")],
)
def test_titles_without_what_tells_them_apart(title: str, base: str) -> None:
    assert base_name(title) == base


def test_the_page_of_that_title_comes_first_and_few_of_a_common_name(
    build_folder: Callable[..., Any],
) -> None:
    titles = [*(f"Ulm ({number})" for number in range(30)), "Ulm"]
    table = NameTable(build_folder(dict.fromkeys(titles, "x")))
    assert table.pages("Ulm")[0] == 30
    assert len(table.pages("Ulm")) == 20


def _followed(redirects: dict[str, str], titles: list[str]) -> dict[str, int]:
    found = follow(list(redirects), name_keys(redirects.values()), name_keys(titles))
    return dict(zip(redirects, found.tolist(), strict=True))


def test_an_alias_leads_to_its_page_also_by_way_of_others() -> None:
    redirects = {"C": "B", "B": "A", "A": "Page", "Other": "Second", "Lost": "Nowhere"}
    expected = {"C": 0, "B": 0, "A": 0, "Other": 1, "Lost": -1}
    assert _followed(redirects, ["Page", "Second"]) == expected


def test_longer_chains_and_loops_lead_nowhere() -> None:
    redirects = {"D": "C", "C": "B", "B": "A", "A": "Page", "X": "Y", "Y": "X", "Self": "Self"}
    expected = {"D": -1, "C": 0, "B": 0, "A": 0, "X": -1, "Y": -1, "Self": -1}
    assert _followed(redirects, ["Page"]) == expected


def test_of_pages_of_one_title_the_first_is_meant() -> None:
    assert _followed({"A": "Page"}, ["Other", "Page", "Page"]) == {"A": 1}


def test_nothing_to_follow_and_nowhere_to_lead() -> None:
    assert _followed({}, ["Page"]) == {}
    assert _followed({"A": "B", "B": "C"}, []) == {"A": -1, "B": -1}


@given(st.text(), st.data())
def test_a_part_of_a_text_has_the_key_of_the_name(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    [key] = keys_in(text, np.array([start]), np.array([end]))
    assert [key] == name_keys([text[start:end]]).tolist()


@given(st.sets(st.text(), max_size=50))
def test_other_names_have_other_keys(names: set[str]) -> None:
    assert len(set(name_keys(names).tolist())) == len(names)


def test_keys_are_the_same_in_every_process_and_for_any_number_of_names() -> None:
    names = [f"Name {number} \U0001f600 \ud800" for number in range(5_000)]
    keys = name_keys(names)
    assert len(set(keys.tolist())) == len(names)
    assert keys[-1:].tolist() == name_keys(names[-1:]).tolist()
    assert name_keys(["Danube"]).tolist() == [7279866166700881286]
    assert name_keys(()).tolist() == []
    long = "a" * 100_000
    assert keys_in(long, np.array([0, 1]), np.array([99_999, 100_000])).tolist()[0] == int(
        name_keys([long[1:]])[0]
    )
