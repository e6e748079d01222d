"""Make the settings of a run from a command line, its configuration file or Python keywords."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ufo.pipelines.options.beam_flags import (
    beam_flags,
    on_dataflow,
)
from ufo.pipelines.options.config_file import ParsedOptions, parse_options, read_config_file
from ufo.pipelines.options.dataflow import add_defaults
from ufo.pipelines.options.groups import GROUPS, OF_TEXT
from ufo.pipelines.options.judge_flags import check_judge
from ufo.pipelines.options.option import Option, Parser
from ufo.pipelines.options.settings import RECALL_GROUPS, RecallSettings, S, Settings
from ufo.schemas.errors import UsageError
from ufo.transforms.secrets import into_environment
from ufo.transforms.sources.fact_source import FactSource


def settings(kind: type[S], parser: Parser, argv: Sequence[str]) -> S:
    """Return the settings from a command line, its configuration file and the defaults.

    `kind` is the command's class of settings.

    Raises:
        UsageError: an option is wrong; the message has the nearest valid one.
    """
    parsed, rest = parser.parse_some(list(argv))
    options = ParsedOptions(parser.values_of(parsed), beam=beam_flags(rest, parser))
    return _settings(kind, parser, options)


def settings_of(
    values: Mapping[str, Any],
    sources: Sequence[str | Mapping[str, Any] | FactSource] | str | None = None,
    groups: Mapping[str, Iterable[Option]] = GROUPS,
) -> Settings:
    """Return the settings from Python keywords, the options in `groups`, and from sources.

    Raises:
        UsageError: an option or a source is wrong.
    """
    options = {**values, "sources": sources} if sources is not None else values
    return _of_keywords(Settings, groups, options)


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings from Python keywords, which are the options of `ufo recall`.

    Raises:
        UsageError: an option is wrong.
    """
    return _of_keywords(RecallSettings, RECALL_GROUPS, values)


def _of_keywords(
    kind: type[S], groups: Mapping[str, Iterable[Option]], values: Mapping[str, Any]
) -> S:
    of_run = "ufo.evaluate" if kind is Settings else "ufo.recall"
    of_text = groups is OF_TEXT
    parser = Parser(prog="ufo.check" if of_text else of_run)
    parser.add_options(groups)
    if of_text:  # nothing runs on Beam, whose flags the others could be
        parser.refuse([f"--{name}" for name in values if name not in parser.options])
    return _settings(kind, parser, parse_options(values, parser))


def _settings(kind: type[S], parser: Parser, options: ParsedOptions) -> S:
    path = options.values.get("config")
    filed = read_config_file(path, parser) if path else ParsedOptions()
    values = {**filed.values, **options.values}
    beam = [*filed.beam, *options.beam]
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if name in parser.options and not values.get(name):
            parser.error(f"--{name} is missing")
    if values.get("secrets"):
        into_environment(values["secrets"])
    check_judge(values, {**filed.judges, **options.judges}, parser)
    _check_together(values)
    for name in ("input", "sources"):
        if values.get(name):
            values[name] = tuple(values[name])
    definitions = {**filed.sources, **options.sources}
    settings = kind(**values, source_definitions=definitions, beam=tuple(beam))
    if on_dataflow(beam) and not settings.dry_run:
        settings = add_defaults(settings)
    return settings.checked()


_ONLY_WITH = {
    **dict.fromkeys(("window_seconds", "idle_seconds"), "streaming"),
    **dict.fromkeys(("batch_wait", "batch_requests", "batch_mb", "batch_endpoints"), "batch"),
}


def _check_together(values: Mapping[str, Any]) -> None:
    if values.get("since") and values.get("if_finished") == "retry_errors":
        raise UsageError(
            "--since takes results over from another run, --if_finished retry_errors from this "
            "one; use one of them"
        )
    if values.get("fail_if_worse") is not None and not values.get("baseline"):
        raise UsageError("--fail_if_worse says how much worse than --baseline, which is missing")
    if values.get("least_shared") is not None and not values.get("baseline"):
        raise UsageError("--least_shared is what a run shares with --baseline, which is missing")
    if values.get("no_claim") is not None and values.get("fail_under") is None:
        raise UsageError(
            "--no_claim says what a response without a claim means for --fail_under, which is "
            "missing"
        )
    for name, of in _ONLY_WITH.items():
        if values.get(name) is not None and not values.get(of):
            raise UsageError(f"--{name} is for --{of}; add that, or leave --{name} out")
