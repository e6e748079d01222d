"""Read the configuration file: YAML with any flag by its name, and named plug-ins.

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

from typing import Any

import yaml

from ufo.pipelines.options.arguments import Definitions, Described, Parser, named
from ufo.pipelines.options.beam_flags import beam_flags, beam_parser, takes_value
from ufo.schemas import storage
from ufo.schemas.errors import UsageError, unknown_value


def load(path: str, parser: Parser) -> Described:
    """Return what the file holds.

    Raises:
        UsageError: the file is missing, not YAML, or has an unknown key.
    """
    try:
        content = yaml.safe_load(storage.read(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--config {path!r} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"--config {path!r} is not YAML: {error}") from error
    if content is None:
        return Described()
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise UsageError(f"--config {path!r} is a mapping from flags to values, as in `mode: seq`")
    try:
        keys = [key.removeprefix("--") for key in content]
        return _described(dict(zip(keys, content.values(), strict=True)), parser)
    except UsageError as error:
        raise UsageError(f"--config {path!r}: {error.message}") from None


def _described(content: dict[str, Any], parser: Parser) -> Described:
    sources: Definitions = {}
    judges: dict[str, Any] = {}
    values: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    beam: dict[str, Any] = {}
    flags = parser.options.keys() - {"config"}
    for name, value in content.items():
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
            ours[name] = value
        elif takes_value(beam_parser(), f"--{name}") is not None:
            beam[name] = value
        else:
            raise UsageError(unknown_value("key", name, sorted(flags)))
    beams = parser.argv(beam)
    beam_flags(beams, parser)
    return Described(values | parser.values(ours), sources, judges, beams)
