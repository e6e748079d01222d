"""Read the options of a run from a configuration file in YAML.

The file sets options by their names, and defines named plug-ins:

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
)
from ufo.pipelines.options.groups import source_names
from ufo.pipelines.options.judge_flags import Definitions
from ufo.pipelines.options.option import Parser
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.text_file import read_text
from ufo.transforms.sources.fact_source import FactSource


@dataclass(frozen=True, slots=True)
class ParsedOptions:
    """The options in a configuration file or in Python keywords, as checked values by name.

    `sources` and `judges` are defined there, and `beam` are the flags of Beam.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Definitions = field(default_factory=dict)
    judges: Definitions = field(default_factory=dict)
    beam: Sequence[str] = ()


def read_config_file(path: str, parser: Parser) -> ParsedOptions:
    """Return the options in a configuration file.

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
        return ParsedOptions()
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
        return parse_options(values, parser)
    except UsageError as error:
        raise UsageError(f"--config {path!r}: {error.message}") from None


def parse_options(values: Mapping[str, Any], parser: Parser) -> ParsedOptions:
    """Return options as checked values, with the plug-ins that they define and Beam's flags."""
    rest = {name: value for name, value in values.items() if value is not None}
    sources: Definitions = {}
    judges: Definitions = {}
    chosen: dict[str, Any] = {}
    listed = rest.pop("sources", None)
    if isinstance(listed, str):
        chosen["sources"] = source_names(listed)
    elif listed is not None:
        chosen["sources"], sources = _named_plugins(listed, "source")
    defined = rest.pop("judges", None)
    if defined is not None:
        names, judges = _named_plugins(defined, "judge")
        chosen["judge"] = names[0]
    judge = rest.pop("judge", None)
    if isinstance(judge, Mapping):
        (judge,), own = _named_plugins([judge], "judge")
        judges = {**judges, **own}
    if judge is not None:
        chosen["judge"] = judge
    of_run = {name: rest.pop(name) for name in parser.options if name in rest}
    flags = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in rest.items()
        if value is not False
    ]
    return ParsedOptions(
        {**parser.check_values(of_run), **chosen}, sources, judges, beam_flags(flags, parser)
    )


def _named_plugins(items: Any, noun: str) -> tuple[list[Any], Definitions]:
    """Return the plug-ins of a list in their order, and the definitions of its mappings by name.

    The list has names, mappings and fact sources.

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
