"""`ufo evaluate --dry_run`: calls, tokens and cost of a run beforehand; nothing is sent.

The steps of the run are gone through for the responses of the input, or a sample of them, with
stand-ins for the models (`pipelines.estimates.judge`): claims and verdicts are the offline
judge's, local sources are asked for real, and the requests are those that the run would make.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.estimates.judge import EstimatingJudge
from pipelines.estimates.sampling import sampled, spread_of
from pipelines.estimates.standins import CountingClient, FarJudge, FarSource, Key, Overlay, Tally
from pipelines.options.settings import Settings
from pipelines.runs.inputs import find_inputs, measure, shown_names
from pipelines.runs.sources import choose
from pipelines.services.endpoints import models_asked, roles_asked
from schemas.errors import UsageError
from schemas.records import InputRecord
from transforms.check_text import check_text
from transforms.judges import JUDGES, asks_llm_judge, make_judge
from transforms.judges.base import Judge
from transforms.judges.llm.judgement_cache import JudgementCache
from transforms.llm.base import Choice, Client, Request
from transforms.llm.cache import CachingClient
from transforms.llm.capabilities import Capabilities
from transforms.llm.client import ClientSettings
from transforms.llm.memory import Memory
from transforms.llm.prices import Price
from transforms.llm.probes import PROBES
from transforms.llm.store import OFF, StoreError
from transforms.llm.stores import open_store
from transforms.loop import wait_for
from transforms.sources.base import FactSource
from transforms.sources.llm import LlmSource
from transforms.sources.registry import SourceSpec, make_source

SAMPLE = 400
METHOD = (
    "claims and verdicts by the offline judge, local sources asked, others taken to answer "
    "everything with passages of the usual length, cached answers left out, tokens counted "
    "without the model's vocabulary"
)
_LOW, _HIGH = 0.7, 1.5
"""What a model that finds other claims, or says it in other words, may make of it: judged, not
measured. Where the model says what the offline judge does, the tests hold it to 25 %."""
_ERRORS = 2.0  # standard errors of a sample, which are about 95 %


@dataclass(frozen=True, slots=True)
class Line:
    """What one step asks of one model for one source. `cost_usd` None: there is no price."""

    step: str
    source: str | None
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will ask. Of `responses`, `sampled` were gone through; the true numbers are
    expected between `low` and `high` times these. `asked` and `far` are the sources that were
    looked things up in, and those that were not."""

    lines: tuple[Line, ...]
    responses: int
    sampled: int
    low: float
    high: float
    asked: tuple[str, ...]
    far: tuple[str, ...]
    method: str = METHOD

    @property
    def total(self) -> Line:
        """The sum of the lines; without a price of each model there is no cost."""
        # What a search costs is between the user and their engine; pages cost nothing.
        costs = [line.cost_usd for line in self.lines if line.model]
        return Line(
            "total",
            None,
            "",
            sum(line.calls for line in self.lines),
            sum(line.prompt_tokens for line in self.lines),
            sum(line.completion_tokens for line in self.lines),
            None if None in costs else math.fsum(cost for cost in costs if cost is not None),
        )


def estimate(settings: Settings, sample: int = SAMPLE) -> Estimate:
    """Return what the run of these settings will ask.

    Raises:
        UsageError: what would end the run before its first response.
    """
    paths = find_inputs(settings.input)
    chosen = choose(settings)
    files = [measure(path, name) for path, name in zip(paths, shown_names(paths), strict=True)]
    records, total = sampled(files, settings.max_line_bytes, sample)
    if not total:
        raise UsageError(f"--input {', '.join(paths)}: there is no response to evaluate")
    tally = Tally()
    asked: list[str] = []
    far: list[str] = []
    spread = 0.0
    asks = models_asked(settings, chosen.specs) or settings.judge_class.remote
    if asks or _searches(settings, chosen.specs):
        memory = memory_of(settings.client())
        counting = CountingClient(tally, settings.context)
        client = CachingClient(counting, settings.client(), memory)
        sources, far = _sources(chosen.specs, settings, client, tally)
        asked = [source.name for source in sources if source.name not in far]
        judge = _judge(settings, client, counting, memory, tally, far)
        spread = wait_for(_go_through(records, sources, judge, settings, tally))
    scale = total / len(records)
    for counted in (tally.calls, tally.prompt, tally.completion):
        for key in counted:
            counted[key] *= scale
    probes = Tally()
    wait_for(count_probes(settings, chosen.specs, probes))
    prices = settings.client().prices
    rows = [*lines_of(probes, prices), *lines_of(tally, prices)]
    error = _ERRORS * spread if total > len(records) else 0.0
    low, high = max(0.0, _LOW - error), _HIGH + error
    return Estimate(tuple(rows), total, len(records), low, high, tuple(asked), tuple(far))


