"""The settings of a run: its checked options, which make its judge, clients and sources."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final, Self, TypeVar

from ufo.pipelines.options.beam_flags import IN_PROCESS, on_dataflow, runner_of
from ufo.pipelines.options.groups import (
    InputOptions,
    JudgeOptions,
    ModelOptions,
    RunOptions,
    SourceOptions,
    WebOptions,
    keywords,
)
from ufo.pipelines.options.judge_flags import OF_JUDGES
from ufo.pipelines.options.option import Affects, names_of, of_results, of_run, option, options_of
from ufo.schemas.cache_folder import CACHE_VARIABLE, OFF, default_cache
from ufo.schemas.dependencies import need
from ufo.schemas.errors import DoesNotFit, UsageError
from ufo.schemas.file_systems import is_remote
from ufo.transforms.judges.by_name import JUDGES, JudgeSpec, asks_llm_judge, make_judge
from ufo.transforms.judges.judge import Judge
from ufo.transforms.judges.llm.llm_settings import LlmSettings, formulation_of
from ufo.transforms.llm.client_settings import (
    BatchSettings,
    CallSettings,
    ClientSettings,
    store_path,
)
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.prices import load_prices
from ufo.transforms.llm.request import EXTRACTOR, VERIFIER, Client
from ufo.transforms.llm.retry import Retry
from ufo.transforms.plugins import is_file_type
from ufo.transforms.recall.formulations import DEFAULT, canonical
from ufo.transforms.sources.fact_source import FactSource, SourceContext, SourceSpec, make_source
from ufo.transforms.verifiers.by_name import DEFAULT_VERIFIER, description, make_verifier

KNOWLEDGE_TYPE: Final = "llm"
"""The source that asks a model what it knows."""
_ALL_FACTS: Final = 10_000  # facts in one call; the size of a reply is a lower limit
_OF_LLM_SETTINGS: Final = {*names_of(JudgeOptions)} & {flag.name for flag in fields(LlmSettings)}
ENDPOINT_OPTIONS: Final = (
    "model",
    "base_url",
    "extractor_model",
    "extractor_base_url",
    "knowledge_model",
    "knowledge_base_url",
    "header",
    "body_json",
    "reasoning_effort",
)
"""The options by which a model is found and asked."""
_OF_SOURCES_TOO: Final = ("concurrency", "web_snapshot")  # their results are the same


@dataclass(frozen=True, kw_only=True)
class Settings(InputOptions, SourceOptions, WebOptions, JudgeOptions, ModelOptions, RunOptions):
    """The options of a run, checked. `sources` None means those of the defaults that can serve.

    `source_definitions` are the named sources of the configuration file, `beam` the flags of Beam.
    `command` has the words after `ufo`, for `ufo status`; it is empty in Python.
    """

    source_definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    beam: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    def checked(self) -> Self:
        """Return these options, checked against each other and completed.

        Raises:
            UsageError: two options cannot be combined.
        """
        return self

    def processes(self, models: Sequence[str] = ()) -> int:
        """Return the number of processes for a run that asks these models.

        One process keeps an endpoint busy; without models, there is one for each processor.
        """
        return self.workers or (1 if models else cores())

    def values_of(self, *names: str) -> dict[str, Any]:
        """Return the named options that have a value."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def affecting_names(self, what: Affects) -> list[str]:
        """Return the names of the options that enter that part of the fingerprint."""
        return [one.name for one in options_of(type(self)) if what in one.affects]

    def source_flags(self) -> dict[str, Any]:
        """Return the flags that set options of fact sources, by their common names."""
        return self.values_of(*self.affecting_names(Affects.SOURCE), *_OF_SOURCES_TOO)

    def source_context(
        self, client: ClientSettings | None = None, run: str | None = None
    ) -> SourceContext:
        """Return the context of fact sources.

        `client` has the settings of the clients if they are known already; `run` is the id of the
        run, None outside of one.
        """
        calls = CallSettings(
            concurrency=self.concurrency,
            retry=self.retry(),
            cache=client.cache if client is not None else self.cache_uri(),
            cache_writes=client.cache_writes if client is not None else True,
            run=run,
        )
        return SourceContext(calls, client, self.judge_class.needs_endpoint)

    def source(self, spec: SourceSpec, client: Callable[[], Client] | None = None) -> FactSource:
        """Return a fact source for use outside of a run; `client` replaces the models' clients."""
        context = replace(self.source_context(), client=client)
        return make_source(spec, self.source_flags(), context)

    def retry(self) -> Retry:
        """Return the retry policy of requests."""
        return Retry(seconds=self.retry_seconds)

    def cache_uri(self) -> str:
        """Return the URI of the cache of answers."""
        # A worker's own disk is lost with it, and a repeated bundle would be paid for again.
        if not self.cache and on_dataflow(self.beam) and not os.environ.get(CACHE_VARIABLE):
            return f"{self.output.rstrip('/')}/cache/"
        return self.cache or default_cache()

    def llm(self) -> LlmSettings | None:
        """Return the settings of the LLM judge, None if the judge asks no model."""
        if not self.judge_class.needs_endpoint:
            return None
        endpoints = self.client.endpoints
        model = endpoints[VERIFIER].model
        return LlmSettings(
            model=model,
            extractor_model=endpoints[EXTRACTOR].model,
            prompts_dir=self.prompts,
            **{"formulation": formulation_of(model), **self.values_of(*_OF_LLM_SETTINGS)},
        )

    @property
    def judge_class(self) -> type[Judge]:
        """The class of the judge, whose attributes are its abilities."""
        return JUDGES.kind(self.judge)

    def judge_spec(self, client: ClientSettings | None = None) -> JudgeSpec:
        """Return the specification of the judge for workers; `client` if it is already known."""
        llm_settings = self.llm()
        asked = (client or self.client) if llm_settings else None
        flags = self.values_of(*OF_JUDGES)
        flags["verifier"] = self.verifier_used()
        taken = flags.keys() & JUDGES.parameters(self.judge).keys()
        options = {**{name: flags[name] for name in sorted(taken)}, **self.judge.options}
        judge = self.judge
        return JudgeSpec(
            judge.name, judge.type, options, judge.instance, llm=llm_settings, client=asked
        )

    def create_judge(self) -> Judge:
        """Return the judge, created in this process.

        Raises:
            UsageError: it cannot be made, or cannot be used here.
        """
        if self.judge_class.needs_endpoint:
            need("llm", f"the judge {self.judge.name!r}")
        judge = make_judge(self.judge_spec())
        reason = JUDGES.unavailable(judge, self.judge.name)
        if reason:
            raise DoesNotFit(f"the judge {self.judge.name!r} cannot judge: {reason}")
        return judge

    def verifier_accuracy(self) -> str:
        """Return the accuracy that a verifier from a user's file states, "" for other verifiers."""
        name = self.verifier_used()
        return make_verifier(name).accuracy() if name and is_file_type(name) else ""

    def verifier_used(self) -> str | None:
        """Return the name of the verifier that judges, None if there is none."""
        if "verifier" not in JUDGES.parameters(self.judge):
            return None
        return self.verifier or DEFAULT_VERIFIER

    def judge_fingerprint(self) -> dict[str, Any]:
        """Return the judge's part of a fingerprint."""
        entries: dict[str, Any] = {
            "judge": JUDGES.fingerprint_entry(self.judge, self.create_judge())
        }
        verifier, llm_settings = self.verifier_used(), self.llm()
        if verifier:
            entries["verifier"] = description(verifier)
        if llm_settings is not None:
            entries["llm"] = asdict(llm_settings)
        return entries

    @cached_property
    def client(self) -> ClientSettings:
        """The settings of the models' clients."""
        return ClientSettings(
            endpoints(**self.values_of(*ENDPOINT_OPTIONS, "timeout")),
            concurrency=self.concurrency,
            retry=self.retry(),
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            context=self.context,
            prices=load_prices(self.prices),
            cache=self.cache_uri(),
            share=not self.no_share,
            max_cost=self.max_cost,
        )

    def models_asked(self, sources: Sequence[SourceSpec]) -> list[str]:
        """Return the models that a run asks, each once; [] if it asks none."""
        models = []
        if self.judge_class.needs_endpoint:
            places = self.client.endpoints
            roles = (VERIFIER, EXTRACTOR) if self.judge_class.extracts else (VERIFIER,)
            models += [places[role].model for role in roles]
        for spec in sources:
            if spec.type == KNOWLEDGE_TYPE:
                source = self.source(spec)
                models.append(str(getattr(source, "knowledge_model", "")))
        return list(dict.fromkeys(models))

    def _check_in_process(self, name: str) -> None:
        if runner_of(self.beam) not in IN_PROCESS:
            raise UsageError(
                f"--{name} is kept by the processes of this machine together; it cannot be with "
                f"--runner {runner_of(self.beam)}. Leave one of them out"
            )

    def unpriced(self, models: Sequence[str]) -> list[str]:
        """Return the models without a known price, among those that a run asks.

        Raises:
            UsageError: `--max_cost` is given, but cannot be enforced.
        """
        if not models and self.max_cost is None:
            return []
        prices = self.client.prices
        unknown = [model for model in models if model not in prices]
        if self.max_cost is None:
            return unknown
        self._check_in_process("max_cost")
        if unknown:
            raise UsageError(
                f"--max_cost needs a price for {', '.join(map(repr, unknown))}, and none is known; "
                f"give one with --prices FILE, a YAML with `{unknown[0]}: {{input: 0.15, output: "
                "0.6}`, in US dollars a million tokens"
            )
        return unknown

    def batches(self, run: str) -> BatchSettings | None:
        """Return the settings of the run's batches, None without --batch."""
        if not self.batch:
            return None
        return BatchSettings(
            store_path(self.cache_uri()),
            run,
            tuple(self.batch_endpoints),
            self.batch_requests,
            self.batch_mb * 1e6,
            1 if self.repairs is None else self.repairs,
            self.batch_wait,
        )

    def rounds(self, sources: Sequence[SourceSpec]) -> int:
        """Return the maximum number of rounds of batches of a run without repeated requests.

        There is one for the claims, one for the verdicts on each source, and one before that for a
        model's knowledge.
        """
        asks = self.judge_class.needs_endpoint
        each = [asks + (spec.type == KNOWLEDGE_TYPE) for spec in sources]
        extracting = int(asks and self.judge_class.extracts)
        return extracting + (sum(each) if self.mode == "seq" else max(each, default=0))

    def check_batch(self, models: Sequence[str]) -> None:
        """Check that a run with these models can use batches.

        Raises:
            UsageError: `--batch` is given, but the run cannot use batches.
        """
        if not self.batch:
            return
        self._check_in_process("batch")
        if self.fresh and self.batch_wait is not None:
            raise UsageError(
                "--fresh forgets the batches under way, so that --batch_wait could not go on; "
                "leave one of them out"
            )
        if not models:
            raise UsageError("--batch: no model is asked; leave it out")
        if self.cache_uri() == OFF or is_remote(self.cache_uri()):
            raise UsageError(
                "--batch keeps replies in the cache: name one on this machine with --cache"
            )

    def affecting(self) -> dict[str, Any]:
        """Return the options that results depend on, except the sources, for the fingerprint.

        A switch or a number that is not set is left out.
        """
        options = {name: getattr(self, name) for name in self.affecting_names(Affects.RESULTS)}
        return {name: value for name, value in options.items() if value} | self.judge_fingerprint()


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, kw_only=True)
class RecallSettings(Settings):
    """The options of a recall run, in which each of `formulations` verifies every answer.

    Without a model there is only `offline`, and none with `facts_only`.
    """

    input: tuple[str, ...] = of_run(
        "questions with their true answers and the answers to check: .jsonl, .jsonl.gz, "
        ".parquet, or .csv in the columns of WikiEvalFacts",
        "FILE",
    )
    if_finished: str = option(
        "if the run is finished: replace it (default) or skip",
        "WHAT",
        default="replace",
        choices=("replace", "skip"),
    )
    facts_only: bool = of_results(
        "generate facts and write DIR/facts.csv, a sheet for people to annotate; give it back as "
        "--input",
        default=False,
    )
    formulations: Any = of_results(
        "formulations to compare in one run: prompt, tf, tfn; tf and tfn also with +citation, +xml "
        "(default: prompt,tf,tf+citation,tfn,tfn+citation)",
        "A,B,C",
    )

    def checked(self) -> Self:
        """Return these options, checked, with `formulations` as the names of the ones to compare.

        Raises:
            UsageError: an option is only for `ufo evaluate`, or two options cannot be combined.
        """
        if self.sources is not None:
            raise UsageError(
                "`sources` is only for `ufo evaluate`: recall checks answers against facts"
            )
        runner = runner_of(self.beam)
        if runner not in IN_PROCESS:
            raise UsageError(
                f"`ufo recall` runs in process; --runner {runner} is only for `ufo evaluate`"
            )
        if self.facts_only:
            for name in self.values_of("formulations", "verifier", "format", "facts_per_call"):
                raise UsageError(f"--{name} is for verification; --facts_only verifies nothing")
            return replace(self, formulations=())
        if not asks_llm_judge(self.judge):
            return replace(self, formulations=(self.judge.name,))
        names: Sequence[str] = DEFAULT
        if self.formulations is not None:
            names = [part.strip() for part in self.formulations.split(",") if part.strip()]
        if not names:
            raise UsageError("--formulations names none; leave it out to compare all five")
        return replace(self, formulations=canonical(names, self.format or "json"))

    def llm(self) -> LlmSettings | None:
        """Return the settings of the LLM judge without the settings of a formulation."""
        llm_settings = Settings.llm(self)
        if llm_settings is None:
            return None
        facts = self.facts_per_call or _ALL_FACTS
        return replace(llm_settings, facts_per_call=facts)

    def affecting_names(self, what: Affects) -> list[str]:
        """Return the names of the options that enter that part of the fingerprint."""
        options = (one for group in RECALL_GROUPS.values() for one in group)
        return [one.name for one in options if what in one.affects]

    def rounds(self, sources: Sequence[SourceSpec]) -> int:
        """Return 2: one round for facts, and one for the verdicts of all formulations."""
        return 2

    def affecting(self) -> dict[str, Any]:
        """Return the options that results depend on, for the fingerprint."""
        options = {
            **Settings.affecting(self),
            "mode": "recall",
            "formulations": list(self.formulations),
            "facts_only": self.facts_only,
        }
        llm_settings = self.llm()
        if llm_settings is not None and asks_llm_judge(self.judge):
            from ufo.transforms.recall.recallers import llm_recaller  # slow to import

            recaller = llm_recaller(llm_settings, self.formulations, _no_client)
            versions = [judge.prompt_version for judge in recaller.judges.values()]
            options["prompts"] = [recaller.facts_version, *versions]
        return options


