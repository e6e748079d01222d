"""One option: the values that it takes from a flag, a file or Python, and which flags are near."""

from dataclasses import dataclass
from typing import Any

import pytest

from ufo.pipelines.options.option import Option, Parser, option, options_of
from ufo.schemas.errors import UsageError


def made(kind: type, **more: Any) -> Option:
    return Option("it", kind, "what it is", **more)


TENTHS = made(float, low=0.1, high=1)
WHOLE = made(int, low=0)
WORD = made(str, choices=("seq", "mv"))
UPPER = made(str, read=str.upper)


@pytest.mark.parametrize(
    ("one", "given", "value"),
    [
        pytest.param(made(bool), True, True, id="a switch that is on"),
        pytest.param(made(bool), False, None, id="a switch that is off"),
        pytest.param(made(tuple), ["a", 1], ["a", "1"], id="a list of several words"),
        pytest.param(made(tuple), ("a", 1), ["a", "1"], id="a tuple of several words"),
        pytest.param(made(tuple), "a,b", ["a,b"], id="one word of several"),
        pytest.param(made(str), "a", "a", id="a text"),
        pytest.param(made(str), 5, "5", id="a number as a text"),
        pytest.param(made(str, metavar="A,B"), ["a", 1], "a,1", id="a list as a text"),
        pytest.param(made(str, metavar="A,B"), ("a", "b"), "a,b", id="a tuple as a text"),
        pytest.param(
            made(str, metavar="A=B,…"), {"a": 1, "b": "c"}, "a=1,b=c", id="a mapping as a text"
        ),
        pytest.param(UPPER, "a", "A", id="a text that is read"),
        pytest.param(WORD, "mv", "mv", id="one of the choices"),
        pytest.param(WHOLE, "0", 0, id="a number that is the least"),
        pytest.param(WHOLE, 10**9, 10**9, id="a number without a greatest"),
        pytest.param(TENTHS, "0.1", 0.1, id="the least of a range"),
        pytest.param(TENTHS, 1, 1.0, id="the greatest of a range"),
    ],
)
def test_an_option_takes(one: Option, given: Any, value: Any) -> None:
    found = one.value_of(given)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("one", "given", "message"),
    [
        pytest.param(made(bool), "yes", "it is true or false, not 'yes'", id="a switch of words"),
        pytest.param(made(bool), 1, "it is true or false, not 1", id="a switch of a number"),
        pytest.param(TENTHS, "nan", "not a number from 0.1 to 1$", id="no number"),
    ],
)
def test_an_option_refuses(one: Option, given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        one.value_of(given)


@pytest.mark.parametrize(
    ("metavar", "is_path"), [("FILE", True), ("DIR", True), ("NAME", False), (None, False)]
)
def test_an_option_of_a_file_or_a_folder_is_a_path(metavar: str | None, is_path: bool) -> None:
    assert made(str, metavar=metavar).is_path == is_path


@dataclass(frozen=True)
class Group:
    plain: str = "not an option"
    number: int | None = option("a number, {default} where not given", "N", default=3, low=1)
    rate: float = option("a rate", low=0)
    switch: bool = option("a switch")
    words: tuple[str, ...] = option("words")
    text: str | None = option("a text", expert=True)


def test_a_field_declares_an_option_with_its_type_and_default() -> None:
    found = {one.name: one for one in options_of(Group)}
    kinds = {name: one.kind for name, one in found.items()}
    assert kinds == {"number": int, "rate": float, "switch": bool, "words": tuple, "text": str}
    assert found["number"].help == "a number, 3 where not given"
    assert found["number"].default == 3
    assert found["number"].metavar == "N"


@pytest.fixture
def parser() -> Parser:
    made = Parser(prog="ufo try")
    made.add_options({"group": options_of(Group)})
    return made


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
