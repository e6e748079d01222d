"""The options of `ufo evaluate`: flags, the configuration file, and Beam's own options.

Parsed once, here. A flag beats the file; a flag that neither we nor Beam know is an error with the
nearest one, where Beam alone would ignore it.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pipelines.quiet import quiet_beam
from schemas.errors import UsageError, unknown_value

MODES = ("seq", "mv", "single", "all")
TIES = ("not_factual", "factual")
UNITS = ("claim", "sentence")
JUDGES = ("offline",)
IF_FINISHED = ("replace", "skip", "retry_errors")
CHUNK_SIZE = 2_000
MAX_LINE_BYTES = 4 * 1024 * 1024


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


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run, checked. `sources` None means those of the defaults that can serve.

    `source_definitions` are the named sources of the configuration file. `beam` are the flags that
    are Beam's.
    """

    input: tuple[str, ...]
    output: str
    run: str | None = None
    if_finished: str = "replace"
    fresh: bool = False
    workers: int = 1
    chunk_size: int = CHUNK_SIZE
    fail_under: float | None = None
    json: bool = False
    sources: tuple[Any, ...] | None = None
    source_definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mode: str = "seq"
    tie: str = "not_factual"
    units: str = "claim"
    judge: str = "offline"
    index: str = ""
    retriever: str = "bm25"
    passages: int = 5
    max_line_bytes: int = MAX_LINE_BYTES
    beam: tuple[str, ...] = ()

    def affecting(self) -> dict[str, Any]:
        """Return the options that results depend on, beside the sources; for the fingerprint."""
        names = ("mode", "tie", "units", "judge", "max_line_bytes")
        return {name: getattr(self, name) for name in names}

    def source_flags(self) -> dict[str, Any]:
        """Return the flags that a fact source's parameter of that name takes its value from."""
        return {"index": self.index, "retriever": self.retriever, "passages": self.passages}


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Declare the flags; what is not given stays None, for the file or the default to fill."""
    run = parser.add_argument_group("run")
    run.add_argument(
        "--input",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="responses: .jsonl, .jsonl.gz or .parquet; patterns and gs://… too",
    )
    run.add_argument("--output", metavar="DIR", help="results go to DIR/run=NAME")
    run.add_argument(
        "--run",
        metavar="NAME",
        help="the run's name (default: a hash of inputs' names and options)",
    )
    run.add_argument(
        "--if_finished",
        type=one_of("--if_finished", IF_FINISHED),
        metavar="WHAT",
        help="what to do where the run is finished: replace (default), skip, "
        "or retry_errors: only responses that had errors",
    )
    run.add_argument(
        "--fresh",
        action="store_const",
        const=True,
        help="start over where an unfinished attempt differs from this command",
    )
    run.add_argument(
        "--workers",
        type=number("--workers", 1, 1024),
        metavar="N",
        help="processes (default: one a core)",
    )
    run.add_argument(
        "--chunk_size",
        type=number("--chunk_size", 1),
        metavar="N",
        help=f"responses evaluated and finished on disk together (default {CHUNK_SIZE})",
    )
    run.add_argument(
        "--fail_under",
        type=number("--fail_under", 0, 1, whole=False),
        metavar="X",
        help="exit 3 where the run's factuality score is below X",
    )
    run.add_argument(
        "--max_line_bytes",
        type=number("--max_line_bytes", 2),
        metavar="N",
        help="longer lines are failures (default 4194304)",
    )
    run.add_argument("--json", action="store_const", const=True, help="print the result as JSON")
    run.add_argument(
        "--config",
        metavar="FILE",
        help="YAML with any of these flags, and named sources; a flag beats the file",
    )

    sources = parser.add_argument_group("sources")
    sources.add_argument(
        "--sources",
        type=_names,
        metavar="A,B,C",
        help="fact sources in the order they are asked; names or "
        "path/to/file.py:Class (default: those that can serve)",
    )
    sources.add_argument(
        "--mode",
        type=one_of("--mode", MODES),
        metavar="MODE",
        help="seq: the first source with an answer decides (default); mv: majority "
        "over all; single: one source; all: every source for every unit",
    )
    sources.add_argument(
        "--tie",
        type=one_of("--tie", TIES),
        metavar="LABEL",
        help="what a tie of votes is: not_factual (default) or factual",
    )
    sources.add_argument(
        "--units", type=one_of("--units", UNITS), metavar="UNIT", help="claim (default) or sentence"
    )
    sources.add_argument("--index", metavar="DIR", help="the wikipedia source's index folder")
    sources.add_argument("--retriever", metavar="NAME", help="bm25 (default)")
    sources.add_argument(
        "--passages",
        type=number("--passages", 1, 1000),
        metavar="N",
        help="passages asked of a source for a unit (default 5)",
    )

    judging = parser.add_argument_group("judging")
    judging.add_argument(
        "--judge",
        type=one_of("--judge", JUDGES),
        metavar="JUDGE",
        help="offline: by what texts say, no model and no network (default)",
    )


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--sources names no source")
    return names


def settings(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Settings:
    """Return the settings of a command line, its configuration file and the defaults.

    Raises:
        UsageError: whatever is wrong, with the nearest right thing.
    """
    given, rest = parser.parse_known_args(list(argv))
    values: dict[str, Any] = {}
    definitions: dict[str, Mapping[str, Any]] = {}
    beam: list[str] = []
    if given.config:
        from pipelines.config import load

        filed, definitions, beam = load(given.config, parser)
        values.update(filed)
    values.update((key, value) for key, value in vars(given).items() if value is not None)
    beam += beam_flags(rest, parser)
    for name in ("input", "output"):
        if not values.get(name):
            raise UsageError(f"--{name} is missing. See `{parser.prog} --help`.")
    known = Settings.__dataclass_fields__
    fields = {key: value for key, value in values.items() if key in known}
    fields["input"] = tuple(fields["input"])
    if fields.get("sources"):
        fields["sources"] = tuple(fields["sources"])
    fields.setdefault("workers", cores())
    return Settings(**fields, source_definitions=definitions, beam=tuple(beam))


def beam_flags(rest: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """Return the flags that are Beam's, or raise for the first that is nobody's."""
    if not rest:
        return []
    quiet_beam()
    from apache_beam.options.pipeline_options import PipelineOptions

    theirs = argparse.ArgumentParser(add_help=False, allow_abbrev=False, conflict_handler="resolve")
    for options in [PipelineOptions, *_subclasses(PipelineOptions)]:
        if "_add_argparse_args" in options.__dict__:
            options._add_argparse_args(theirs)
    try:
        _, unknown = theirs.parse_known_args(list(rest))
    except SystemExit:
        raise UsageError(f"Beam does not take {' '.join(rest)!r}") from None
    if unknown:
        flag = unknown[0].split("=")[0]
        if not flag.startswith("--"):
            raise UsageError(f"unexpected argument {flag!r}. See `{parser.prog} --help`.")
        ours = _flags(parser)
        near = _nearest(flag, [*ours, *_flags(theirs)])
        raise UsageError(f"unknown flag {flag}.{near} See `{parser.prog} --help`.")
    return list(rest)


def _subclasses(kind: type) -> Iterable[type]:
    below: type
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _nearest(flag: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(flag, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""
