"""Wikitext becomes the text that a reader sees."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.indexes.wikitext import is_disambiguation, readable_value, sections_of

HERE = Path(__file__).parent
TEMPLATES = cases(HERE / "templates.txt")


def text_of(wikitext: str) -> str:
    return "\n".join(line for section in sections_of(wikitext) for line in section.lines)


@pytest.mark.parametrize(("wikitext", "expected"), [*cases(HERE / "wikitext.txt"), ("", "")])
def test_markup_goes_and_words_stay(wikitext: str, expected: str) -> None:
    assert text_of(wikitext) == expected


@pytest.mark.parametrize(
    ("content", "shown"),
    [*(row for row in TEMPLATES if len(row) == 2), ("spaced ndash", " – "), ("", "")],
)
def test_templates_are_what_a_reader_sees_of_them(content: str, shown: str) -> None:
    assert readable_value(content) == shown


HEADINGS = """Lead.
== A ==
One.[[Datei:x.jpg|thumb|y]]
=== B ===
İstanbul and İzmir.<!-- Letters that grow in lower case do not shift what is removed. -->
== C ==
=== D ===
It<ref>no</ref> goes on.
==E==
"""


def test_sections_carry_the_headings_above_them() -> None:
    sections = sections_of(HEADINGS, frozenset({"datei"}))
    said = " | ".join(f"{one.heading}: {' / '.join(one.lines)}" for one in sections)
    assert said == ": Lead. | A: One. | A > B: İstanbul and İzmir. | C > D: It goes on."


BROKEN = ["{{", "[[", "\n{|", "<ref>", "<!-- -->", "[http://a", "{{nowrap|", "(", "<", "== "]


def test_deep_and_unclosed_nesting_takes_linear_time_and_loses_no_prose_after_it() -> None:
    tables = "{|\n|-\n|\n" * 50 + "inner" + "\n|}" * 50 + "\nAfter."
    assert text_of(tables) == "After."
    assert "Kept." in text_of("[[File:x.jpg|thumb\n== Next ==\nKept. ]]")
    for broken in BROKEN:
        assert text_of("Before.\n\n" + broken * 20_000).startswith("Before.")


PIECES = """
    {{ }} [[ ]] | {| |} == ''' <ref> </ref> <!-- --> File:x <br> &amp; * word 1,000 <nowiki>
    </nowiki> é {{!}} {{nowrap| <math> __TOC__ [http://x.org
"""
MARKUP = st.sampled_from([*PIECES.split(), " ", "\n"])


@given(st.lists(MARKUP | st.text(max_size=5), max_size=60).map("".join))
def test_any_input_gives_clean_lines(wikitext: str) -> None:
    for line in (line for section in sections_of(wikitext) for line in section.lines):
        assert line == line.strip() != ""
        assert any(map(str.isalnum, line))
        assert "<ref>" not in line or "nowiki" in wikitext or "&" in wikitext


@pytest.mark.parametrize(("wikitext", "leads", "_"), [row for row in TEMPLATES if len(row) == 3])
def test_disambiguation_is_reported_by_template(wikitext: str, leads: str, _: str) -> None:
    assert is_disambiguation(wikitext) is bool(leads)


@pytest.mark.parametrize("name", ["convert", "birth date", "frac", "nihongo", "reign", "ship", "e"])
@pytest.mark.parametrize("arguments", ["", "|", "||||", "|x|y|z", "|=|==", "|1/2|+", "|99|99|99"])
def test_odd_arguments_do_no_harm(name: str, arguments: str) -> None:
    assert isinstance(readable_value(name + arguments), str)
