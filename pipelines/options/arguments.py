"""Declare an option once, as a field of a dataclass; parse flags by such declarations."""

import argparse
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Flag, auto
from functools import partial
from typing import Any, NoReturn, get_args, get_origin

from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.llm.endpoint import check_url


class Affects(Flag):
    """Which part of a run's fingerprint an option enters, since results depend on it."""

    RUN = auto()
    """It is in it as what it names: what the inputs hold, what the sources are."""
    RESULTS = auto()
    """The value itself is in it."""
    SOURCE = auto()
    """That of the fact sources whose constructors name the option, and get its value."""
    JUDGE = auto()
    """That of the judge that takes it."""
    FUNCTION = auto()
    """The same, of the LLM judge's formulation `function` alone."""


NOTHING = Affects(0)


def url_of(flag: str) -> Callable[[str], str]:
    """Return what reads the URL of an endpoint, or raises a UsageError that names the flag."""

    def read(url: str) -> str:
        try:
            check_url(url, flag)
        except ValueError as error:
            raise UsageError(str(error)) from None
        return url

    return read


@dataclass(frozen=True, slots=True)
class Option:
    """An option: a flag `--name`, a key of the configuration file, a keyword in Python.

    `kind` is bool for a switch, int or float for a number from `low` to `high`, tuple for several
    words, else str: one of `choices` where there are any, and `read` makes a value of the text.
    `affects` says whose part of a run's fingerprint it enters: none where results are the same.
    """

    name: str
    kind: type
    help: str
    metavar: str | None = None
    default: Any = None
    choices: Sequence[str] = ()
    low: float | None = None
    high: float | None = None
    read: Callable[[str], Any] = str
    affects: Affects = NOTHING

    def add(self, group: "argparse._ActionsContainer") -> None:
        """Declare its flag. One that is not given stays None: the configuration file, and then the
        default, fill it."""
        flag = f"--{self.name}"
        if self.kind is bool:
            added = group.add_argument(flag, action="store_const", const=True)
        elif self.kind is tuple:
            added = group.add_argument(flag, nargs="+", action="extend")
        else:
            added = group.add_argument(flag, type=self._type(flag))
        added.help, added.metavar = self.help, self.metavar

    @property
    def is_path(self) -> bool:
        """Whether its value is a file or a folder."""
        return self.metavar in ("FILE", "DIR")

    def _type(self, flag: str) -> Callable[[str], Any]:
        if self.choices:
            return one_of(flag, self.choices)
        if self.low is not None:
            return number(flag, self.low, self.high, self.kind is int)
        return self.read


def option(
    help: str,
    metavar: str | None = None,
    *,
    default: Any = None,
    choices: Sequence[str] = (),
    low: float | None = None,
    high: float | None = None,
    read: Callable[[str], Any] = str,
    affects: Affects = NOTHING,
) -> Any:
    """Return the field of a dataclass that declares an option: the field's name is the option's,
    its type that of the values. `{default}` in `help` is the default."""
    described: dict[str, Any] = {"help": help.format(default=default), "metavar": metavar}
    described |= {"choices": choices, "low": low, "high": high, "read": read, "affects": affects}
    return field(default=default, metadata=described)


of_source = partial(option, affects=Affects.SOURCE)
of_judge = partial(option, affects=Affects.JUDGE)
of_function = partial(option, affects=Affects.FUNCTION)
of_run = partial(option, affects=Affects.RUN)
of_results = partial(option, affects=Affects.RESULTS)


def options_of(*groups: type) -> list[Option]:
    """Return the options that dataclasses declare, in their order."""
    return [
        Option(one.name, _kind(one.type), default=one.default, **one.metadata)
        for group in groups
        for one in fields(group)
        if one.metadata
    ]


def names_of(*groups: type) -> list[str]:
    """Return the names of the options that dataclasses declare, in their order."""
    return [one.name for one in options_of(*groups)]


def _kind(annotation: Any) -> type:
    for kind in (annotation, *get_args(annotation)):
        if kind in (bool, int, float):
            return kind  # type: ignore[no-any-return]
    return tuple if get_origin(annotation) is tuple else str


