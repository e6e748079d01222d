"""Wikitext becomes the text that a reader sees."""

import re
from pathlib import Path

import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import cases
from ufo.indexes.wikitext import Article, article_of, sentences_of
from ufo.schemas.documents import Section

HERE = Path(__file__).parent


def text_of(wikitext: str, language: str = "en") -> str:
    sections = article_of(wikitext, language=language).sections
    return "\n".join(line for section in sections for line in section.lines)


@pytest.mark.parametrize(("wikitext", "expected"), [*cases(HERE / "wikitext.txt"), ("", "")])
def test_markup_goes_and_words_stay(wikitext: str, expected: str) -> None:
    assert text_of(wikitext) == expected


@pytest.mark.parametrize(("language", "wikitext", "text"), cases(HERE / "variants.txt"))
def test_one_of_several_variants_is_read(language: str, wikitext: str, text: str) -> None:
    assert text_of(wikitext, language) == text


def test_a_variant_for_one_target_alone_has_its_text() -> None:
    assert text_of("-{甲=>zh-cn:程序;甲=>zh-tw:程式}-。", "zh") == "程序。"


DROPPED = """
    ref references gallery timeline imagemap templatestyles indicator mapframe maplink categorytree
    section inputbox
"""


@pytest.mark.parametrize("tag", DROPPED.split())
def test_an_element_without_prose_goes(tag: str) -> None:
    assert text_of(f"A <{tag} x=1>b</{tag}>c") == "A c"


@pytest.mark.parametrize(
    "tag", ["score", "graph", "hiero", "source", "syntaxhighlight", "chem", "ce", "math"]
)
def test_an_element_whose_text_is_lost_takes_its_sentence(tag: str) -> None:
    assert text_of(f"A <{tag}>\\b</{tag}> was. It is.") == "It is."


def test_sentences_that_were_left_out_are_counted_by_what_took_them() -> None:
    article = article_of(
        "It {{x|1}} was {{x|2}}. He {{x}} {{y}}. So it is.\n* {{y}} was. So.\n\n{{box}}\n"
        "== A {{z}} ==\nSo it was. <math>\\frac</math> is."
    )
    assert article.left_out == 5
    assert article.by_name == {"x": 2, "y": 2, "z": 1, "<math>": 1}
    assert article.sections == (Section("", ("So it is.",)), Section("", ("So it was.",)))
    assert article_of("A.") == Article((Section("", ("A.",)),))


def test_a_name_that_another_template_makes_is_printable() -> None:
    article = article_of("It is {{a {{b}}|5}}. It was {{}}. So it is.")
    assert article.by_name == {"a …": 1, "{{}}": 1}


def test_a_long_line_has_the_same_sentences() -> None:
    line = "So it is, and “that is all” there is. " * 1_000
    assert sentences_of(line, "en") == list(sentencex.segment("en", line))
    assert "".join(sentences_of("「a。x" * 10_000, "ja")) == "「a。x" * 10_000


def test_a_long_page_has_a_mark_for_each_template() -> None:
    names = [f"t{number}" for number in range(5_000)]
    article = article_of("\n".join(f"A {{{{{name}}}}} b.\n" for name in names))
    assert article.left_out == 5_000
    assert len(article.by_name) == 4_096


@pytest.mark.parametrize(
    "mark",
    ["\x02\x04\x04\x04", "\x03\x04\x04\x04", "&#2;\x04\x04\x04"],
)
def test_an_input_cannot_have_marks_of_its_own(mark: str) -> None:
    assert article_of(f"A {mark} b. {{{{x}}}} c.").left_out == 1
    assert article_of(f"A {mark} b.").left_out == 0


@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param("zh", "北京有{{x}}人。上海有5人。", id="Chinese"),
        pytest.param("ja", "北京有{{x}}人。上海有5人。", id="Japanese"),
        pytest.param("xx", "北京有{{x}}人。上海有5人。", id="no known language"),
    ],
)
def test_sentences_of_a_script_without_spaces_go_by_themselves(language: str, text: str) -> None:
    assert text_of(text, language) == "上海有5人。"


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        ("fr", "En 52 av. J.-C. il vint, {{x}}. Fin.", "Fin."),
        ("es", "Tiene aprox. {{x}} m. Fin.", "Fin."),
        ("ja", "彼は「東。」と{{x}}言った。終。", "終。"),
        ("ja", "彼は「{{x}}。」と言った。「終。」完。", "「終。」完。"),
        ("zh", "他是。（他。{{x}}）好。完。", "他是。完。"),
    ],
)
def test_no_part_of_a_sentence_stays(language: str, text: str, kept: str) -> None:
    assert text_of(text, language) == kept


@pytest.mark.parametrize("tag", ["File", "image", "MEDIA", "category"])
def test_a_link_without_text_goes(tag: str) -> None:
    assert text_of(f"A [[{tag}:x|b]]c") == "A c"


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
    sections = article_of(HEADINGS, frozenset({"datei"})).sections
    shown = " | ".join(f"{one.heading}: {' / '.join(one.lines)}" for one in sections)
    assert shown == ": Lead. | A: One. | A > B: İstanbul and İzmir. | C > D: It goes on."


