"""From a command line to the options of a run: its flags, the configuration file, Beam's own flags.

Parsed once, here. A flag beats the file.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pipelines.options.beam_flags import beam_flags, on_dataflow
from pipelines.options.flags import OF_THE_LLM_JUDGE
from pipelines.options.settings import CASCADE, LLM, OFFLINE, Settings
from schemas.errors import UsageError

S = TypeVar("S", bound=Settings)


def settings(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Settings:
    """Return the settings of a command line, its configuration file and the defaults.

    Raises:
        UsageError: whatever is wrong, with the nearest right thing.
    """
    return settings_as(Settings, parser, argv)


def settings_as(kind: type[S], parser: argparse.ArgumentParser, argv: Sequence[str]) -> S:
    """Return the settings of a command that has more of them, or fewer, than `ufo evaluate`."""
    given, rest = parser.parse_known_args(list(argv))
    values: dict[str, Any] = {}
    definitions: dict[str, Mapping[str, Any]] = {}
    beam: list[str] = []
    if given.config:
        from pipelines.options.config import load

        filed, definitions, beam = load(given.config, parser)
        values.update(filed)
    values.update((key, value) for key, value in vars(given).items() if value is not None)
    beam += beam_flags(rest, parser)
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if not values.get(name):
            raise UsageError(f"--{name} is missing. See `{parser.prog} --help`.")
    if values.get("secrets"):
        from transforms.secrets import into_environment

        into_environment(values["secrets"])
    _check_judge(values)
    known = kind.__dataclass_fields__
    fields = {key: value for key, value in values.items() if key in known}
    fields["input"] = tuple(fields["input"])
    if fields.get("since") and fields.get("if_finished") == "retry_errors":
        raise UsageError(
            "--since takes results over from another run, --if_finished retry_errors from this "
            "one; use one of them"
        )
    if fields.get("fail_if_worse") is not None and not fields.get("baseline"):
        raise UsageError("--fail_if_worse says how much worse than --baseline, which is missing")
    for name in ("window_seconds", "idle_seconds"):
        if fields.get(name) is not None and not fields.get("streaming"):
            raise UsageError(f"--{name} is for --streaming; add that, or leave --{name} out")
    if fields.get("sources"):
        fields["sources"] = tuple(fields["sources"])
    found = kind(**fields, source_definitions=definitions, beam=tuple(beam))
    if found.dry_run or not on_dataflow(beam):
        return found
    from pipelines.options.dataflow import told

    return told(found)


def default_judge(base_url: str | None = None) -> str:
    """Return the judge where none is named: a model where one can be reached."""
    reachable = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
    return LLM if reachable else OFFLINE


def _check_judge(values: dict[str, Any]) -> None:
    """Fill in which judge it is, and refuse what only the other one would hear."""
    if not values.get("judge"):
        values["judge"] = default_judge(values.get("base_url"))
    if values["judge"] == OFFLINE:
        for name in OF_THE_LLM_JUDGE:
            if values.get(name) is not None:
                raise UsageError(
                    f"--{name} is for the LLM judge, and this run's judge is offline; add --judge "
                    f"llm (with OPENAI_API_KEY or --base_url), or leave --{name} out"
                )
    if values.get("confidence") is not None and values["judge"] != CASCADE:
        raise UsageError(
            f"--confidence is for the cascade, and this run's judge is {values['judge']}; add "
            "--judge cascade, or leave --confidence out"
        )
    if values.get("verifier") is not None:
        if values["judge"] == LLM:
            raise UsageError(
                "--verifier is for the offline judge, and this run's judge is llm; add --judge "
                "offline or --judge cascade, or leave --verifier out"
            )
        from transforms.verifiers.registry import usable

        values["verifier"] = usable(values["verifier"])
    if values.get("formulation", "function") != "function":
        for name in ("citation", "explain", "format", "passages_per_call", "facts_per_call"):
            if values.get(name) is not None:
                raise UsageError(
                    f"--{name} is for --formulation function, and this run's is "
                    f"{values['formulation']}; leave one of them out"
                )
