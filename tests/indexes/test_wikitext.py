"""Wikitext becomes the text that a reader sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ufo.indexes.wikitext import is_disambiguation, readable_value, sections_of


def text_of(wikitext: str) -> str:
    return "\n".join(line for section in sections_of(wikitext) for line in section.lines)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''Ulm''' is a ''city'' in [[Germany]].", "Ulm is a city in Germany."),
        ("It lies on the [[Danube|Danube river]]s.", "It lies on the Danube rivers."),
        ("See [[:Category:Rivers|rivers]] and [[Ulm (city)|]].", "See rivers and Ulm."),
        ("A[[Category:Cities]] b[[File:X.jpg|thumb|The [[Minster]] in 1890]] c", "A b c"),
        ("Text.\n[[de:Ulm]]\n[[zh-min-nan:Ulm]]", "Text."),
        ("Born 1867<ref>{{cite book|title=X}}</ref><ref name=a /> in Ulm.", "Born 1867 in Ulm."),
        ("Hidden <!-- not [[shown]] --> words", "Hidden words"),
        ("{{Infobox person|name={{nowrap|A b}}|x=[[y]]}}\nProse.", "Prose."),
        ("A\n{|class=x\n|-\n| cell {{!}} [[a]]\n{|\n| inner\n|}\n|}\nB", "A\nB"),
        ("{| class=x\n! h\n| never closed\n== Next ==\nKept.", "Kept."),
        ("H<sub>2</sub>O and 10<sup>9</sup> and 1<sup>st</sup>", "H2O and 10^9 and 1st"),
        ("a &amp; b &nbsp;&ndash; &lt;c&gt; caf&eacute;", "a & b – <c> café"),
        ("* one\n*# two\n: three\n; four", "one\ntwo\nthree\nfour"),
        ("Area (; also {{IPA|x}}) of {{convert|100|km2|sqmi}}.", "Area (also) of 100 km²."),
        ("The name ({{IPA|x}}) , which", "The name, which"),
        ("[http://example.org The site] and [https://example.org]", "The site and"),
        ("<nowiki>[[not]] a '''link'''</nowiki>", "[[not]] a '''link'''"),
        ("<math>E = mc^{2}</math> but not <math>\\frac{a}{b}</math>.", "E = mc^2 but not."),
        ("<gallery>\nFile:A.jpg|a\n</gallery>\nAfter<br>that", "After\nthat"),
        ("__NOTOC__\n----\nText", "Text"),
        ("A [[link never closed. A {{thing likewise.", "A link never closed. A thing likewise."),
        ("Closed]] too }} early", "Closed too early"),
        ("", ""),
    ],
)
def test_markup_goes_and_words_stay(wikitext: str, expected: str) -> None:
    assert text_of(wikitext) == expected


def test_sections_carry_the_headings_above_them() -> None:
    found = sections_of(
        "Lead.\n== A ==\nOne.\n=== B ===\nTwo.\n== C ==\n=== D ===\nThree.\n==E==\n"
    )
    assert [(section.heading, section.lines) for section in found] == [
        ("", ("Lead.",)),
        ("A", ("One.",)),
        ("A > B", ("Two.",)),
        ("C > D", ("Three.",)),
    ]


def test_a_file_link_that_swallows_a_section_does_not_hide_it() -> None:
    assert "Kept." in text_of("[[File:x.jpg|thumb\n== Next ==\nKept. ]]")


def test_deep_and_unclosed_nesting_takes_linear_time_and_loses_no_prose_after_it() -> None:
    tables = "{|\n|-\n|\n" * 50 + "inner" + "\n|}" * 50 + "\nAfter."
    assert text_of(tables) == "After."
    for broken in (
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
    ):
        assert text_of("Before.\n\n" + broken * 20_000).startswith("Before.")


def test_other_names_of_the_file_namespace_are_dropped_too() -> None:
    found = sections_of("A [[Datei:x.jpg|thumb|y]]b", frozenset({"datei"}))
    assert found[0].lines == ("A b",)


PIECES = """
    {{ }} [[ ]] | {| |} == ''' <ref> </ref> <!-- --> File:x <br> &amp; * word 1,000 <nowiki>
    </nowiki> é {{!}} {{nowrap| <math> __TOC__ [http://x.org
"""
MARKUP = st.sampled_from([*PIECES.split(), " ", "\n"])


@given(st.lists(MARKUP | st.text(max_size=5), max_size=60).map("".join))
def test_any_input_gives_clean_lines(wikitext: str) -> None:
    for section in sections_of(wikitext):
        assert section.lines
        for line in section.lines:
            assert line == line.strip() != ""
            assert any(map(str.isalnum, line))
            assert "<ref>" not in line or "nowiki" in wikitext or "&" in wikitext


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=30))
def test_plain_words_pass_unchanged(words: list[str]) -> None:
    assert text_of(" ".join(words)) == " ".join(words)


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''Ada''' may refer to:\n* x\n{{disambiguation}}", True),
        ("x {{Disambiguation|geo|hndis}}", True),
        ("x {{ hndis | name = Ada }}", True),
        ("x {{geodis}}", True),
        ("x {{School_disambiguation}}", True),
        ("x {{disambiguation cleanup|date=May 2020}}", True),
        ("x __DISAMBIG__", True),
        ("Mercury (disambiguation) links here. {{about|x|y|Mercury (disambiguation)}}", False),
        ("[[Paris]]{{disambiguation needed}} is", False),
        ("{{distinguish|x}} {{Discography}}", False),
        ("{{other uses|Ada (disambiguation)}}", False),
    ],
)
def test_disambiguation_is_reported_by_template(wikitext: str, expected: bool) -> None:
    assert is_disambiguation(wikitext) is expected


