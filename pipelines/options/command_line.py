"""From a command line to the options of a run: its flags, the configuration file, Beam's own flags.

Parsed once, here. A flag beats the file.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from pipelines.options.arguments import Affects, Parser
from pipelines.options.beam_flags import beam_flags, on_dataflow
from pipelines.options.config import Definitions, Filed, load
from pipelines.options.judge import checked_judge, default_judge
from pipelines.options.settings import Settings
from schemas.errors import UsageError

S = TypeVar("S", bound=Settings)


def settings(parser: Parser, argv: Sequence[str], more: Filed | None = None) -> Settings:
    """Return the settings of a command line, its configuration file and the defaults; `more` is
    what flags cannot be.

    Raises:
        UsageError: whatever is wrong, with the nearest right thing.
    """
    return settings_as(Settings, parser, argv, more)


def settings_as(kind: type[S], parser: Parser, argv: Sequence[str], more: Filed | None = None) -> S:
    """Return the settings of a command that has more of them, or fewer, than `ufo evaluate`."""
    given, rest = parser.parse_known_args(list(argv))
    filed = load(given.config, parser) if given.config else Filed()
    more = more or Filed()
    values = {**filed.values, **more.values}
    values |= parser.given(given)
    beam = [*filed.beam, *beam_flags(rest, parser)]
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if not values.get(name):
            raise UsageError(f"--{name} is missing. See `{parser.prog} --help`.")
    if values.get("secrets"):
        from transforms.secrets import into_environment

        into_environment(values["secrets"])
    _check_judge(values, {**filed.judges, **more.judges}, parser)
    _check_together(values)
    for name in ("input", "sources"):
        if values.get(name):
            values[name] = tuple(values[name])
    found = kind(**values, source_definitions=filed.sources, beam=tuple(beam))
    if found.dry_run or not on_dataflow(beam):
        return found
    from pipelines.options.dataflow import told

    return told(found)


def _check_together(values: dict[str, Any]) -> None:
    if values.get("since") and values.get("if_finished") == "retry_errors":
        raise UsageError(
            "--since takes results over from another run, --if_finished retry_errors from this "
            "one; use one of them"
        )
    if values.get("fail_if_worse") is not None and not values.get("baseline"):
        raise UsageError("--fail_if_worse says how much worse than --baseline, which is missing")
    for name in ("window_seconds", "idle_seconds"):
        if values.get(name) is not None and not values.get("streaming"):
            raise UsageError(f"--{name} is for --streaming; add that, or leave --{name} out")


def _check_judge(values: dict[str, Any], definitions: Definitions, parser: Parser) -> None:
    """Fill in which judge it is, and refuse what only another one would hear."""
    item = values.get("judge") or default_judge(values.get("base_url"))
    values["judge"] = checked_judge(item, definitions, values, parser)
    if values.get("verifier") is not None:
        from transforms.verifiers.registry import usable

        values["verifier"] = usable(values["verifier"])
    if values.get("formulation", "function") != "function":
        for one in parser.options.values():
            if Affects.FUNCTION in one.affects and values.get(one.name) is not None:
                raise UsageError(
                    f"--{one.name} is for --formulation function, and this run's is "
                    f"{values['formulation']}; leave one of them out"
                )
