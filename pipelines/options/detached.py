"""What a run that nobody waits for (`--no_wait_until_finish`) cannot be."""

from collections.abc import Iterable

from pipelines.options.beam_flags import IN_PROCESS, NO_WAIT, runner_of, value_of, waits
from pipelines.options.settings import Settings
from schemas.errors import UsageError

FLINK = "FlinkRunner"


def check_detached(settings: Settings, here: Iterable[str] = IN_PROCESS) -> None:
    """Check that a run that nobody waits for can be an engine's; the runners `here` are none.

    Raises:
        UsageError: it would end with the command, or something is wanted of the finished run.
    """
    if waits(settings.beam):
        return
    runner = runner_of(settings.beam)
    if runner in here:
        raise UsageError(
            f"{NO_WAIT} hands the run to an engine; name one with --runner, or leave it out"
        )
    master = value_of(settings.beam, "flink_master") or "[auto]"
    if runner == FLINK and master.startswith("["):
        raise UsageError(
            f"--flink_master {master} is a Flink within this command, and would end with it; name "
            f"a cluster, as in --flink_master=localhost:8081, or leave {NO_WAIT} out"
        )
    for name in ("fail_under", "baseline"):
        if getattr(settings, name) is not None:
            raise UsageError(
                f"--{name} looks at the finished run, and with {NO_WAIT} nobody waits for it; "
                "leave one of them out"
            )
