"""The configuration file of `ufo evaluate`: YAML with any flag by its name, and named plug-ins.

    mode: seq
    passages: 5
    sources:
      - reference
      - {name: enwiki-2022, type: wikipedia, index: /indexes/2022}
      - {name: mine, type: sources/mine.py:MySource, limit: 3}
    judge: {name: quotes, type: judges/quotes.py:Quotes, share: 0.9}

A mapping in `sources` defines a source under a name of its own; `--sources` may name it in another
order. `judge` is a name or such a mapping; of a list of them, `judges`, the first judges unless
`judge` or `--judge` names another. Paths are relative to where the command runs, as in flags.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.options.arguments import Parser
from schemas import storage
from schemas.errors import UsageError, unknown_value

Definitions = Mapping[str, Mapping[str, Any]]
"""By their names, the named plug-ins of one kind: `type` and `options` of each."""


@dataclass(frozen=True, slots=True)
class Filed:
    """What a file holds: values by flag name, sources and judges that it defines, Beam's flags."""

    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Definitions = field(default_factory=dict)
    judges: Definitions = field(default_factory=dict)
    beam: Iterable[str] = ()


def load(path: str, parser: Parser) -> Filed:
    """Return what the file holds.

    Raises:
        UsageError: the file is missing, not YAML, or has a key that is no flag.
    """
    import yaml

    from pipelines.options.beam_flags import beam_flags, known_to_beam

    try:
        content = yaml.safe_load(storage.read(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--config {path!r} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"--config {path!r} is not YAML: {error}") from error
    if content is None:
        return Filed()
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise UsageError(f"--config {path!r} is a mapping from flags to values, as in `mode: seq`")
    sources: Definitions = {}
    judges: dict[str, Mapping[str, Any]] = {}
    values: dict[str, Any] = {}
    flags = {name: one for name, one in parser.options.items() if name != "config"}
    argv: list[str] = []
    beam: list[str] = []
    try:
        for key, value in content.items():
            name = key.removeprefix("--")
            if name == "sources" and not isinstance(value, str):
                values["sources"], sources = named(value, "source")
            elif name == "judges":
                order, defined = named(value, "judge")
                judges |= defined
                values.setdefault("judge", order[0])
            elif name == "judge" and isinstance(value, dict):
                (values["judge"],), defined = named([value], "judge")
                judges |= defined
            elif name in flags:
                argv += _as_flags(name, value, flags[name].kind is bool)
            elif known_to_beam(name):
                beam += _as_flags(name, value, isinstance(value, bool))
            else:
                raise UsageError(unknown_value("key", name, flags))
        # The parser checks what the file says just as it checks flags.
        filed = parser.parse_args(argv)
        beam_flags(beam, parser)
    except UsageError as error:
        raise UsageError(f"--config {path!r}: {error.message}") from None
    return Filed(values | parser.given(filed), sources, judges, beam)


def flag_values(options: Mapping[str, Any], parser: Parser) -> dict[str, Any]:
    """Return the values of options that are flags, checked as these are.

    Raises:
        UsageError: a value is wrong.
    """
    argv: list[str] = []
    for name, value in options.items():
        argv += _as_flags(name, value, parser.options[name].kind is bool)
    return parser.given(parser.parse_args(argv))


def _as_flags(name: str, value: object, switch: bool) -> list[str]:
    if value is None or (switch and value is False):
        return []
    if switch:
        if value is not True:
            raise UsageError(f"{name} is true or false, not {value!r}")
        return [f"--{name}"]
    if isinstance(value, list):
        return [f"--{name}", *map(str, value)]
    return [f"--{name}={value}"]


def named(items: object, noun: str) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """Return the order of names and the definitions in a list of names and mappings.

    Raises:
        UsageError: an item that is neither, lacks `name` or `type`, or repeats a name.
    """
    if not isinstance(items, list) or not items:
        raise UsageError(f"`{noun}s` is a list of names and of {{name, type, …}}")
    order: list[str] = []
    definitions: dict[str, Mapping[str, Any]] = {}
    for item in items:
        if isinstance(item, str):
            order.append(item)
            continue
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
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
