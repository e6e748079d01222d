"""Declare options once, as fields of dataclasses that check their values.

A declaration defines a command's flags, keys of the configuration file, keywords in Python, the
fingerprint of a run and docs/flags.md. `Option.value_of` checks the values.
"""

import argparse
import difflib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Flag, auto
from functools import partial
from typing import Any, NoReturn, get_args, get_origin

from ufo.schemas import storage
from ufo.schemas.errors import UsageError, unknown_value


class Affects(Flag):
    """The part of a run's fingerprint that an option enters, since results depend on it."""

    RUN = auto()
    """The content of the inputs, or the sources, that the option names."""
    RESULTS = auto()
    """The options of the run, with the option's value."""
    SOURCE = auto()
    """Each fact source whose constructor names the option."""
    JUDGE = auto()
    """The judge, if it takes the option."""
    FUNCTION = auto()
    """The LLM judge, if its formulation is `function`."""


NOTHING = Affects(0)
_OF_PLUGINS = Affects.SOURCE | Affects.JUDGE | Affects.FUNCTION


@dataclass(frozen=True, slots=True)
class Option:
    """An option: a flag `--name`, a key of the configuration file, a keyword in Python.

    `kind` is bool for a switch, int or float for a number from `low` to `high`, tuple for several
    words, else str. A str is one of `choices`, if there are any (a mapping says what each means),
    and `read` converts the text to a value. `affects` says which part of a run's fingerprint it
    enters: none if results do not depend on it. An option for an `expert` is in docs/flags.md, but
    not in the command's help. An option with a `label` can be set for each request to the service;
    its page shows it under that name. `default` is what holds where it is not given; a plug-in
    whose constructor has another default for an option of its kind keeps that.
    """

    name: str
    kind: type
    help: str
    metavar: str | None = None
    default: Any = None
    choices: Collection[str] = ()
    low: float | None = None
    high: float | None = None
    read: Callable[[str], Any] = str
    affects: Affects = NOTHING
    expert: bool = False
    label: str = ""

    def _number(self, text: str) -> int | float:
        low, high = self.low or 0, self.high
        try:
            value = self.kind(text)
        except ValueError:
            value = low - 1
        if not low <= value or (high is not None and value > high):
            noun = "a whole number" if self.kind is int else "a number"
            bounds = f"from {low:g}" + (f" to {high:g}" if high is not None else "")
            raise UsageError(f"--{self.name} {text!r} is not {noun} {bounds}")
        return value  # type: ignore[no-any-return]

    def _words(self, setting: object) -> list[str]:
        """Return the words of a value from YAML or Python: several for a list or a mapping."""
        if isinstance(setting, Mapping):
            if self.metavar == "JSON":
                return [json.dumps(setting)]
            if "=" in (self.metavar or ""):
                return [f"{key}={item}" for key, item in setting.items()]
            raise UsageError(f"--{self.name} is not a mapping: {setting!r}")
        if isinstance(setting, str) or not isinstance(setting, Iterable):
            return [str(setting)]
        if self.is_list or self.kind is tuple or "," in (self.metavar or ""):
            return [str(item) for item in setting]
        raise UsageError(f"--{self.name} is one value, not several: {setting!r}")

    def add(self, group: "argparse._ActionsContainer") -> None:
        """Declare the flag of the option, whose value is None if it is not given.

        The configuration file or the default fills it later.
        """
        flag = f"--{self.name}"
        if self.kind is bool:
            added = group.add_argument(flag, action="store_const", const=True)
        elif self.kind is tuple:
            added = group.add_argument(flag, nargs="+", action="extend")
        else:
            added = group.add_argument(flag, type=self.value_of)
        added.help = argparse.SUPPRESS if self.expert else self.description
        added.metavar = self.metavar

    @property
    def unset(self) -> Any:
        """The value of an option that is not given: its default, None for an option of plug-ins.

        Sources and judges have its default themselves.
        """
        return None if self.of_plugins else self.default

    @property
    def is_path(self) -> bool:
        """Whether the option names a file or a folder."""
        return self.metavar in ("FILE", "DIR")

    @property
    def is_list(self) -> bool:
        """Whether the option is a list: separated by commas in a flag, a list elsewhere."""
        return self.kind is str and self.metavar in ("A,B", "A,B,C")

    @property
    def of_plugins(self) -> bool:
        """Whether the option is passed to sources or judges that take it."""
        return bool(self.affects & _OF_PLUGINS)

    @property
    def meanings(self) -> Mapping[str, str]:
        """The meanings of the choices; "" for a choice that needs no explanation."""
        return (
            self.choices if isinstance(self.choices, Mapping) else dict.fromkeys(self.choices, "")
        )

    @property
    def description(self) -> str:
        """The help text, with the meaning of each choice and the default."""
        if not isinstance(self.choices, Mapping):
            return self.help
        meanings = [
            f"{value}{' (default)' if value == self.default else ''}: {meaning}"
            for value, meaning in self.choices.items()
        ]
        return f"{self.help}: {'; '.join(meanings)}"

    def value_of(self, setting: object) -> Any:
        """Return the checked value of a flag's text, or of a value from YAML or Python.

        A switch that is off is None, as if it were not given.

        Raises:
            UsageError: the value is wrong; the message has the nearest valid one.
        """
        flag = f"--{self.name}"
        if self.kind is bool:
            if not isinstance(setting, bool):
                raise UsageError(f"{flag} is true or false, not {setting!r}")
            return setting or None
        words = self._words(setting)
        for word in words:
            if self.metavar != "FILE":  # Python opens files of any name
                storage.check_name(flag, word, self.metavar == "DIR")
        if self.kind is tuple:
            return words
        text = ",".join(words)
        if self.choices and text not in self.choices:
            raise UsageError(unknown_value(flag, text, self.choices))
        return self.read(text) if self.low is None else self._number(text)


