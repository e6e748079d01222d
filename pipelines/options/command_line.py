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

On Dataflow, workers are machines made for the job from a container image. They can reach only
buckets and files of the image. Other paths are refused before anything is staged. Options that this
project usually needs there are filled in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import yaml

from ufo.pipelines.options.beam_flags import (
    beam_flags,
    beam_parser,
    on_dataflow,
    value_of,
)
from ufo.pipelines.options.groups import GROUPS, JudgeOptions, source_names
from ufo.pipelines.options.option import Affects, Option, Parser, options_of
from ufo.pipelines.options.settings import (
    OF_THE_EXTRACTOR,
    OF_THE_LLM_JUDGE,
    RECALL_GROUPS,
    RecallSettings,
    Settings,
    default_judge,
    flags_of,
)
from ufo.schemas import storage
from ufo.schemas.errors import PluginError, UsageError, unknown_value
from ufo.schemas.storage import OFF, is_remote
from ufo.schemas.text import decoded
from ufo.transforms.job import into_environment
from ufo.transforms.judges.judge import JUDGES
from ufo.transforms.judges.llm.llm_settings import FUNCTION, formulation_of
from ufo.transforms.plugins import Spec
from ufo.transforms.sources.fact_source import FactSource
from ufo.transforms.verifiers.by_name import usable

S = TypeVar("S", bound=Settings)

_NEEDED = ("project", "region", "temp_location")
_BRINGS_UFO = ("sdk_container_image", "setup_file", "extra_package", "extra_packages")
# The image has the modules of our functions. The submitter's session and environment are not
# needed, and would reveal the paths of their files.
_USUAL = ("--no_save_main_session", "--experiments=disable_logging_submission_environment")
_MACHINE = "e2-standard-2"
_MOST_WORKERS = 10


def with_defaults(settings: S) -> S:
    """Return the settings of a run on Dataflow with the defaults for it.

    Raises:
        UsageError: a value names something that the workers cannot reach.
    """
    flags = settings.beam
    _check_places(settings)
    for name in _NEEDED:
        if not value_of(flags, name):
            raise UsageError(
                f"--{name} is missing; DataflowRunner needs --project, --region and "
                "--temp_location gs://BUCKET/temp"
            )
    if not any(value_of(flags, name) for name in _BRINGS_UFO):
        raise UsageError(
            "--sdk_container_image is missing: Dataflow's workers have no ufo unless their image "
            "has it; scripts/dataflow/Dockerfile makes it"
        )
    usual = [flag for flag in _USUAL if flag not in flags]
    if not any(value_of(flags, name) for name in ("machine_type", "worker_machine_type")):
        usual.append(f"--machine_type={_MACHINE}")
    if not any(value_of(flags, name) for name in ("max_num_workers", "num_workers")):
        usual.append(f"--max_num_workers={_MOST_WORKERS}")
    return replace(settings, beam=(*flags, *usual))


def _check_places(settings: Settings) -> None:
    """Raise a UsageError for a path of this machine, which the workers would not find."""
    if settings.web_snapshot:
        raise UsageError(
            "--web_snapshot needs the processes of one machine, but Dataflow's workers are on "
            "several; leave it out, or --runner"
        )
    bucket = "a bucket, gs://BUCKET/…: `gcloud storage cp --recursive {path} gs://BUCKET/…`"
    places = [("--input", path, bucket) for path in settings.input]
    places.append(("--output", settings.output, "a bucket, gs://BUCKET/…"))
    cache = settings.cache_uri()
    if cache != OFF:
        places.append(("--cache", cache, "a bucket prefix that ends in /, or off, or leave it out"))
    if settings.index:
        places.append(("--index", settings.index, bucket))
    for what, path, better in places:
        if not is_remote(path):
            raise UsageError(
                f"{what} {path!r} is on this machine, and Dataflow's workers are not; name "
                f"{better.format(path=path)}"
            )


_OF_SOME: Final = ({"verifier"} | OF_THE_LLM_JUDGE | OF_THE_EXTRACTOR) - {"prompts"}
"""The options that only some judges take; prompts are of the source llm, too."""

Definitions = Mapping[str, Mapping[str, Any]]
"""By their names, the named plug-ins of one kind: `type` and `options` of each."""


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


def keyword_settings(
    kind: type[S], groups: Mapping[str, Iterable[Option]], values: Mapping[str, Any]
) -> S:
    """Return the settings of Python keywords: the options in `groups` by their names.

    Raises:
        UsageError: an option is wrong.
    """
    parser = Parser(prog="ufo.evaluate" if kind is Settings else "ufo.recall")
    parser.add_options(groups)
    return _settings(kind, parser, _given(dict(values), parser, GivenOptions()))


