from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from ufo.schemas.ids import content_id, passage_id, unit_ids

ANY_TEXT = st.text(st.characters(), max_size=20)


def test_a_unit_id_is_what_the_contract_says() -> None:
    # 16 hex digits of SHA-256 over (response id, sentence index, NFC claim).
    joined = "\x1f".join(["r1", "0", "caf\u00e9"])
    expected = sha256(joined.encode()).hexdigest()[:16]
    assert unit_ids("r1", [(0, "cafe\u0301"), (0, "caf\u00e9")]) == [expected, f"{expected}-1"]


def test_repeats_are_numbered_within_sentence_and_claim() -> None:
    ids = unit_ids("r", [(0, "a"), (1, "a"), (0, "a"), (None, "a"), (0, "a"), (0, "b")])
    assert ids[2] == f"{ids[0]}-1"
    assert ids[4] == f"{ids[0]}-2"
    assert len(set(ids)) == 6
    assert "-" not in ids[1] + ids[3] + ids[5]


@given(ANY_TEXT, st.lists(st.tuples(st.none() | st.integers(0, 3), ANY_TEXT), max_size=8))
def test_unit_ids_are_unique_and_a_function_of_the_content(
    response_id: str, claims: list[tuple[int | None, str]]
) -> None:
    ids = unit_ids(response_id, claims)
    assert len(set(ids)) == len(claims)
    assert ids == unit_ids(response_id, claims)
    # What comes later never renames what came before.
    assert unit_ids(response_id, claims[:-1]) == ids[:-1]


@given(ANY_TEXT, ANY_TEXT)
def test_parts_do_not_run_together(one: str, other: str) -> None:
    assert content_id(one + "x", other) != content_id(one, "x" + other)


def test_a_passage_id_names_its_source_and_tells_repeats_apart() -> None:
    first = passage_id("wiki", "https://e.org/a", "text")
    assert first.startswith("wiki:")
    assert len(first) == len("wiki:") + 16
    others = {
        passage_id("wiki", "https://e.org/a", "text", 1),
        passage_id("wiki", None, "text"),
        passage_id("web", "https://e.org/a", "text"),
        passage_id("wiki", "https://e.org/a", "text!"),
    }
    assert first not in others
    assert len(others) == 4
    assert passage_id("wiki", None, "text") == passage_id("wiki", "", "text")
