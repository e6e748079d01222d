"""What the flags of commands are made of: the parser, the types of their values, a flag."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from schemas.errors import UsageError, unknown_value


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError, so that every wrong flag ends the same way."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line."""
        raise UsageError(f"{message}. See `{self.prog} --help`.")


def one_of(what: str, allowed: Sequence[str]) -> Callable[[str], str]:
    """Return an argparse type for one of a few words; another one is told the nearest."""

    def checked(value: str) -> str:
        if value not in allowed:
            raise UsageError(unknown_value(what, value, allowed))
        return value

    return checked


def number(
    what: str, low: float, high: float | None = None, whole: bool = True
) -> Callable[[str], Any]:
    """Return an argparse type for a number within bounds."""

    def checked(text: str) -> int | float:
        kind = int if whole else float
        bounds = f"from {low:g}" + (f" to {high:g}" if high is not None else "")
        try:
            value = kind(text)
        except ValueError:
            value = kind(low) - 1
        if not low <= value or (high is not None and value > high):
            noun = "a whole number" if whole else "a number"
            raise UsageError(f"{what} {text!r} is not {noun} {bounds}")
        return value

    return checked


def names(text: str) -> list[str]:
    """Return the names in a list with commas.

    Raises:
        UsageError: there is none.
    """
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise UsageError("--sources names no source")
    return found


def secrets(text: str) -> dict[str, str]:
    """Return the variables in a list of secrets, each with the name of its secret.

    Raises:
        UsageError: it is none.
    """
    from transforms.secrets import named_secrets

    return named_secrets(text)


def cache_uri(text: str) -> str:
    """Return the place of a cache, absolute.

    Raises:
        UsageError: it is none.
    """
    from transforms.llm.store import checked_uri

    return checked_uri(text)


_OF_ONE: dict[str, Callable[[str], Any]] = {
    "sources": names,
    "cache": cache_uri,
    "secrets": secrets,
}


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag `--name`: what it takes, and its help. A metavar of None is a switch."""

    name: str
    help: str
    metavar: str | None = None
    allowed: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    whole: bool = True

    def add(self, group: "argparse._ActionsContainer") -> None:
        """Declare it."""
        flag = f"--{self.name}"
        if self.name == "input":
            group.add_argument(
                flag, nargs="+", action="extend", metavar=self.metavar, help=self.help
            )
        elif self.metavar is None:
            group.add_argument(flag, action="store_const", const=True, help=self.help)
        else:
            group.add_argument(flag, type=self._type(flag), metavar=self.metavar, help=self.help)

    def _type(self, flag: str) -> Callable[[str], Any]:
        if self.allowed:
            return one_of(flag, self.allowed)
        if self.low is not None:
            return number(flag, self.low, self.high, self.whole)
        return _OF_ONE.get(self.name, str)