def _sources(
    specs: Sequence[SourceSpec], settings: Settings, client: Client, tally: Tally
) -> tuple[list[FactSource], list[str]]:
    """Return the sources, or what stands in for them; and the names of those that are not asked."""
    found: list[FactSource] = []
    far = []
    for spec in specs:
        source = make_source(spec, settings.source_flags())
        if isinstance(source, LlmSource):
            counted = SourceSpec(spec.name, spec.type, {**spec.options, "client": lambda: client})
            source = make_source(counted, settings.source_flags())
            far.append(spec.name)
        elif source.remote:
            source = FarSource(source, tally)
            far.append(spec.name)
        found.append(source)
    return found, far


def _searches(settings: Settings, specs: Sequence[SourceSpec]) -> bool:
    sources = (make_source(spec, settings.source_flags()) for spec in specs)
    return any(hasattr(source, "queries_a_request") for source in sources)


def memory_of(settings: ClientSettings) -> Memory:
    """Return what a run finds in its cache; what is added is forgotten."""
    uri = settings.cache or OFF
    if uri == OFF:
        return Memory(None)
    try:
        # A cache that is not there yet is not made for an estimate.
        below = open_store(uri) if "://" in uri or Path(uri).exists() else None
    except StoreError:
        below = None
    return Memory(Overlay(below))


async def _go_through(
    records: Sequence[InputRecord],
    sources: Sequence[FactSource],
    judge: Judge,
    settings: Settings,
    tally: Tally,
) -> float:
    """Go through the records; returns the relative standard error of the sum of their tokens."""
    judge.open()
    for source in sources:
        source.open()
    tokens = []
    try:
        for record in records:
            before = tally.tokens
            await check_text(record, sources, judge, settings.mode, settings.tie, settings.units)
            tokens.append(tally.tokens - before)
    finally:
        for source in sources:
            source.close()
        judge.close()
    return spread_of(tokens)


def _judge(
    settings: Settings,
    client: Client,
    counting: CountingClient,
    memory: Memory,
    tally: Tally,
    far: Sequence[str],
) -> Judge:
    """Return the judge, or what stands in for it where it would ask a model or another service."""
    spec = settings.judge_spec()
    taken = JUDGES.parameters(spec)
    if spec.llm is not None and asks_llm_judge(spec):
        known = JudgementCache(spec.llm, settings.client(), memory)
        instead = EstimatingJudge(spec.llm, client, counting, known, tally, far)
        return make_judge(spec, client, instead) if "llm_judge" in taken else instead
    if spec.llm is not None and "client" in taken:
        return make_judge(spec, client)
    judge = make_judge(spec)
    return FarJudge(tally, spec.llm.model if spec.llm else "") if judge.remote else judge


async def count_probes(settings: Settings, specs: Sequence[SourceSpec], tally: Tally) -> None:
    """Count what a run asks to learn what its endpoints can do."""
    places = settings.client().endpoints
    for endpoint, shape in dict.fromkeys(
        (places[role], shape) for role, shape in roles_asked(settings, specs)
    ):
        counting = CountingClient(tally)

        async def ask(
            request: Request,
            known: Capabilities,
            n: int,
            model: str = endpoint.model,
            counting: CountingClient = counting,
        ) -> tuple[Sequence[Choice], Capabilities]:
            await counting.complete(replace(request, model=model, n=n))
            tally.completion[request.step, None, model] += n * min(request.max_tokens or 0, 16)
            return [Choice("1", '{"word": ""}', logprob_mean=0.0)] * n, known

        await PROBES[shape](ask, Capabilities())


def lines_of(tally: Tally, prices: Mapping[str, Price]) -> list[Line]:
    """Return a line for each step, source and model, with its cost."""

    def line(key: Key) -> Line:
        step, source, model = key
        counts = (tally.calls, tally.prompt, tally.completion)
        calls, prompt, completion = (round(count.get(key, 0.0)) for count in counts)
        cost = prices[model].of(prompt, completion) if model in prices else None
        if step == "page":
            cost = 0.0
        return Line(step, source, model, calls, prompt, completion, cost)

    return [line(key) for key in tally.calls]
