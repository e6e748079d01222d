"""Beam's own options among the flags of `ufo evaluate`.

A flag that neither we nor Beam know is an error with the nearest one, where Beam alone would ignore
it. Beam is imported for flags that are not ours, and only for them.
"""

import argparse
import difflib
from collections.abc import Iterable, Sequence

from pipelines.options.arguments import Parser
from pipelines.quiet import quiet_beam
from schemas.errors import UsageError, unknown_value

NO_WAIT = "--no_wait_until_finish"
IN_PROCESS = ("", "DirectRunner", "direct")
BOUNDED = (*IN_PROCESS, "FnApiRunner")
"""Runners that end a pipeline before they begin the next, so that none of it is a stream."""
# What Beam's Flink runner takes besides; it tells Python so only once its job server runs.
OF_FLINK = (
    "checkpointing_interval",
    "max_bundle_size",
    "max_bundle_time_mills",
    "savepoint_path",
    "state_backend",
    "state_backend_storage_path",
)


def runner_of(flags: Sequence[str]) -> str:
    """Return the runner that Beam's flags name; "" where they name none."""
    return value_of(flags, "runner") or ""


def value_of(flags: Sequence[str], name: str) -> str | None:
    """Return what Beam's flags say of one of them; None where it is not among them."""
    for number, flag in enumerate(flags):
        if flag == f"--{name}" and number + 1 < len(flags):
            return flags[number + 1]
        if flag.startswith(f"--{name}="):
            return flag.partition("=")[2]
    return None


def waits(flags: Sequence[str]) -> bool:
    """Tell whether Beam's flags have who submits a pipeline wait for its end."""
    return NO_WAIT not in flags


def on_dataflow(flags: Sequence[str]) -> bool:
    """Tell whether Beam's flags name Dataflow's runner."""
    return "dataflow" in runner_of(flags).lower()


def workers_of(flags: Sequence[str], workers: int) -> int:
    """Return how many worker processes there are at most, as Beam's flags tell; else `workers`.

    What an endpoint allows is divided by it, and the responses are spread over several times as
    many keys.
    """
    asked = [value_of(flags, name) for name in ("parallelism", "max_num_workers", "num_workers")]
    known = [int(value) for value in asked if value and value.isdigit() and int(value)]
    if not known:
        return workers
    each = _cores(flags) if on_dataflow(flags) else value_of(flags, "sdk_worker_parallelism") or ""
    return known[0] * (int(each) if each.isdigit() and int(each) else 1)


def _cores(flags: Sequence[str]) -> str:
    """Return the cores of Dataflow's workers, each of which has a process, unless told to keep to
    one: the end of a machine type's name (`n1-standard-4`)."""
    if any("no_use_multiple_sdk_containers" in flag for flag in flags):
        return ""
    machine = value_of(flags, "machine_type") or value_of(flags, "worker_machine_type") or ""
    return machine.rpartition("-")[2]


def beam_flags(rest: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """Return the flags that are Beam's, or raise for the first that is nobody's."""
    if not rest:
        return []
    theirs = beam_parser(parser.prog)
    known, unknown = theirs.parse_known_args(list(rest))
    if unknown:
        flag = unknown[0].split("=")[0]
        if not flag.startswith("--"):
            raise UsageError(f"unexpected argument {flag!r}. See `{parser.prog} --help`.")
        ours = _flags(parser)
        near = _nearest(flag, [*ours, *_flags(theirs)])
        raise UsageError(f"unknown flag {flag}.{near} See `{parser.prog} --help`.")
    _check_runner(known.runner)
    return list(rest)


def _check_runner(name: str | None) -> None:
    """Refuse a runner that Beam would not find once the input is read; a path is that of a class of
    somebody's own."""
    from apache_beam.options.pipeline_options import StandardOptions

    runners = sorted({*StandardOptions.KNOWN_RUNNER_NAMES, *filter(None, IN_PROCESS)})
    if name and "." not in name and name not in runners:
        raise UsageError(unknown_value("--runner", name, runners))


def known_to_beam(name: str) -> bool:
    """Tell whether Beam has an option of that name."""
    return f"--{name}" in _flags(beam_parser())


def beam_parser(prog: str = "ufo evaluate") -> Parser:
    """Return a parser of all options that Beam's modules have declared."""
    quiet_beam()
    from apache_beam.options.pipeline_options import PipelineOptions

    theirs = Parser(prog=prog, add_help=False, conflict_handler="resolve")
    for options in [PipelineOptions, *_subclasses(PipelineOptions)]:
        if "_add_argparse_args" in options.__dict__:
            options._add_argparse_args(theirs)
    for name in OF_FLINK:
        theirs.add_argument(f"--{name}")
    return theirs


def _subclasses(kind: type) -> Iterable[type]:
    below: type
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _nearest(flag: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(flag, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""
