import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.keys import keys_in, name_keys


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