Definitions = Mapping[str, Mapping[str, Any]]
"""By their names, the named plug-ins of one kind: `type` and `options` of each."""


@dataclass(frozen=True, slots=True)
class Described:
    """What a configuration file holds, or Python keywords that are not flags: values by name,
    sources and judges that are defined there, Beam's flags."""

    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Definitions = field(default_factory=dict)
    judges: Definitions = field(default_factory=dict)
    beam: Sequence[str] = ()


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError, so that every wrong flag ends the same way.

    `options` are those of `add_options`, by their names.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **kwargs})
        self.options: dict[str, Option] = {}

    def add_options(self, groups: Mapping[str, Iterable[Option]]) -> None:
        """Declare the flags of options, in groups by their titles."""
        for title, options in groups.items():
            group = self.add_argument_group(title)
            for one in options:
                one.add(group)
                self.options[one.name] = one

    def refuse(self, unknown: Sequence[str], others: Iterable[str] = ()) -> None:
        """Raise a UsageError for the first word that is unknown, with the nearest flag, of this
        parser or of the `others`."""
        if not unknown:
            return
        flag = unknown[0].split("=")[0]
        if not flag.startswith("--"):
            self.error(f"unexpected argument {flag!r}")
        flags = [f"--{name}" for name in (*self.options, *others)]
        near = difflib.get_close_matches(flag, flags, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}" if near else ""
        self.error(f"unknown flag {flag}{hint}")

    def given(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the options that a parsed command line gives, by their names."""
        values = ((name, getattr(parsed, name)) for name in self.options)
        return {name: value for name, value in values if value is not None}

    def argv(self, values: Mapping[str, object]) -> list[str]:
        """Return values by the names of options as flags, by which the parser checks them.

        Raises:
            UsageError: a switch is neither true nor false.
        """
        found: list[str] = []
        for name, value in values.items():
            kind = self.options[name].kind if name in self.options else type(value)
            if value is None or (kind is bool and value is False):
                continue
            if kind is bool:
                if value is not True:
                    raise UsageError(f"{name} is true or false, not {value!r}")
                found.append(f"--{name}")
            elif kind is tuple and isinstance(value, list):
                found += [f"--{name}", *map(str, value)]
            elif isinstance(value, Mapping):
                pairs = (f"{key}={item}" for key, item in value.items())
                found.append(f"--{name}={','.join(pairs)}")
            elif isinstance(value, (list, tuple)):
                found.append(f"--{name}={','.join(map(str, value))}")
            else:
                found.append(f"--{name}={value}")
        return found

    def values(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return values by the names of options, checked as flags are.

        Raises:
            UsageError: a value is wrong.
        """
        return self.given(self.parse_args(self.argv(given)))

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line."""
        raise UsageError(f"{message}. See `{self.prog} --help`.")


def one_of(what: str, allowed: Sequence[str]) -> Callable[[str], str]:
    """Return an argparse type for one of a few words; its error names the nearest one."""

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


def named(items: object, noun: str) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """Return the order of names and the definitions in a list of names and mappings.

    Raises:
        UsageError: an item that is neither, lacks `name` or `type`, or repeats a name.
    """
    if not isinstance(items, list) or not items:
        raise UsageError(f"`{noun}s` is a list of names and of {{name, type, …}}")
    order: list[str] = []
    definitions: dict[str, Mapping[str, Any]] = {}
    for item in items:
        if isinstance(item, str):
            order.append(item)
            continue
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            raise UsageError(f"a {noun} is a name or {{name, type, …options}}, not {item!r}")
        name = item.get("name", item["type"])
        if not isinstance(name, str) or not name:
            raise UsageError(f"a {noun}'s name is text, not {name!r}")
        if name in definitions:
            raise UsageError(f"two {noun}s are named {name!r}; give each a name of its own")
        options = {str(key): value for key, value in item.items() if key not in ("name", "type")}
        definitions[name] = {"type": item["type"], "options": options}
        order.append(name)
    return order, definitions