def settings_of(
    values: Mapping[str, Any],
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
) -> Settings:
    """Return the settings from Python keywords (options of `ufo evaluate`) and sources (a list, or
    names).

    Raises:
        UsageError: an option or a source is wrong.
    """
    chosen = keyword_settings(Settings, GROUPS, values)
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


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings of Python keywords, options of `ufo recall` by their names.

    Raises:
        UsageError: an option is wrong.
    """
    return keyword_settings(RecallSettings, RECALL_GROUPS, values)


def _settings(kind: type[S], parser: Parser, given: GivenOptions) -> S:
    path = given.values.get("config")
    filed = load(path, parser) if path else GivenOptions()
    values = {**filed.values, **given.values}
    beam = [*filed.beam, *given.beam]
    if values.get("dry_run"):
        values.setdefault("output", ".")  # where nothing is written
    for name in ("input", "output"):
        if not values.get(name):
            raise UsageError(f"--{name} is missing. See `{parser.prog} --help`.")
    if values.get("secrets"):
        into_environment(values["secrets"])
    _check_judge(values, {**filed.judges, **given.judges}, parser)
    _check_together(values)
    for name in ("input", "sources"):
        if values.get(name):
            values[name] = tuple(values[name])
    found = kind(**values, source_definitions=filed.sources, beam=tuple(beam))
    if on_dataflow(beam) and not found.dry_run:
        found = with_defaults(found)
    return found.checked()


def load(path: str, parser: Parser) -> GivenOptions:
    """Return what a configuration file holds.

    Raises:
        UsageError: the file is missing, not YAML, or has an unknown key.
    """
    try:
        content = yaml.safe_load(decoded(storage.read(path)))
    except (OSError, ValueError) as error:
        raise UsageError(f"--config {path!r} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"--config {path!r} is not YAML: {error}") from error
    if content is None:
        return GivenOptions()
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise UsageError(f"--config {path!r} is a mapping from flags to values, as in `mode: seq`")
    found: dict[str, Any] = {key.removeprefix("--"): value for key, value in content.items()}
    try:
        known = sorted(parser.options.keys() - {"config"})
        others = [name for name in found if name not in (*known, "sources", "judges")]
        of_beam = vars(beam_parser().parse_args([])) if others else {}
        for name in others:
            if name not in of_beam:
                raise UsageError(unknown_value("key", name, known))
        values: dict[str, Any] = {}
        sources: Definitions = {}
        if "sources" in found and not isinstance(found["sources"], str):
            values["sources"], sources = named(found.pop("sources"), "source")
        judges: dict[str, Any] = {}
        if "judges" in found:
            order, judges = named(found.pop("judges"), "judge")
            found.setdefault("judge", order[0])
        return _given(found, parser, GivenOptions(values, sources, judges))
    except UsageError as error:
        raise UsageError(f"--config {path!r}: {error.message}") from None


def _given(values: dict[str, Any], parser: Parser, known: GivenOptions) -> GivenOptions:
    """Return `known` with checked values added, by the names of options or Beam's flags. A judge
    may also be a mapping or an object."""
    judges = dict(known.judges)
    judge = values.pop("judge", None)
    if isinstance(judge, Mapping):
        (judge,), defined = named([judge], "judge")
        judges |= defined
    checked = parser.checked({name: values[name] for name in values if name in parser.options})
    if judge is not None:
        checked["judge"] = judge
    flags: list[str] = []
    for name, value in values.items():
        if name not in parser.options and value is not None and value is not False:
            flags.append(f"--{name}" if value is True else f"--{name}={value}")
    return GivenOptions(
        {**known.values, **checked}, known.sources, judges, beam_flags(flags, parser)
    )


def named(items: object, noun: str) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """Return the order of names and the definitions in a list of names and mappings.

    Raises:
        UsageError: an item is neither, lacks `name` or `type`, or repeats a name.
    """
    if not isinstance(items, list | tuple) or not items:
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
    for name, of in _ONLY_WITH.items():
        if values.get(name) is not None and not values.get(of):
            raise UsageError(f"--{name} is for --{of}; add that, or leave --{name} out")


def _check_judge(values: dict[str, Any], definitions: Definitions, parser: Parser) -> None:
    """Fill in the judge, and the flags that a named judge defines. Refuse flags that only another
    judge takes.

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
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in spec.options:
        if name not in taken | parameters.keys() and not takes_any:
            what = f"option of the judge {spec.name!r} ({spec.type})"
            known = sorted(taken | parameters.keys()) or ["no options"]
            raise UsageError(unknown_value(what, name, known))
    values |= parser.checked({name: spec.options[name] for name in taken & spec.options.keys()})
    for name in values:
        if name in _OF_SOME - taken:
            raise UsageError(_not_taken(name, spec))
    own = {name: value for name, value in spec.options.items() if name not in taken}
    values["judge"] = replace(spec, options=own)
    if values.get("verifier") is not None:
        values["verifier"] = usable(values["verifier"])
    formulation = values.get("formulation") or formulation_of(values.get("model") or "")
    if formulation != FUNCTION and JUDGES.kind(spec).asks_llm_judge:
        for one in parser.options.values():
            if Affects.FUNCTION in one.affects and values.get(one.name) is not None:
                raise UsageError(
                    f"--{one.name} is for --formulation function, and this run's is "
                    f"{formulation}; leave one of them out"
                )


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


def fitting(usual: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given flags, and the default flags that the judge and formulation take."""
    found = {**usual, **asked}
    judge = found.get("judge") or default_judge(found.get("base_url"))
    others = _OF_SOME - flags_of(JUDGES.spec(judge, {}))
    if found.get("formulation", "function") != "function":
        others |= {one.name for one in options_of(JudgeOptions) if Affects.FUNCTION in one.affects}
    return {name: value for name, value in found.items() if name in asked or name not in others}
