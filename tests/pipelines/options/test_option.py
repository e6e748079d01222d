"""One option: the values that it takes from a flag, a file or Python, and which flags are near."""

from dataclasses import dataclass
from typing import Any

import pytest

from ufo.pipelines.options.option import Option, Parser, option, options_of
from ufo.schemas.errors import UsageError


def new_option(kind: type, **more: Any) -> Option:
    return Option("it", kind, "what it is", **more)


TENTHS = new_option(float, low=0.1, high=1)
WHOLE = new_option(int, low=0)
WORD = new_option(str, choices=("seq", "mv"))
UPPER = new_option(str, read=str.upper)


@pytest.mark.parametrize(
    ("option", "setting", "value"),
    [
        pytest.param(new_option(bool), True, True, id="a switch that is on"),
        pytest.param(new_option(bool), False, None, id="a switch that is off"),
        pytest.param(new_option(tuple), ["a", 1], ["a", "1"], id="a list of several words"),
        pytest.param(new_option(tuple), ("a", 1), ["a", "1"], id="a tuple of several words"),
        pytest.param(new_option(tuple), "a,b", ["a,b"], id="one word of several"),
        pytest.param(new_option(str), "a", "a", id="a text"),
        pytest.param(new_option(str), 5, "5", id="a number as a text"),
        pytest.param(new_option(str, metavar="A,B"), ["a", 1], "a,1", id="a list as a text"),
        pytest.param(new_option(str, metavar="A,B"), ("a", "b"), "a,b", id="a tuple as a text"),
        pytest.param(
            new_option(str, metavar="A=B,…"),
            {"a": 1, "b": "c"},
            "a=1,b=c",
            id="a mapping as a text",
        ),
        pytest.param(UPPER, "a", "A", id="a text that is read"),
        pytest.param(WORD, "mv", "mv", id="one of the choices"),
        pytest.param(WHOLE, "0", 0, id="a number that is the least"),
        pytest.param(WHOLE, 10**9, 10**9, id="a number without a greatest"),
        pytest.param(TENTHS, "0.1", 0.1, id="the least of a range"),
        pytest.param(TENTHS, 1, 1.0, id="the greatest of a range"),
    ],
)
def test_an_option_takes(option: Option, setting: Any, value: Any) -> None:
    checked = option.value_of(setting)
    assert checked == value
    assert type(checked) is type(value)


@pytest.mark.parametrize(
    ("option", "setting", "message"),
    [
        pytest.param(
            new_option(bool), "yes", "it is true or false, not 'yes'", id="a switch of words"
        ),
        pytest.param(new_option(bool), 1, "it is true or false, not 1", id="a switch of a number"),
        pytest.param(TENTHS, "nan", "not a number from 0.1 to 1$", id="no number"),
    ],
)
def test_an_option_refuses(option: Option, setting: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        option.value_of(setting)


@pytest.mark.parametrize(
    ("metavar", "is_path"), [("FILE", True), ("DIR", True), ("NAME", False), (None, False)]
)
def test_an_option_of_a_file_or_a_folder_is_a_path(metavar: str | None, is_path: bool) -> None:
    assert new_option(str, metavar=metavar).is_path == is_path


@dataclass(frozen=True)
class Group:
    plain: str = "not an option"
    number: int | None = option("a number, {default} where not given", "N", default=3, low=1)
    rate: float = option("a rate", low=0)
    switch: bool = option("a switch")
    words: tuple[str, ...] = option("words")
    text: str | None = option("a text", expert=True)


def test_a_field_declares_an_option_with_its_type_and_default() -> None:
    options = {one.name: one for one in options_of(Group)}
    kinds = {name: one.kind for name, one in options.items()}
    assert kinds == {"number": int, "rate": float, "switch": bool, "words": tuple, "text": str}
    assert options["number"].help == "a number, 3 where not given"
    assert options["number"].default == 3
    assert options["number"].metavar == "N"


@pytest.fixture
def parser() -> Parser:
    parser = Parser(prog="ufo try")
    parser.add_options({"group": options_of(Group)})
    return parser


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--numbr=5"], r"--numbr; did you mean --number\? See", id="misspelt"),
        pytest.param(["--txt", "a"], r"--txt; did you mean --text\? See", id="an expert's"),
        pytest.param(["--zzz"], r"unknown flag --zzz\. See `ufo try --help`", id="far off"),
        pytest.param(["--num", "5"], "unknown flag --num", id="the beginning of one"),
        pytest.param(["a"], r"unexpected argument 'a'\. See", id="no flag"),
    ],
)
def test_an_unknown_word_is_refused_with_the_nearest_flag(
    parser: Parser, words: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        parser.parse_args(words)


def test_the_nearest_flag_may_be_one_of_others(parser: Parser) -> None:
    parser.refuse([], ["runner"])
    with pytest.raises(UsageError, match="unknown flag --runer; did you mean --runner"):
        parser.refuse(["--runer=x"], ["runner"])