def option(
    help: str,
    metavar: str | None = None,
    *,
    default: Any = None,
    affects: Affects = NOTHING,
    **more: Any,
) -> Any:
    """Return a dataclass field that declares an option, by the field's name and type.

    `{default}` in `help` is the default; `more` are further fields of `Option`.

    The field of an option of sources or the judge is None where it is not given, since a plug-in's
    constructor may have a default of its own.
    """
    declared = {"default": default, "affects": affects, "metavar": metavar, **more}
    return field(
        default=None if affects & _OF_PLUGINS else default,
        metadata={"help": help.format(default=default), **declared},
    )


of_source = partial(option, affects=Affects.SOURCE)
of_judge = partial(option, affects=Affects.JUDGE)
of_run = partial(option, affects=Affects.RUN)
of_results = partial(option, affects=Affects.RESULTS)


def options_of(*groups: type) -> list[Option]:
    """Return the options that dataclasses declare, in their order."""
    return [
        Option(field.name, _kind(field.type), **field.metadata)
        for group in groups
        for field in fields(group)
        if field.metadata
    ]


def names_of(*groups: type) -> list[str]:
    """Return the names of the options that dataclasses declare, in their order."""
    return [one.name for one in options_of(*groups)]


def _kind(annotation: Any) -> type:
    for kind in (annotation, *get_args(annotation)):
        if kind in (bool, int, float):
            return kind  # type: ignore[no-any-return]
    return tuple if get_origin(annotation) is tuple else str


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError, so that every wrong flag ends the same way.

    `options` has the options given to `add_options`, by name.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **kwargs})
        self.options: dict[str, Option] = {}

    def add_options(self, groups: Mapping[str, Iterable[Option]]) -> None:
        """Declare the flags of options, in groups by their titles."""
        for title, options in groups.items():
            group = self.add_argument_group(title)
            for option in options:
                option.add(group)
                self.options[option.name] = option

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse words and refuse unknown ones; argparse parses subcommands by this method."""
        parsed, unknown = self.parse_some(args, namespace)
        self.refuse(unknown)
        return parsed, unknown

    def parse_some(self, args: Any, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse words; return also the unknown ones, such as Beam's flags."""
        return super().parse_known_args(args, namespace)

    def refuse(self, unknown: Sequence[str], others: Iterable[str] = ()) -> None:
        """Raise a UsageError for the first unknown word; it names the nearest flag or other."""
        if not unknown:
            return
        flag = unknown[0].split("=")[0]
        if not flag.startswith("--"):
            self.error(f"unexpected argument {flag!r}")
        names = [*self.options, *others, *re.findall(r"--(\w+)", self.format_usage())]
        near = difflib.get_close_matches(flag.removeprefix("--"), names, n=1, cutoff=0.6)
        hint = f"; did you mean --{near[0]}?" if near else ""
        self.error(f"unknown flag {flag}{hint}")

    def values_of(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the options that a parsed command line sets, by name."""
        values = ((name, getattr(parsed, name)) for name in self.options)
        return {name: value for name, value in values if value is not None}

    def check_values(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the checked values of options by name, without those that are None.

        Raises:
            UsageError: a value is wrong.
        """
        settings = {name: value for name, value in values.items() if value is not None}
        checked = {name: self.options[name].value_of(value) for name, value in settings.items()}
        return {name: value for name, value in checked.items() if value is not None}

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with the message."""
        of_python = "." in self.prog  # as in ufo.evaluate
        help_of = f"help({self.prog})" if of_python else f"{self.prog} --help"
        end = "" if message.endswith("?") else "."
        raise UsageError(f"{message}{end} See `{help_of}`.")