def _no_client() -> Any:
    raise AssertionError("nothing is asked for the fingerprint")


_OPTIONS: Final = {flag.name: flag for flag in options_of(RecallSettings)}
_OF_RUN: Final = (
    "input",
    "output",
    "run",
    "fresh",
    "workers",
    "chunk_size",
    "max_line_bytes",
    "if_finished",
    "facts_only",
    "json",
    "log_format",
    "config",
)
_OF_JUDGING: Final = (
    "formulations",
    "judge",
    "verifier",
    "format",
    "repairs",
    "as_published",
    "facts_per_call",
    "prompts",
)
_OF_MODELS: Final = [name for name in names_of(ModelOptions) if not name.startswith("knowledge_")]
RECALL_GROUPS: Final = {
    "run": [_OPTIONS[name] for name in _OF_RUN],
    "judge": [_OPTIONS[name] for name in _OF_JUDGING],
    "models": [_OPTIONS[name] for name in _OF_MODELS],
}
"""The options of `ufo recall` by the titles of its help."""
OF_RECALL_KEYWORDS: Final = keywords(RECALL_GROUPS)


OPENED_BY_WORKERS: Final = tuple(
    flag.name
    for flag in options_of(Settings)
    if flag.is_path
    and (flag.affects & (Affects.SOURCE | Affects.JUDGE) or flag.name in _OF_SOURCES_TOO)
)
"""Options whose files workers open."""


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
