"""Lists that stand in a text: read, refused with a message, or left as a text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.row import UnusableValue
from ufo.transforms.literals import structure_of

TEXTS = st.lists(st.text(max_size=8), min_size=1, max_size=4)


@given(TEXTS)
def test_a_list_of_python_is_read(texts: list[str]) -> None:
    assert structure_of(repr(texts), "x") == texts


@given(TEXTS)
def test_a_list_of_numpy_is_read(texts: list[str]) -> None:
    assert structure_of(f"[{' '.join(map(repr, texts))}]", "x") == texts


@given(TEXTS)
def test_a_list_of_json_is_read(texts: list[str]) -> None:
    assert structure_of(json.dumps(texts), "x") == [text.replace("\0", "\ufffd") for text in texts]


@given(st.text(alphabet="[](){}'\"\\, anub.…\n", max_size=16))
def test_any_text_is_read_refused_or_left_as_it_is(text: str) -> None:
    try:
        structure = structure_of(text, "x")
    except UnusableValue:
        return
    assert structure == text or isinstance(structure, (list, dict))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        pytest.param("('a', 'b')", ["a", "b"], id="a tuple"),
        pytest.param("{'a', 'b'}", ["a", "b"], id="a set"),
        pytest.param("['a'\n 'b']", ["a", "b"], id="NumPy, over two lines"),
        pytest.param("['a\nb']", ["a\nb"], id="a line end in a text"),
        pytest.param("array(['a', 'b'], dtype=object)", ["a", "b"], id="an array"),
        pytest.param("array(['a',\n       'b'], dtype='<U1')", ["a", "b"], id="over two lines"),
        pytest.param("['it\\'s', \"Curie's\"]", ["it's", "Curie's"], id="nested quotation marks"),
        pytest.param("['a', None]", ["a", None], id="None"),
        pytest.param("['a' nan]", ["a", None], id="nan"),
        pytest.param("[nan]", [None], id="nan alone"),
        pytest.param("[None, 'a']", [None, "a"], id="None first"),
        pytest.param("[np.str_('a'), np.str_('b')]", ["a", "b"], id="texts of NumPy"),
        pytest.param("np.array(['a'])", ["a"], id="an array by its module"),
        pytest.param("frozenset({'a'})", ["a"], id="a frozen set"),
        pytest.param("['a…' '… b']", ["a…", "… b"], id="dots in texts"),
        pytest.param("['see [1]']", ["see [1]"], id="brackets in a text"),
        pytest.param(" ['a'] ", ["a"], id="blanks around it"),
        pytest.param("[]", [], id="no item"),
    ],
)
def test_a_list_is_read(text: str, items: list[str | None]) -> None:
    assert structure_of(text, "x") == items


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("['a', 'b", id="cut within a text"),
        pytest.param("['a', ", id="cut after a text"),
        pytest.param("['a' 'b' ... 'y' 'z']", id="shortened by NumPy"),
        pytest.param("['a' 'b' … 'z']", id="shortened"),
        pytest.param("['Curie's', 'b']", id="a mark that is not escaped"),
        pytest.param("[['a'], ['b']]", id="lists in a list"),
        pytest.param("[{'page_content': 'a'}]", id="dictionaries"),
        pytest.param("[Document(page_content='a')]", id="objects"),
        pytest.param("['\\x', 'b']", id="an escape that is none"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UnusableValue, match="`references` holds a list that cannot be read"):
        structure_of(text, "references")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[1] As noted, Oslo is big.", id="the number of a note"),
        pytest.param("[Chorus] La la.", id="a word"),
        pytest.param('["Sic"] he wrote [1]', id="a quotation in brackets"),
        pytest.param("['a'] and more", id="a list, and more"),
        pytest.param('("Hello," he said.)', id="a sentence in brackets"),
        pytest.param('("Hello")', id="a quotation in round brackets"),
        pytest.param("(a) first (b) second", id="letters of items"),
        pytest.param("(None)", id="a word in round brackets"),
        pytest.param("[None of these]", id="a word that is None by chance"),
        pytest.param("list(names) is a list", id="a call in a sentence"),
        pytest.param("{name} was here", id="a variable"),
    ],
)
def test_a_text_that_begins_with_a_bracket_stays_a_text(text: str) -> None:
    assert structure_of(text, "x") == text
