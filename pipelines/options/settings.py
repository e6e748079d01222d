"""The options of a run, checked, and what follows from them: the judge, the models, the sources."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pipelines.options.beam_flags import on_dataflow
from pipelines.options.flags import JUDGING, LIMITS, MODELS, WEB
from schemas.errors import UsageError
from transforms.judges import JUDGES, JudgeSpec, make_judge
from transforms.judges.base import Judge
from transforms.registry import Spec

if TYPE_CHECKING:
    from transforms.judges.llm.settings import LlmSettings
    from transforms.llm.calls import CallSettings
    from transforms.llm.client import ClientSettings

OFFLINE: Final = "offline"
"""The judge where no endpoint is configured."""
LLM: Final = "llm"
"""The judge where one is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run, checked. `sources` None means those of the defaults that can serve.

    `source_definitions` are the named sources of the configuration file. What is None was not
    given, and whoever takes it has the default. `beam` are the flags that are Beam's.
    """

    input: tuple[str, ...]
    output: str
    run: str | None = None
    if_finished: str = "replace"
    since: str | None = None
    fresh: bool = False
    streaming: bool = False
    window_seconds: float | None = None
    idle_seconds: float | None = None
    workers: int | None = None
    chunk_size: int | None = None
    fail_under: float | None = None
    baseline: str | None = None
    fail_if_worse: float | None = None
    max_line_bytes: int = 4 * 1024 * 1024
    json: bool = False
    log_format: str = "text"
    sources: tuple[Any, ...] | None = None
    source_definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mode: str = "seq"
    tie: str = "not_factual"
    units: str = "claim"
    index: str | None = None
    retriever: str | None = None
    embedder: str | None = None
    passages: int | None = None
    samples: int | None = None
    temperature: float | None = None
    sampling: str | None = None
    search: str | None = None
    locale: str | None = None
    pages: int | None = None
    passages_per_page: int | None = None
    context_sentences: int | None = None
    web_retriever: str | None = None
    include_categories: str | None = None
    exclude_categories: str | None = None
    include_domains: str | None = None
    exclude_domains: str | None = None
    categories: str | None = None
    web_snapshot: str | None = None
    allow_private_hosts: bool | None = None
    judge: Spec = Spec(OFFLINE, OFFLINE)  # noqa: RUF009 - a Spec is frozen
    verifier: str | None = None
    confidence: float | None = None
    formulation: str | None = None
    options: str | None = None
    explain: str | None = None
    citation: bool | None = None
    format: str | None = None
    repairs: int | None = None
    passages_per_call: int | None = None
    facts_per_call: int | None = None
    extract_tokens: int | None = None
    prompts: str | None = None
    model: str | None = None
    base_url: str | None = None
    extractor_model: str | None = None
    extractor_base_url: str | None = None
    knowledge_model: str | None = None
    knowledge_base_url: str | None = None
    context: int | None = None
    concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    extractor_concurrency: int | None = None
    extractor_requests_per_minute: int | None = None
    extractor_tokens_per_minute: int | None = None
    knowledge_concurrency: int | None = None
    knowledge_requests_per_minute: int | None = None
    knowledge_tokens_per_minute: int | None = None
    timeout: float | None = None
    retry_seconds: float | None = None
    cache: str | None = None
    repeat: int = 0
    no_share: bool = False
    max_cost: float | None = None
    prices: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False
    beam: tuple[str, ...] = ()

    def processes(self, models: Sequence[str] = ()) -> int:
        """Return how many processes evaluate a run that asks these models: one keeps an endpoint
        busy, and else each processor has its own."""
        return self.workers or (1 if models else cores())

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of these options that have a value."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def source_flags(
        self, client: "ClientSettings | None" = None, run: str | None = None
    ) -> dict[str, Any]:
        """Return the flags that a fact source's parameter of that name takes its value from.

        `client` is how the models are reached where that is known already; `run` is an id of the
        run, None outside of one.
        """
        flags = self.given(
            *(
                "index",
                "retriever",
                "embedder",
                "passages",
                "samples",
                "temperature",
                "sampling",
            ),
            *(flag.name for flag in WEB),
            *("prompts", "model", "base_url", "knowledge_model", "knowledge_base_url"),
            "concurrency",
        )
        flags["call_settings"] = self.calls(client, run)
        if client is not None:
            flags["client_settings"] = client
            flags["judge_settings"] = client if self.judge_class.needs_endpoint else None
        return flags

    def calls(
        self, client: "ClientSettings | None" = None, run: str | None = None
    ) -> "CallSettings":
        """Return how places that are no models are asked."""
        from transforms.llm.calls import CallSettings
        from transforms.llm.retry import Retry

        seconds = self.given("retry_seconds")
        return CallSettings(
            self.concurrency,
            Retry(seconds=seconds["retry_seconds"]) if seconds else Retry(),
            client.cache if client is not None else self.cache_uri(),
            client.cache_writes if client is not None else True,
            run=run,
        )

    def cache_uri(self) -> str:
        """Return where answers are kept."""
        from transforms.llm.store import VARIABLE, default_uri

        # A worker's own disk ends with it, and a bundle that is tried again would be paid again.
        if not self.cache and on_dataflow(self.beam) and not os.environ.get(VARIABLE):
            return f"{self.output.rstrip('/')}/cache/"
        return self.cache or default_uri()

    def llm(self) -> "LlmSettings | None":
        """Return what the model that judges is told, or None where none does."""
        if not self.judge_class.needs_endpoint:
            return None
        from transforms.judges.llm.settings import LlmSettings
        from transforms.llm.base import EXTRACTOR, VERIFIER

        endpoints = self.client().endpoints
        asked = self.given(
            *("formulation", "options", "explain", "citation", "format", "repairs"),
            *("passages_per_call", "facts_per_call", "extract_tokens"),
        )
        return LlmSettings(
            model=endpoints[VERIFIER].model,
            extractor_model=endpoints[EXTRACTOR].model,
            prompts_dir=self.prompts,
            **asked,
        )

    @property
    def judge_class(self) -> type[Judge]:
        """The class of the judge, which says what it can do."""
        return JUDGES.kind(self.judge)

    def judge_spec(self, client: "ClientSettings | None" = None) -> JudgeSpec:
        """Return the judge as it travels to the workers; `client` where it is known already."""
        told = self.llm()
        asked = (client or self.client()) if told else None
        flags = self.given(*(flag.name for flag in (*JUDGING, *MODELS) if flag.name != "judge"))
        flags["verifier"] = self.verifier_used()
        taken = flags.keys() & JUDGES.parameters(self.judge).keys()
        options = {**{name: flags[name] for name in sorted(taken)}, **self.judge.options}
        judge = self.judge
        spec = JudgeSpec(judge.name, judge.type, options, judge.instance, llm=told, client=asked)
        return JUDGES.located(spec)

    def made_judge(self) -> Judge:
        """Return the judge, as this process would make it.

        Raises:
            UsageError: it cannot be made, or can judge nothing here.
        """
        judge = make_judge(self.judge_spec())
        reason = judge.unavailable()
        if reason:
            raise UsageError(f"the judge {self.judge.name!r} cannot judge: {reason}")
        return judge

    def verifier_used(self) -> str | None:
        """Return the name of the verifier that judges, None where none does."""
        if "verifier" not in JUDGES.parameters(self.judge):
            return None
        from transforms.verifiers.registry import default_verifier

        return self.verifier or default_verifier()[0]

    def judge_print(self) -> dict[str, Any]:
        """Return what a fingerprint says of the judge."""
        from transforms.verifiers.registry import described

        found: dict[str, Any] = {"judge": JUDGES.described(self.judge, self.made_judge())}
        verifier, told = self.verifier_used(), self.llm()
        if verifier:
            found["verifier"] = described(verifier)
        if told is not None:
            found["llm"] = asdict(told)
        return found

    def client(self) -> "ClientSettings":
        """Return how the models are reached."""
        from transforms.llm.base import EXTRACTOR, KNOWLEDGE
        from transforms.llm.client import ClientSettings
        from transforms.llm.endpoint import endpoints
        from transforms.llm.limits import Limits
        from transforms.llm.prices import load_prices
        from transforms.llm.retry import Retry

        places = self.given(
            *("model", "base_url", "extractor_model", "extractor_base_url"),
            *("knowledge_model", "knowledge_base_url", "timeout"),
        )
        own = {
            role: Limits(*(getattr(self, f"{role}_{limit}") for limit in LIMITS))
            for role in (EXTRACTOR, KNOWLEDGE)
        }
        seconds = self.given("retry_seconds")
        return ClientSettings(
            endpoints(**places),
            self.concurrency,
            Retry(seconds=seconds["retry_seconds"]) if seconds else Retry(),
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            limits={role: limits for role, limits in own.items() if limits != Limits()},
            context=self.context,
            prices=load_prices(self.prices),
            cache=self.cache_uri(),
            repeat=self.repeat,
            share=not self.no_share,
            max_cost=self.max_cost,
        )

    def affecting(self) -> dict[str, Any]:
        """Return the options that results depend on, beside the sources; for the fingerprint."""
        names = ("mode", "tie", "units", "max_line_bytes")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.repeat:
            found["repeat"] = self.repeat
        if self.no_share:
            found["share"] = False
        return found | self.judge_print()


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
