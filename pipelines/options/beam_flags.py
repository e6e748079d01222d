"""Read Beam's own options among the flags of `ufo evaluate`.

An unknown flag is an error that names the nearest one; Beam would ignore it. Beam is imported only
if there are flags that are not ours.
"""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence

from ufo.pipelines.logs import quiet_beam
from ufo.pipelines.options.option import Parser, one_of
from ufo.schemas.errors import UsageError

NO_WAIT = "--no_wait_until_finish"
IN_PROCESS = ("", "DirectRunner", "direct")
FLINK = "FlinkRunner"
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


def waits(flags: Sequence[str]) -> bool:
    """Return whether the command that submits a pipeline waits for its end."""
    return NO_WAIT not in flags


def on_dataflow(flags: Sequence[str]) -> bool:
    """Return whether `--runner` is Dataflow's."""
    return "dataflow" in runner_of(flags).lower()


def workers_of(flags: Sequence[str], workers: int) -> int:
    """Return the maximal number of worker processes in Beam's flags, or `workers` if not given.

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
    """Return Beam's flags; raise UsageError for the first flag that is unknown."""
    if not rest:
        return []
    theirs = beam_parser(parser.prog)
    _, unknown = theirs.parse_known_args(list(rest))
    parser.refuse(unknown, vars(theirs.parse_args([])))
    return list(rest)


def beam_parser(prog: str = "ufo evaluate") -> Parser:
    """Return a parser of all options that Beam's modules have declared.

    It refuses a runner that Beam would not find once the input is read; a path is that of a class
    of somebody's own.
    """
    quiet_beam()
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions

    theirs: list[ArgumentParser] = []
    PipelineOptions([]).get_all_options(add_extra_args_fn=theirs.append)
    parser = Parser(prog=prog, parents=theirs, add_help=False, conflict_handler="resolve")
    for name in _OF_FLINK:
        parser.add_argument(f"--{name}")
    names = sorted({*StandardOptions.KNOWN_RUNNER_NAMES, *filter(None, IN_PROCESS)})
    known = one_of("--runner", names)
    parser.add_argument("--runner", type=lambda name: name if "." in name else known(name))
    return parser


def takes_value(parser: Parser, flag: str) -> bool | None:
    """Return whether a flag takes a value (False: a switch), or None if it is unknown."""
    try:
        _, unknown = parser.parse_known_args([flag])
    except UsageError:
        return True  # one is expected
    return None if unknown else False


def check_detached(
    flags: Sequence[str], wanted: Mapping[str, object], here: Sequence[str] = IN_PROCESS
) -> None:
    """Check that `--no_wait_until_finish` fits the runner and the other options.

    `here` are the runners that end with this command; `wanted` are options that need the finished
    run.

    Raises:
        UsageError: the run would end with the command, or an option needs its results.
    """
    if waits(flags):
        return
    runner = runner_of(flags)
    if runner in here:
        raise UsageError(
            f"{NO_WAIT} hands the run to an engine; name one with --runner, or leave it out"
        )
    master = value_of(flags, "flink_master") or "[auto]"
    if runner == FLINK and master.startswith("["):
        raise UsageError(
            f"--flink_master {master} is a Flink within this command, and would end with it; name "
            f"a cluster, as in --flink_master=localhost:8081, or leave {NO_WAIT} out"
        )
    detaching = "--template_location" if value_of(flags, "template_location") else NO_WAIT
    for name, value in wanted.items():
        if value is not None:
            raise UsageError(
                f"--{name} needs the finished run, and {detaching} does not wait for it; "
                "leave one of them out"
            )
