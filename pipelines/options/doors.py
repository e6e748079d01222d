"""Reword messages about flags for users of Python, by its keywords, and of the page, by its fields.

Messages name options by their flags, as `ufo evaluate` has them: "a lower --concurrency", "with
--if_finished retry_errors". Where users do not type flags, the message is reworded on its way out.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Final

from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.options.option import Option
from ufo.pipelines.options.settings import RECALL_GROUPS
from ufo.schemas.errors import UfoError, UsageError

_FLAG: Final = re.compile(
    r"(?<![\w-])--(?P<name>[a-z]\w*)"
    r"(?:(?P<between>[ =])(?P<value>'[^']*'|\"[^\"]*\"|[\w.,:/=<>-]*\w))?"
)

_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
_UNKNOWN: Final = re.compile(r"unknown flag --(?=\w)")


_COMMAND: Final = re.compile(r"(`ufo [^`]*`)")
_JUDGES: Final = ("llm", "offline")


@cache
def _options() -> Mapping[str, Option]:
    groups = (*RECALL_GROUPS.values(), *GROUPS.values())
    return {one.name: one for options in groups for one in options}


def in_keywords(message: str, renamed: Mapping[str, str] | None = None) -> str:
    """Return a message with keywords of Python in place of flags; commands in it stay.

    Args:
        message: a message that names flags.
        renamed: the names of parameters by the names of flags, where they differ, and those of
            further flags, such as Beam's.

    Example:
        >>> in_keywords("a lower --concurrency, or the same command with --if_finished skip")
        'a lower concurrency, or the same call with if_finished="skip"'
    """
    known, names = _options(), renamed or {}

    def keyword(match: re.Match[str]) -> str:
        name, between, value = match["name"], match["between"] or "", match["value"] or ""
        shown = names.get(name, name)
        if name not in known and name not in names:
            return match[0]
        if name in known and known[name].kind is bool:
            return f"{shown}=True" if value == "True" else f"{shown}=True{between}{value}"
        bare = value.strip("'\"")
        if _NUMBER.fullmatch(bare) and (bare != value or between == "=" or name in known):
            return f"{shown}={bare}"
        if value[:1] in ("'", '"'):
            return f"{shown}={value}"
        if value and (between == "=" or (name in known and _is_value(known[name], value))):
            return f'{shown}="{value}"'
        return f"{shown}{between}{value}"

    message = _UNKNOWN.sub("unknown keyword ", message)
    parts = [
        part if _COMMAND.fullmatch(part) else _FLAG.sub(keyword, part)
        for part in _COMMAND.split(message)
    ]
    return "".join(parts).replace("the same command", "the same call")


# Advice on commands, with its words on the page.
_ON_PAGE: Final = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"the same command with --if_finished retry_errors", "the same file once more"),
        (r"(?i)run the same command again", "press “Resume”"),
        (r"(?i)the same command(?: once more)?", "“Resume”"),
        (r"column of --map (\w+)=COLUMN:", r"column for \1:"),
        (r"column of (?=--map \w)", "column "),
        (r"--map names them", "they are chosen as columns"),
        (r"[Pp]ass --fresh to start (?:it )?over(?:, or --run NAME to keep both)?",
         "delete it, and evaluate the file again"),
    )
]  # fmt: skip
_NOUNS: Final = {
    "input": "the file",
    "output": "the folder of results",
    "map": "columns",
    "workers": "processes",
    "chunk_size": "chunks",
    "max_line_bytes": "the longest record",
}


def in_fields(message: str) -> str:
    """Return a message with the labels of the page's fields in place of flags.

    A file is named alone, a column with the key that it is read as, and an option without a field
    in words.

    Example:
        >>> in_fields("unknown --mode 'zz'; see --input 'a.jsonl', or fewer --workers")
        "unknown “Mode” 'zz'; see 'a.jsonl', or fewer processes"
        >>> in_fields("did you mean --map response=output,question=prompt?")
        'did you mean “output” for response, “prompt” for question?'
    """
    known = _options()

    def field(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"] or ""
        rest = (match["between"] or "") + value
        if name == "input" and value[:1] in ("'", '"'):
            return rest.lstrip(" =")
        if name == "map" and "=" in value:
            pairs = (pair.partition("=") for pair in value.strip("'\"").split(","))
            return ", ".join(f"“{column}” for {key}" for key, _, column in pairs)
        if name not in known and name not in _NOUNS:
            return match[0]
        label = known[name].label if name in known else ""
        plain = _NOUNS.get(name) or name.replace("_", " ")
        return (f"“{label}”" if label else plain) + rest

    for pattern, words in _ON_PAGE:
        message = pattern.sub(words, message)
    return _FLAG.sub(field, message)


def _is_value(option: Option, word: str) -> bool:
    """Return whether the word after a flag is its value, rather than the rest of the sentence."""
    named = option.metavar or ""
    return (
        word in (*option.choices, *named.split("|"))
        or (option.name == "judge" and word in _JUDGES)
        or (option.kind in (int, float) and word.replace(".", "", 1).isdigit())
        or ("=" in named and "=" in word)
        or word.isupper()
    )


@contextmanager
def python_door(function: str, renamed: Mapping[str, str] | None = None) -> Iterator[None]:
    """Reword the errors of this context for the caller of a Python function.

    `renamed` is as in `in_keywords`. An error of usage begins with the name of the function.
    """
    try:
        yield
    except UfoError as error:
        message = in_keywords(error.message, renamed)
        error.reword(f"{function}: {message}" if isinstance(error, UsageError) else message)
        raise
