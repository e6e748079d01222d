"""Make the options of a run from a command line, its configuration file, or Python keywords.

The configuration file is YAML with any option by its name, and named plug-ins:

    mode: seq
    passages: 5
    sources:
      - reference
      - {name: enwiki-2022, type: wikipedia, index: /indexes/2022}
      - {name: mine, type: sources/mine.py:MySource, limit: 3}
    judge: {name: quotes, type: judges/quotes.py:Quotes, share: 0.9}

A mapping in `sources` defines a named source; `--sources` may list the names in another order.
`judge` is a name or such a mapping. `judges` is a list of mappings: the first judges, unless
`judge` or `--judge` names another. Paths are relative to the working folder of the command, as in
flags. A flag overrides the file.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from ufo.pipelines.options.beam_flags import (
    beam_flags,
    beam_parser,
    on_dataflow,
)
from ufo.pipelines.options.dataflow import with_defaults
from ufo.pipelines.options.groups import GROUPS, OF_TEXT, source_names
from ufo.pipelines.options.judge_flags import Definitions, check_judge
from ufo.pipelines.options.option import Option, Parser
from ufo.pipelines.options.settings import RECALL_GROUPS, RecallSettings, S, Settings
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.text_file import read_text
from ufo.transforms.secrets import into_environment
from ufo.transforms.sources.fact_source import FactSource


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """The content of a configuration file, or of Python keywords: checked values of options by
    name, the sources and judges defined there, and Beam's flags."""

    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Definitions = field(default_factory=dict)
    judges: Definitions = field(default_factory=dict)
    beam: Sequence[str] = ()


def settings(kind: type[S], parser: Parser, argv: Sequence[str]) -> S:
    """Return the settings from a command line, its configuration file and the defaults. `kind` is
    the command's class of settings.

    Raises:
        UsageError: an option is wrong; the message has the nearest valid one.
    """
    parsed, rest = parser.parse_some(list(argv))
    given = GivenOptions(parser.given(parsed), beam=beam_flags(rest, parser))
    return _settings(kind, parser, given)


def settings_of(
    values: Mapping[str, Any],
    sources: Sequence[str | Mapping[str, Any] | FactSource] | str | None = None,
    groups: Mapping[str, Iterable[Option]] = GROUPS,
) -> Settings:
    """Return the settings from Python keywords (the options in `groups`) and sources (a list, or
    names).

    Raises:
        UsageError: an option or a source is wrong.
    """
    given = {**values, "sources": sources} if sources is not None else values
    return _of_keywords(Settings, groups, given)


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings of Python keywords, options of `ufo recall` by their names.

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
    return _settings(kind, parser, _given(values, parser))


def _settings(kind: type[S], parser: Parser, given: GivenOptions) -> S:
    path = given.values.get("config")
    filed = _filed(path, parser) if path else GivenOptions()
    values = {**filed.values, **given.values}
    beam = [*filed.beam, *given.beam]
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if name in parser.options and not values.get(name):
            parser.error(f"--{name} is missing")
    if values.get("secrets"):
        into_environment(values["secrets"])
    check_judge(values, {**filed.judges, **given.judges}, parser)
    _check_together(values)
    for name in ("input", "sources"):
        if values.get(name):
            values[name] = tuple(values[name])
    definitions = {**filed.sources, **given.sources}
    found = kind(**values, source_definitions=definitions, beam=tuple(beam))
    if on_dataflow(beam) and not found.dry_run:
        found = with_defaults(found)
    return found.checked()


def _filed(path: str, parser: Parser) -> GivenOptions:
    """Return what a configuration file holds.

    Raises:
        UsageError: the file is missing, not YAML, or has an unknown key.
    """
    try:
        content = yaml.safe_load(read_text(path))
    except ValueError as error:
        raise UsageError(f"--config {path!r} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"--config {path!r} is not YAML: {error}") from error
    if content is None:
        return GivenOptions()
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise UsageError(f"--config {path!r} is a mapping from flags to values, as in `mode: seq`")
    values = {key.removeprefix("--"): value for key, value in content.items()}
    try:
        known = sorted(parser.options.keys() - {"config"})
        others = [name for name in values if name not in (*known, "sources", "judges")]
        of_beam = vars(beam_parser().parse_args([])) if others else {}
        for name in others:
            if name not in of_beam:
                raise UsageError(unknown_value("key", name, known))
        return _given(values, parser)
    except UsageError as error:
        raise UsageError(f"--config {path!r}: {error.message}") from None


def _given(values: Mapping[str, Any], parser: Parser) -> GivenOptions:
    """Return the checked values of options, the sources and judges that they define, and Beam's
    flags among them."""
    rest = {name: value for name, value in values.items() if value is not None}
    sources: Definitions = {}
    judges: Definitions = {}
    chosen: dict[str, Any] = {}
    listed = rest.pop("sources", None)
    if isinstance(listed, str):
        chosen["sources"] = source_names(listed)
    elif listed is not None:
        chosen["sources"], sources = _named(listed, "source")
    defined = rest.pop("judges", None)
    if defined is not None:
        names, judges = _named(defined, "judge")
        chosen["judge"] = names[0]
    judge = rest.pop("judge", None)
    if isinstance(judge, Mapping):
        (judge,), own = _named([judge], "judge")
        judges = {**judges, **own}
    if judge is not None:
        chosen["judge"] = judge
    of_run = {name: rest.pop(name) for name in parser.options if name in rest}
    flags = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in rest.items()
        if value is not False
    ]
    return GivenOptions(
        {**parser.checked(of_run), **chosen}, sources, judges, beam_flags(flags, parser)
    )


def _named(items: Any, noun: str) -> tuple[list[Any], Definitions]:
    """Return the order of names and objects, and the definitions, in a list of names, mappings and
    fact sources.

    Raises:
        UsageError: an item is none of these, lacks `name` or `type`, or repeats a name.
    """
    is_list = isinstance(items, Iterable) and not isinstance(items, Mapping | str)
    listed = list(items) if is_list else []
    if not listed:
        raise UsageError(f"`{noun}s` is a list of names and of {{name, type, …}}, not {items!r}")
    order: list[Any] = []
    definitions: dict[str, Mapping[str, Any]] = {}
    for item in listed:
        if isinstance(item, str | FactSource):
            order.append(item)
            continue
        if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
            raise UsageError(f"a {noun} is a name or {{name, type, …options}}, not {item!r}")
        name = item.get("name", item["type"])
        if not isinstance(name, str) or not name:
            raise UsageError(f"a {noun}'s name is text, not {name!r}")
        if name in definitions:
            raise UsageError(f"two {noun}s are named {name!r}; give each a name of its own")
        options = {str(key): value for key, value in item.items() if key not in ("name", "type")}
        definitions[name] = {"type": item["type"], "options": options}
        order.append(name)
    return order, definitions


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
