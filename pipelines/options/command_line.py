"""Make the options of a run from a command line, or from Python keywords.

Both are parsed once, here, by the parser that checks flags. A flag beats the configuration file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from ufo.pipelines.options import dataflow
from ufo.pipelines.options.arguments import (
    Affects,
    Definitions,
    Described,
    Parser,
    named,
    names_of,
    options_of,
)
from ufo.pipelines.options.beam_flags import beam_flags, on_dataflow
from ufo.pipelines.options.config import load
from ufo.pipelines.options.flags import GROUPS, source_names
from ufo.pipelines.options.judge_flags import Asking, Judging
from ufo.pipelines.options.settings import (
    OF_THE_EXTRACTOR,
    OF_THE_LLM_JUDGE,
    Settings,
    default_judge,
    flags_of,
)
from ufo.schemas.errors import PluginError, UsageError, unknown_value
from ufo.transforms.judges import JUDGES
from ufo.transforms.judges.base import Judge
from ufo.transforms.registry import Spec
from ufo.transforms.secrets import into_environment
from ufo.transforms.sources.base import FactSource
from ufo.transforms.verifiers.registry import usable

S = TypeVar("S", bound=Settings)

_OF_SOME: Final = ({*names_of(Judging)} | OF_THE_LLM_JUDGE | OF_THE_EXTRACTOR) - {
    "judge",
    "prompts",
}  # prompts are of the source llm, too
"""The options that only some judges take."""


def settings(
    kind: type[S], parser: Parser, argv: Sequence[str], more: Described | None = None
) -> S:
    """Return the settings of a command line, its configuration file and the defaults, as the class
    of them that a command has; `more` is what flags cannot be.

    Raises:
        UsageError: whatever is wrong, with the nearest right thing.
    """
    given, rest = parser.parse_known_args(list(argv))
    filed = load(given.config, parser) if given.config else Described()
    more = more or Described()
    values = {**filed.values, **more.values}
    values |= parser.given(given)
    beam = [*filed.beam, *beam_flags(rest, parser)]
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if not values.get(name):
            raise UsageError(f"--{name} is missing. See `{parser.prog} --help`.")
    if values.get("secrets"):
        into_environment(values["secrets"])
    _check_judge(values, {**filed.judges, **more.judges}, parser)
    _check_together(values)
    for name in ("input", "sources"):
        if values.get(name):
            values[name] = tuple(values[name])
    found = kind(**values, source_definitions=filed.sources, beam=tuple(beam))
    if found.dry_run or not on_dataflow(beam):
        return found
    return dataflow.with_defaults(found)


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
    values["judge"] = _checked_judge(item, definitions, values, parser)
    if values.get("verifier") is not None:
        values["verifier"] = usable(values["verifier"])
    if values.get("formulation", "function") != "function":
        for one in parser.options.values():
            if Affects.FUNCTION in one.affects and values.get(one.name) is not None:
                raise UsageError(
                    f"--{one.name} is for --formulation function, and this run's is "
                    f"{values['formulation']}; leave one of them out"
                )


def _checked_judge(
    item: object,
    definitions: Definitions,
    values: dict[str, Any],
    parser: Parser,
) -> Spec:
    """Return the judge of a run whose flags are `values`; options of a named judge that are flags
    become values of these.

    Raises:
        UsageError: there is no such judge or option, or a flag that it does not take is given.
    """
    spec = JUDGES.spec(item, definitions)
    if not JUDGES.kind(spec).verifies:
        raise PluginError(
            f"the judge {spec.name!r} ({spec.type}) verifies nothing: give it `outcome` or `verify`"
        )
    taken = flags_of(spec) & parser.options.keys()
    _check_options(spec, taken)
    as_flags = {name: value for name, value in spec.options.items() if name in taken}
    values.update(parser.values(as_flags))
    for name in values:
        if name in _OF_SOME - taken:
            raise UsageError(_not_taken(name, spec))
    own = {name: value for name, value in spec.options.items() if name not in taken}
    return replace(spec, options=own)


def fitting(usual: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is asked, and those of the usual flags that the judge and formulation take."""
    found = {**usual, **asked}
    judge = found.get("judge") or default_judge(found.get("base_url"))
    others = _OF_SOME - flags_of(JUDGES.spec(judge, {}))
    if found.get("formulation", "function") != "function":
        others |= {one.name for one in options_of(Asking) if Affects.FUNCTION in one.affects}
    return {name: value for name, value in found.items() if name in asked or name not in others}


def _check_options(spec: Spec, taken: set[str]) -> None:
    parameters = JUDGES.parameters(spec)
    known = taken | parameters.keys()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for option in spec.options:
        if option not in known and not takes_any:
            what = f"option of the judge {spec.name!r} ({spec.type})"
            raise UsageError(unknown_value(what, option, sorted(known) or ["no options"]))


def _not_taken(name: str, spec: Spec) -> str:
    takers = sorted(_takers(name), key=lambda one: (one[1].needs_endpoint, one[0]))
    judges = " or ".join(f"--judge {type_name}" for type_name, _ in takers) or "another judge"
    reached = all(kind.needs_endpoint for _, kind in takers)
    how = " (with OPENAI_API_KEY or --base_url)" if takers and reached else ""
    return (
        f"--{name} is for {judges}, and this run's judge is {spec.name}; use "
        f"{'that' if len(takers) < 2 else 'one of these'}{how}, or leave --{name} out"
    )


def _takers(name: str) -> Iterator[tuple[str, Any]]:
    for type_name in JUDGES.types():
        spec = Spec(type_name, type_name)
        try:
            if name in flags_of(spec):
                yield type_name, JUDGES.kind(spec)
        except PluginError:
            continue  # reported when this judge is used


def settings_of(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> Settings:
    """Return the settings of `values`, flags by their names, and of sources: a list, or names.

    Raises:
        UsageError: an option or a source is wrong.
    """
    parser = Parser(prog="ufo.evaluate")
    parser.add_options(GROUPS)
    chosen = settings(Settings, parser, *as_flags(parser, values))
    if sources is None:
        return chosen
    if isinstance(sources, str):
        sources = source_names(sources)
    described = [item if not isinstance(item, FactSource) else "" for item in sources]
    if not described:
        raise UsageError("sources is an empty list; leave it out to use those that can serve")
    order, definitions = named(described, "source")
    items = [
        source if isinstance(source, FactSource) else name
        for source, name in zip(sources, order, strict=True)
    ]
    return replace(chosen, sources=tuple(items), source_definitions=definitions)


def as_flags(parser: Parser, values: Mapping[str, Any]) -> tuple[list[str], Described]:
    """Return Python keywords as flags, and what no flag can be: a judge described, or an object."""
    judge = values.get("judge")
    if judge is None or isinstance(judge, str):
        return parser.argv(values), Described()
    argv = parser.argv({name: value for name, value in values.items() if name != "judge"})
    if isinstance(judge, Judge):
        return argv, Described({"judge": judge})
    (name,), judges = named([judge], "judge")
    return argv, Described({"judge": name}, judges=judges)
