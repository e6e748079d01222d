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


NAMES = [
    (name, arguments, shown)
    for arguments, shown, names in cases(HERE / "template_names.txt")
    for name in names.split(", ")
]


@pytest.mark.parametrize(("name", "arguments", "shown"), NAMES, ids=[row[0] for row in NAMES])
def test_a_template_goes_by_each_of_its_names(name: str, arguments: str, shown: str) -> None:
    assert readable_value(name + arguments.rstrip("$")) == shown.replace("_", " ")


UNITS = """
    km2=km² m2=m² cm2=cm² mm2=mm² km3=km³ m3=m³ cm3=cm³ sqmi=square_miles sqkm=km² sqft=square_feet
    sqm=m² sqyd=sq_yd cuft=cubic_feet cumi=cubic_miles cuyd=cubic_yards mi=miles kph=km/h C=°C F=°F
    foot=feet mile=miles meter=metres metre=metres kilometer=kilometres acre=acres inch=inches lb=lb
    pound=pounds m3/s=m³/s cuft/s=cubic_feet_per_second PD/sqkm=per_km² PD/sqmi=per_square_mile
"""


@pytest.mark.parametrize("unit", UNITS.split())
def test_a_measure_has_its_unit_in_words(unit: str) -> None:
    given, _, shown = unit.partition("=")
    assert readable_value(f"convert|5|{given}") == f"5 {shown.replace('_', ' ')}"


BETWEEN = (
    "-=– –=– to=_to_ and=_and_ or=_or_ by=_by_ x=_×_ ×=_×_ *=_×_ +/-=_±_ ±=_±_ to(-)=_to_ &=_and_"
)


@pytest.mark.parametrize("word", BETWEEN.split())
def test_what_stands_between_two_measures_stays(word: str) -> None:
    given, _, shown = word.partition("=")
    said = shown.replace("_", " ")
    assert readable_value(f"convert|5|{given}|6|{given}|7|K") == f"5{said}6{said}7 K"


DROPPED = """
    ref references gallery timeline score graph hiero imagemap source syntaxhighlight chem ce
    templatestyles indicator mapframe maplink categorytree section inputbox
"""


@pytest.mark.parametrize("tag", DROPPED.split())
def test_an_element_without_prose_goes(tag: str) -> None:
    assert text_of(f"A <{tag} x=1>b</{tag}>c") == "A c"


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


def test_two_hundred_brackets_are_open_at_most() -> None:
    assert text_of("{{nowrap|" * 200 + "x" + "}}" * 200) == "x"
    assert text_of("{{nowrap|" * 201 + "x" + "}}" * 201) != "x"


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


DISAMBIGUATIONS = """
    disambiguation disambig disamb dab dis dbig lnd disambiguation-cleanup hndis hndisambig
    hndab namedab geodis geo-dis geodab placedis mathdab mathdis numberdis bio-dab biodab
    schooldis roaddis hospitaldis molfile-dab mil-unit-dis milunitdis airportdis stationdis
    shipindex-dis wpdab tvdab sportdis letter-numbercombdisambig listdis songdis taxondis
    genusdis
"""


@pytest.mark.parametrize("name", DISAMBIGUATIONS.split())
def test_a_disambiguation_goes_by_each_of_these_names(name: str) -> None:
    assert is_disambiguation(f"A may be:{{{{{name}}}}}")


@pytest.mark.parametrize("name", ["convert", "birth date", "frac", "nihongo", "reign", "ship", "e"])
@pytest.mark.parametrize("arguments", ["", "|", "||||", "|x|y|z", "|=|==", "|1/2|+", "|99|99|99"])
def test_odd_arguments_do_no_harm(name: str, arguments: str) -> None:
    assert isinstance(readable_value(name + arguments), str)
