"""Choose the fact sources that a run asks.

The table `sources` has the reason for each source that is not asked.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ufo.pipelines.options.groups import ModelOptions
from ufo.pipelines.options.judge_flags import default_judge, options_not_taken
from ufo.pipelines.options.option import names_of
from ufo.pipelines.options.settings import Settings
from ufo.schemas.errors import DoesNotFit, SourceUnavailable, UsageError
from ufo.schemas.records import MULTI, NO_SOURCE, SourceStatus
from ufo.transforms.judges.by_name import JUDGES
from ufo.transforms.plugins import Spec, options_of, takes_context
from ufo.transforms.sources.fact_source import SOURCES, FactSource, SourceSpec

# Used where the user names none, as far as they are configured; the most trusted first.
DEFAULTS = ("reference", "wikipedia", "web", "llm")
USED = "used"
UNAVAILABLE = "unavailable"
_OF_KNOWLEDGE = ("samples", "temperature", "sampling")
_FLAGS_OF_MODELS = (*names_of(ModelOptions), *_OF_KNOWLEDGE, "prompts")
_OF_AN_INDEX = "retriever"
_OF_CALLS = {"concurrency", "retry_seconds", "cache"}


@dataclass(frozen=True, slots=True)
class ChosenSources:
    """The sources of a run: what workers get, the rows of `sources`, and the fingerprint."""

    specs: tuple[SourceSpec, ...] = ()
    statuses: tuple[SourceStatus, ...] = ()
    fingerprint: tuple[Mapping[str, Any], ...] = ()


def choose_sources(settings: Settings) -> ChosenSources:
    """Return the sources of a run; each is made once to see whether it is configured.

    Raises:
        UsageError: an unknown source or option, a name used twice, several sources for `single`.
        SourceUnavailable: a source named explicitly is not configured.
        PluginError: a plug-in does not load.
    """
    settings.create_judge()
    explicit = settings.sources is not None
    wanted = settings.sources or _defaults()
    specs: list[SourceSpec] = []
    statuses: list[SourceStatus] = []
    prints: list[Mapping[str, Any]] = []
    for item in wanted:
        spec = SOURCES.spec(item, settings.source_definitions)
        source = settings.source(spec)
        reason = SOURCES.unavailable(source, spec.name)
        if reason and explicit:
            raise SourceUnavailable(f"the fact source {spec.name!r} cannot serve: {reason}")
        if spec.name in [other.name for other in specs]:
            raise DoesNotFit(f"two sources are named {spec.name!r}; give each a name of its own")
        if spec.name in (NO_SOURCE, MULTI):
            raise UsageError(
                f"no source can be named {spec.name!r}: in verdicts, {NO_SOURCE!r} means that no "
                f"source answered, and {MULTI!r} that all voted; give it another name"
            )
        statuses.append(_status(len(statuses) + 1, spec, source))
        if not reason:
            specs.append(spec)
            prints.append(SOURCES.fingerprint_entry(spec, source))
    if not specs:
        raise SourceUnavailable(
            "no fact source can serve: " + "; ".join(f"{s.source}: {s.reason}" for s in statuses)
        )
    _check_used(settings, specs)
    _check_abstaining(settings, len(specs))
    if settings.mode == "single" and len(specs) > 1:
        names = ", ".join(spec.name for spec in specs)
        raise DoesNotFit(
            f"--mode single asks one source, and there are {len(specs)}: {names}. Name one with "
            "--sources, or use --mode all to have each by itself."
        )
    return ChosenSources(tuple(specs), tuple(statuses), tuple(prints))


def offered_sources(settings: Settings) -> list[SourceStatus]:
    """Return the status of each source that a service offers, which says whether it can serve.

    The sources of its settings come first, in their order, then the other default sources.
    """
    named = [SOURCES.spec(item, settings.source_definitions) for item in settings.sources or ()]
    others = [SOURCES.spec(name) for name in _defaults()]
    specs = {spec.name: spec for spec in (*named, *others)}
    return [_status(at, spec, settings.source(spec)) for at, spec in enumerate(specs.values(), 1)]


def _defaults() -> list[str]:
    return [name for name in DEFAULTS if name in SOURCES.types()]


def _status(position: int, spec: Spec, source: FactSource) -> SourceStatus:
    reason = SOURCES.unavailable(source, spec.name)
    options = json.dumps(SOURCES.options(spec, source), sort_keys=True, default=str)
    status = UNAVAILABLE if reason else USED
    return SourceStatus(position, spec.name, spec.type, status, reason, options)


def _check_abstaining(settings: Settings, n_sources: int) -> None:
    if settings.mode != "seq" or n_sources < 2:
        return
    if settings.verdict_labels == "tf":
        who, other = "--verdict_labels tf", "tfn"
    elif not settings.judge_class.abstains:
        who, other = f"the judge {settings.judge.name!r}", "another judge"
    else:
        return
    raise DoesNotFit(
        f"{who} cannot say that a passage does not tell, so the first of several sources would "
        f"decide everything; use {other}, or --mode mv, single or all"
    )


def _check_used(settings: Settings, sources: Iterable[Spec]) -> None:
    """Raise a DoesNotFit for an option that neither the judge nor a source uses."""
    for name, value in settings.values_of(*_unused(settings.judge, sources)).items():
        if value == Settings.__dataclass_fields__[name].default:
            continue
        why = (
            f"neither the judge {settings.judge.name!r} nor a source asks a model; add --judge llm "
            "or the source llm, with OPENAI_API_KEY or --base_url"
        )
        if name == _OF_AN_INDEX:
            why = "no source that is asked searches an index; add the source wikipedia, and --index"
        raise DoesNotFit(f"--{name} {value!r} would be passed over: {why}, or leave it out")


def fitting_flags(
    usual: Mapping[str, Any], asked: Mapping[str, Any], sources: Sequence[str | FactSource] | None
) -> dict[str, Any]:
    """Return the given flags, and those default flags that the judge or a source can use."""
    flags = {**usual, **asked}
    judge = JUDGES.spec(flags.get("judge") or default_judge(flags.get("base_url")), {})
    others = options_not_taken(judge, flags)
    if sources:
        others.update(_unused(judge, [SOURCES.spec(source) for source in sources]))
    return {name: value for name, value in flags.items() if name in asked or name not in others}


def _unused(judge: Spec, sources: Iterable[Spec]) -> list[str]:
    kinds = [SOURCES.kind(spec) for spec in sources]
    no_index = not any(_OF_AN_INDEX in options_of(kind) for kind in kinds)
    unused = [_OF_AN_INDEX] if no_index else []
    if JUDGES.kind(judge).needs_endpoint or any(kind.needs_endpoint for kind in kinds):
        return unused
    used = set(JUDGES.parameters(judge))
    for kind in kinds:
        used |= options_of(kind).keys() | (_OF_CALLS if takes_context(kind) else set())
    return [*unused, *(name for name in _FLAGS_OF_MODELS if name not in used)]


def snapshot_folders(settings: Settings, specs: Sequence[SourceSpec]) -> list[str]:
    """Return the folders of the web snapshots that a run uses, each once."""
    sources = (settings.source(spec) for spec in specs)
    folders = (getattr(source, "snapshot", None) for source in sources)
    return list(dict.fromkeys(folder for folder in folders if isinstance(folder, str)))