def test_letters_that_grow_in_lower_case_do_not_shift_what_is_removed() -> None:
    text = "İstanbul and İzmir.<!-- x -->\n== Next ==\nIt<ref>no</ref> goes on."
    assert [(section.heading, section.lines) for section in sections_of(text)] == [
        ("", ("İstanbul and İzmir.",)),
        ("Next", ("It goes on.",)),
    ]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("convert|100|km|mi", "100 km"),
        ("Convert|1,234.5|mi|km|abbr=on", "1,234.5 miles"),
        ("convert|5|to|10|C|F", "5 to 10 °C"),
        ("convert|5|-|10|m|ft|0", "5–10 m"),
        ("convert|5|ft|11|in|cm", "5 ft 11 in"),
        ("cvt|-40|C", "-40 °C"),
        ("lang|de|Donau", "Donau"),
        ("lang-de|Donau", "Donau"),
        ("langx|de|Donau", "Donau"),
        ("nowrap|10 m", "10 m"),
        ("nowrap|1=a = b", "a = b"),
        ("birth date and age|df=yes|1867|11|7", "7 November 1867"),
        ("start date|1999|12", "December 1999"),
        ("as of|2020", "As of 2020"),
        ("circa|1500", "c. 1500"),
        ("frac|1|2", "1/2"),
        ("frac|3|1|2", "3 1/2"),
        ("frac|8", "1/8"),
        ("formatnum:1234", "1234"),
        ("hlist|a|b||c", "a, b, c"),
        ("nihongo|Mount Fuji|富士山|Fujisan", "Mount Fuji (Fujisan)"),
        ("ship|HMS|Beagle", "HMS Beagle"),
        ("US$|100", "US$100"),
        ("spaced ndash", " – "),
        ("as_of|2020", "As of 2020"),
        ("nowrap", ""),
        ("Infobox person|name=Ada", ""),
        ("citation needed|date=May 2020", ""),
        ("#if:x|y|z", ""),
        ("", ""),
        ("|", ""),
    ],
)
def test_what_a_reader_sees(content: str, shown: str) -> None:
    assert readable_value(content) == shown


@pytest.mark.parametrize("name", ["convert", "birth date", "frac", "nihongo", "reign", "ship", "e"])
@pytest.mark.parametrize("arguments", ["", "|", "||||", "|x|y|z", "|=|==", "|1/2|+", "|99|99|99"])
def test_odd_arguments_do_no_harm(name: str, arguments: str) -> None:
    assert isinstance(readable_value(name + arguments), str)
