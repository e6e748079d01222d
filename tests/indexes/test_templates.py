"""Templates have the text that a reader sees of them, or are known not to."""

from pathlib import Path

import pytest

from tests.case_files import cases
from ufo.indexes.templates import GAP, Unrendered, formula, render

HERE = Path(__file__).parent


def shown(content: str, language: str = "en") -> str:
    text = render(content, language)
    return "?" if isinstance(text, Unrendered) else text.rstrip(GAP).replace(GAP, "~")


@pytest.mark.parametrize(
    ("content", "text"), [*cases(HERE / "templates.txt"), ("spaced ndash", " – ")]
)
def test_a_template_is_what_a_reader_sees_or_unrendered(content: str, text: str) -> None:
    assert shown(content) == text.replace("_", " ")


@pytest.mark.parametrize(("language", "content", "text"), cases(HERE / "templates_elsewhere.txt"))
def test_a_template_means_what_it_does_in_the_language_of_the_wiki(
    language: str, content: str, text: str
) -> None:
    assert shown(content, language) == text


NAMES = [
    (name, arguments, text)
    for arguments, text, names in cases(HERE / "template_names.txt")
    for name in names.split(", ")
]


@pytest.mark.parametrize(("name", "arguments", "text"), NAMES, ids=[row[0] for row in NAMES])
def test_a_template_goes_by_each_of_its_names(name: str, arguments: str, text: str) -> None:
    assert shown(name + arguments.rstrip("$")) == text.replace("_", " ")


UNITS = """
    km2=km² m2=m² cm2=cm² mm2=mm² km3=km³ m3=m³ cm3=cm³ sqmi=square_miles sqkm=km² sqft=square_feet
    sqm=m² sqyd=square_yards cuft=cubic_feet cumi=cubic_miles cuyd=cubic_yards mi=miles kph=km/h
    C=°C F=°F foot=feet mile=miles meter=metres metre=metres kilometer=kilometres acre=acres
    inch=inches lb=lb pound=pounds m3/s=m³/s cuft/s=cubic_feet_per_second PD/sqkm=per_km²
    PD/sqmi=per_square_mile nmi=nautical_miles oilbbl=barrels LT=long_tons
"""


@pytest.mark.parametrize("unit", UNITS.split())
def test_a_measure_has_its_unit_in_words(unit: str) -> None:
    code, _, name = unit.partition("=")
    assert shown(f"convert|5|{code}") == f"5 {name.replace('_', ' ')}"


BETWEEN = (
    "-=– –=– to=_to_ and=_and_ or=_or_ by=_by_ x=_×_ ×=_×_ *=_×_ +/-=_±_ ±=_±_ to(-)=_to_ &=_and_"
)


@pytest.mark.parametrize("word", BETWEEN.split())
def test_what_stands_between_two_measures_stays(word: str) -> None:
    code, _, text = word.partition("=")
    between = text.replace("_", " ")
    assert shown(f"convert|5|{code}|6|{code}|7|K") == f"5{between}6{between}7 K"


@pytest.mark.parametrize(
    ("content", "name", "aside"),
    [
        pytest.param("Unheard_of|x", "unheard of", False, id="another template"),
        pytest.param("IPAc-en|x", "ipac-en", True, id="a sound"),
        pytest.param("zh|s=x", "zh", True, id="another script"),
        pytest.param("lang-zh|s=x", "lang-zh", True, id="another language"),
        pytest.param("coord|8|N", "coord", True, id="a place"),
        pytest.param("#expr:1", "#expr:", False, id="a function"),
        pytest.param("x" * 81, "x" * 80, False, id="a long name"),
    ],
)
def test_what_has_no_text_has_a_name(content: str, name: str, aside: bool) -> None:
    assert render(content) == Unrendered(name, aside)


@pytest.mark.parametrize("name", ["convert", "birth date", "frac", "nihongo", "reign", "ship", "e"])
@pytest.mark.parametrize("arguments", ["", "|", "||||", "|x|y|z", "|=|==", "|1/2|+", "|99|99|99"])
def test_odd_arguments_do_no_harm(name: str, arguments: str) -> None:
    assert isinstance(shown(name + arguments), str)


def test_an_argument_with_a_huge_number_takes_no_room() -> None:
    assert shown("hlist|a|999999999=b") == "a"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("E = mc^{2}", "E = mc^2"),
        (r"3\times 10^{8}", "3 × 10^8"),
        (r"10\,000", "10 000"),
        (r"\alpha_{1} \leq 5", "α_1 ≤ 5"),
        (r"\frac{1}{2}", None),
        ("x^{12}3", None),
        ("x^{n+1}", None),
        (r"5\%", None),
        ("10^12", None),
        ("10^-6", None),
        ("x_1 + y^2z", "x_1 + y^2z"),
        ("{a}", None),
        ("", ""),
    ],
)
def test_a_formula_has_a_text_if_it_has_plain_signs(content: str, text: str | None) -> None:
    assert formula(content) == text
