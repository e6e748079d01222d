from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.text import storable, without_nul


@given(st.text(st.characters()))
def test_any_text_can_be_stored_with_the_same_offsets(text: str) -> None:
    found = storable(text)
    assert len(found) == len(text)
    assert "\0" not in found
    assert found.encode().decode() == found
    assert all(new in (old, "\ufffd") for old, new in zip(text, found, strict=True))


def test_every_text_of_a_value() -> None:
    given_value = {"a\0": ["\0", 1, None, {"b": "c\0"}], "d": True}
    assert without_nul(given_value) == {
        "a\ufffd": ["\ufffd", 1, None, {"b": "c\ufffd"}],
        "d": True,
    }
    assert without_nul("\ud800\0") == "\ud800\ufffd"
