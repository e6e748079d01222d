"""Which judge a run has, and which flags it takes: what its class says decides."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pipelines.options.arguments import Affects, Parser, names_of, options_of
from pipelines.options.config import Definitions, flag_values
from pipelines.options.judge_flags import Asking, Judging, Limits, Models
from pipelines.options.settings import LLM, OF_JUDGES, OFFLINE
from schemas.errors import PluginError, UsageError, unknown_value
from transforms.judges import JUDGES, asks_llm_judge
from transforms.registry import Spec

_OF_THE_LLM_JUDGE: Final = {*names_of(Asking), "formulations"}
_OF_THE_EXTRACTOR: Final = {one for one in names_of(Models, Limits) if one.startswith("extractor_")}
_OF_SOME: Final = ({*names_of(Judging)} | _OF_THE_LLM_JUDGE | _OF_THE_EXTRACTOR) - {
    "judge",
    "prompts",
}  # prompts are of the source llm, too
"""The options that only some judges take."""


def default_judge(base_url: str | None = None) -> str:
    """Return the judge where none is named: a model where one can be reached."""
    reachable = base_url or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
    return LLM if reachable else OFFLINE


def flags_of(spec: Spec) -> set[str]:
    """Return the flags that a judge takes: those that its constructor names, those of the LLM judge
    where it asks that, and those of models where it needs an endpoint."""
    kind = JUDGES.kind(spec)
    names = OF_JUDGES & JUDGES.parameters(spec).keys()
    if asks_llm_judge(spec):
        names |= _OF_THE_LLM_JUDGE
    if kind.needs_endpoint:
        names |= {"model", "base_url", *(_OF_THE_EXTRACTOR if kind.extracts else ())}
    return names


def checked_judge(
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
    values.update(flag_values(as_flags, parser))
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
            continue  # it is told of where it is asked for
