import pytest

from ufo.indexes.templates import readable_value


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