BROKEN = [
    "-{",
    "({{IPA|x}}",
    "<sup>",
    "-{a;  ",
    "({",
    "{{x|  ",
    "{{",
    "[[",
    "\n{|",
    "<ref>",
    "<!-- -->",
    "[http://a",
    "{{nowrap|",
    "(",
    "<",
    "== ",
]


def test_deep_and_unclosed_nesting_takes_linear_time_and_loses_no_prose_after_it() -> None:
    tables = "{|\n|-\n|\n" * 50 + "inner" + "\n|}" * 50 + "\nAfter."
    assert text_of(tables) == "After."
    assert "Kept." in text_of("[[File:x.jpg|thumb\n== Next ==\nKept. ]]")
    for broken in BROKEN:
        assert text_of("Before.\n\n" + broken * 20_000).startswith("Before.")


def test_two_hundred_brackets_are_open_at_most() -> None:
    assert text_of("{{nowrap|" * 200 + "x" + "}}" * 200) == "x"
    assert text_of("{{nowrap|" * 201 + "x" + "}}" * 201) != "x"


PIECES = """
    {{ }} [[ ]] | {| |} == ''' <ref> </ref> <!-- --> File:x <br> &amp; * word 1,000 <nowiki>
    </nowiki> é {{!}} {{nowrap| <math> __TOC__ [http://x.org {{x}} {{IPA|x}} ( ) {{efn}}
    <sup> </sup> {{frac|1|2}} -{ }- \x01 \x02 \x03
"""
CONTROLS = re.compile("[\x01-\x03]")  # of marks
MARKUP = st.sampled_from([*PIECES.split(), " ", "\n"])


@given(st.lists(MARKUP | st.text(max_size=5), max_size=60).map("".join))
def test_any_input_gives_clean_lines(wikitext: str) -> None:
    for line in text_of(wikitext).split("\n") if text_of(wikitext) else ():
        assert line == line.strip() != ""
        assert any(map(str.isalnum, line))
        assert not CONTROLS.search(line)
        assert "<ref>" not in line or "nowiki" in wikitext or "&" in wikitext


NUMBERS = re.compile(r"\d+")
DIGITS = st.integers(1, 99_999).map(str)
# What ends or begins with a digit in the line of the text is one number with what touches it.
IN_LINE = st.sampled_from([" {} ", " {{{{nowrap|{}}}}} ", " <b>{}</b> ", " {{{{us$|{}}}}} "])
RAISED = st.sampled_from(["<sup>{}</sup>", "<sub>{}</sub>", "{{{{sup|{}}}}}", "{{{{10^|{}}}}}"])
OF_TWO = st.sampled_from(
    [
        "{{{{frac|{}|{}}}}}",
        "{{{{sfrac|{}|{}}}}}",
        "<sup>{}</sup>/<sub>{}</sub>",
        "{{{{pow|{}|{}}}}}",
        "{{{{chem|O|{}|H|{}}}}}",
        " {{{{val|{}|e={}}}}}",
        " {{{{convert|{}|-|{}|km}}}}",
        "{{{{x|{}|{}}}}}",
        "<math>x^{{{}}}+{}</math>",
        "<ref>{} {}</ref>",
        "{{{{efn|{} {}}}}}",
    ]
)
MEASURES = st.builds(str.format, IN_LINE | RAISED, DIGITS) | st.builds(
    str.format, OF_TWO, DIGITS, DIGITS
)
WORDS = st.sampled_from([" ", ". A ", "km", "(", ")", ",", "-", "×", "\n", " c. "])


@given(st.lists(MEASURES | WORDS, max_size=20))
def test_no_number_is_made_of_others(pieces: list[str]) -> None:
    wikitext = "".join(pieces)
    powers = {"10"} if "10^" in wikitext or "val" in wikitext else set()
    assert set(NUMBERS.findall(text_of(wikitext))) <= set(NUMBERS.findall(wikitext)) | powers


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("3{{e|8}}5", "3×10^8 5"),
        ("{{frac|1|2}}5", "1/2 5"),
        ("{{chem|O|2}}5", "O2 5"),
        ("{{val|5}}<sup>6</sup>", "5^6"),
        ("5<ref>x</ref>6<ref name=x />7", "5 6 7"),
        ("5{{efn|x}}6{{citation needed}}, 7", "5 6, 7"),
        ("5 ({{IPA|x}})6 ()7", "5 6 7"),
        (
            "{{convert|5<ref>x</ref>|km}} and {{birth date|1890|{{efn|x}}6|4}}",
            "5 km and 4 June 1890",
        ),
        ("{{convert|5{{frac|1|2}}|km}} is. It is.", "It is."),
        ("5<!-- x -->6", "56"),
        ("5\x016", "56"),
        ("5<nowiki />6", "56"),
        ("{{nowrap|5}}6", "56"),
        ("'''5'''6", "56"),
    ],
)
def test_what_follows_a_number_is_not_of_it_unless_a_reader_sees_it_so(
    wikitext: str, text: str
) -> None:
    assert text_of(wikitext) == text
