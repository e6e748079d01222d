"""Read Beam's own options among the flags of `ufo evaluate`.

An unknown flag is an error that names the nearest one; Beam would ignore it. Beam is imported only
if there are flags that are not ours.
"""

from argparse import ArgumentParser
from collections.abc import Sequence

from ufo.pipelines.logs import quiet_beam
from ufo.pipelines.options.option import Option, Parser
from ufo.schemas import storage
from ufo.schemas.errors import UsageError

IN_PROCESS = ("", "DirectRunner", "direct")
FLINK = "FlinkRunner"
# The command finishes the run after its job, so it must wait.
_NOT_WAITING = ("no_wait_until_finish", "template_location")
# Further options of the Flink runner, which Python learns from its job server only.
_OF_FLINK = (
    "checkpointing_interval",
    "max_bundle_size",
    "max_bundle_time_mills",
    "savepoint_path",
    "state_backend",
    "state_backend_storage_path",
)


def runner_of(flags: Sequence[str]) -> str:
    """Return the value of `--runner` in Beam's flags, or "" if it is not given."""
    return value_of(flags, "runner") or ""


def value_of(flags: Sequence[str], name: str) -> str | None:
    """Return the value of one of Beam's flags, or None if it is not given."""
    for number, flag in enumerate(flags):
        if flag == f"--{name}" and number + 1 < len(flags):
            return flags[number + 1]
        if flag.startswith(f"--{name}="):
            return flag.partition("=")[2]
    return None


def on_dataflow(flags: Sequence[str]) -> bool:
    """Return whether `--runner` is Dataflow's."""
    return "dataflow" in runner_of(flags).lower()


def workers_of(flags: Sequence[str], workers: int) -> int:
    """Return the maximum number of worker processes in Beam's flags, or `workers` if not given.

    The rate limits of an endpoint are divided by it.
    """
    asked = [value_of(flags, name) for name in ("parallelism", "max_num_workers", "num_workers")]
    known = [int(value) for value in asked if value and value.isdigit() and int(value)]
    if not known:
        return workers
    each = _cores(flags) if on_dataflow(flags) else value_of(flags, "sdk_worker_parallelism") or ""
    return known[0] * (int(each) if each.isdigit() and int(each) else 1)


def _cores(flags: Sequence[str]) -> str:
    """Return the cores of a Dataflow worker, from its machine type (`n1-standard-4`).

    A worker has one process for each core, unless an experiment restricts it to one.
    """
    if any("no_use_multiple_sdk_containers" in flag for flag in flags):
        return ""
    machine = value_of(flags, "machine_type") or value_of(flags, "worker_machine_type") or ""
    return machine.rpartition("-")[2]


def beam_flags(rest: Sequence[str], parser: Parser) -> list[str]:
    """Return the flags of Beam, after a check.

    Raises:
        UsageError: a flag is unknown, or would end the command before its job.
    """
    if not rest:
        return []
    for word in rest:
        storage.check_name("the argument", word, is_path=False)
    for name in ("dry_run", "streaming"):  # Beam has both too, and would run all the same
        if any(flag.partition("=")[0] == f"--{name}" for flag in rest):
            raise UsageError(
                f"--{name} is of the command `ufo evaluate --{name}` alone: leave it out"
            )
    theirs = beam_parser(parser.prog)
    _, unknown = theirs.parse_some(list(rest))
    parser.refuse(unknown, vars(theirs.parse_args([])))
    for name in _NOT_WAITING:
        if any(flag.partition("=")[0] == f"--{name}" for flag in rest):
            raise UsageError(f"the command finishes the run of its job: leave --{name} out")
    return list(rest)


def beam_parser(prog: str = "ufo evaluate") -> Parser:
    """Return a parser of all options that Beam's modules have declared.

    It refuses a runner that Beam does not know, before the input is read. A path with dots is a
    user's own runner class.
    """
    quiet_beam()
    # Beam is slow to import, and only a command with such flags needs it here.
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions

    theirs: list[ArgumentParser] = []
    PipelineOptions([]).get_all_options(add_extra_args_fn=theirs.append)
    parser = Parser(prog=prog, parents=theirs, add_help=False, conflict_handler="resolve")
    for name in _OF_FLINK:
        parser.add_argument(f"--{name}")
    names = sorted({*StandardOptions.KNOWN_RUNNER_NAMES, *filter(None, IN_PROCESS)})
    known = Option("runner", str, "", choices=names)
    parser.add_argument("--runner", type=lambda name: name if "." in name else known.value_of(name))
    return parser
