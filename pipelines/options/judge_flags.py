"""Match the flags of a run with the judge that takes them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ufo.pipelines.options.groups import JudgeOptions, ModelOptions
from ufo.pipelines.options.option import Affects, Parser, names_of, options_of
from ufo.schemas.errors import DoesNotFit, PluginError, UsageError, unknown_value
from ufo.transforms.judges.by_name import JUDGES, asks_llm_judge
from ufo.transforms.judges.llm.llm_settings import FUNCTION, formulation_of
from ufo.transforms.llm.endpoint import Endpoint
from ufo.transforms.plugins import Spec
from ufo.transforms.verifiers.by_name import usable_name

OFFLINE: Final = "offline"
"""The default judge if no endpoint is configured."""
LLM: Final = "llm"
"""The default judge if an endpoint is configured."""
OF_JUDGES: Final = {*names_of(JudgeOptions, ModelOptions)} - {"judge"}
"""The options that a judge takes if its constructor names them."""
_OF_THE_LLM_JUDGE: Final = ({*names_of(JudgeOptions)} - {"judge", "verifier"}) | {"formulations"}
_OF_THE_EXTRACTOR: Final = {"extractor_model", "extractor_base_url"}
_OF_SOME: Final = ({"verifier"} | _OF_THE_LLM_JUDGE | _OF_THE_EXTRACTOR) - {"prompts"}
"""The options that only some judges take; the source llm has prompts, too."""

Definitions = Mapping[str, Mapping[str, Any]]
"""The definitions of named plug-ins of one kind, by name: `type` and `options` of each."""


def default_judge(base_url: str | None = None) -> str:
    """Return the default judge: a model if an endpoint is configured."""
    return LLM if Endpoint(base_url=base_url).configured else OFFLINE


def flags_of(spec: Spec) -> set[str]:
    """Return the flags that a judge takes.

    These are the flags that its constructor names, the LLM judge's if it asks that judge, and the
    flags for models if it needs an endpoint.
    """
    kind = JUDGES.kind(spec)
    names = OF_JUDGES & JUDGES.parameters(spec).keys()
    if asks_llm_judge(spec):
        names |= _OF_THE_LLM_JUDGE
    if kind.needs_endpoint:
        names |= {"model", "base_url", *(_OF_THE_EXTRACTOR if kind.extracts else ())}
    return names


def check_judge(values: dict[str, Any], definitions: Definitions, parser: Parser) -> None:
    """Fill in the judge and the flags that it defines, and refuse flags of other judges.

    Raises:
        UsageError: the judge or option does not exist, or the judge does not take a given flag.
    """
    item = values.get("judge") or default_judge(values.get("base_url"))
    spec = JUDGES.spec(item, definitions)
    if not JUDGES.kind(spec).verifies:
        raise PluginError(
            f"the judge {spec.name!r} ({spec.type}) verifies nothing: give it `outcome` or `verify`"
        )
    taken = flags_of(spec) & parser.options.keys()
    parameters = JUDGES.parameters(spec)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    for name in spec.options:
        if name not in taken | parameters.keys() and not takes_any:
            what = f"option of the judge {spec.name!r} ({spec.type})"
            known = sorted(taken | parameters.keys()) or ["no options"]
            raise UsageError(unknown_value(what, name, known))
    values |= parser.check_values(
        {name: spec.options[name] for name in taken & spec.options.keys()}
    )
    for name in values:
        if name in _OF_SOME - taken:
            raise DoesNotFit(_message_for_other_judge(name, spec))
    own = {name: value for name, value in spec.options.items() if name not in taken}
    values["judge"] = replace(spec, options=own)
    if values.get("verifier") is not None:
        values["verifier"] = usable_name(values["verifier"])
    formulation = _formulation(values)
    if formulation != FUNCTION and JUDGES.kind(spec).asks_llm_judge:
        for option in parser.options.values():
            if Affects.FUNCTION in option.affects and values.get(option.name) is not None:
                raise DoesNotFit(
                    f"--{option.name} is for --formulation function, and this run's is "
                    f"{formulation}; leave one of them out"
                )


def _formulation(values: Mapping[str, Any]) -> str:
    """Return the formulation: the given one, or the one that suits the model by its name."""
    return str(values.get("formulation") or formulation_of(values.get("model") or ""))


def _message_for_other_judge(name: str, spec: Spec) -> str:
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


def options_not_taken(spec: Spec, values: Mapping[str, Any]) -> set[str]:
    """Return the options that a judge does not take, given its formulation in these values."""
    others = _OF_SOME - flags_of(spec)
    if _formulation(values) != FUNCTION:
        others |= {one.name for one in options_of(JudgeOptions) if Affects.FUNCTION in one.affects}
    return others
