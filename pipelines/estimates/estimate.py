"""Estimate calls, tokens and cost of an evaluation; nothing is sent (`ufo evaluate --dry_run`)."""

from collections.abc import Sequence
from functools import partial

from ufo.pipelines.estimates.assumed import CountedJudge, CountedPassages, FarSource
from ufo.pipelines.estimates.bounds import Estimate, estimated
from ufo.pipelines.estimates.counting import Counter
from ufo.pipelines.estimates.sampling import SAMPLE, sampled
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.runs.sources import choose
from ufo.schemas.records import InputRecord
from ufo.transforms.check_text import check_text
from ufo.transforms.columns import is_used
from ufo.transforms.judges import JUDGES, asks_llm_judge, make_judge
from ufo.transforms.judges.base import Judge
from ufo.transforms.judges.llm.judge import LlmJudge
from ufo.transforms.read import parse
from ufo.transforms.sources.base import FactSource
from ufo.transforms.sources.llm import LlmSource
from ufo.transforms.sources.registry import SourceSpec


def estimate(settings: Settings, sample: int = SAMPLE) -> Estimate:
    """Return the estimate for a run with these settings.

    Raises:
        UsageError: what would end the run before its first response.
    """
    specs = choose(settings).specs
    read, used = partial(parse, columns=settings.map), partial(is_used, settings.map)
    records, total = sampled(settings, read, lambda record: record.response_id, sample, used)
    made = [settings.source(spec) for spec in specs]
    far = [source.name for source in made if source.remote]
    near = [source.name for source in made if not source.remote]
    if not (far or settings.models_asked(specs) or settings.judge_class.remote):
        return Estimate([], total, len(records), near)
    return estimated(settings, total, partial(_count, records, specs, settings), near, far)


async def _count(
    records: Sequence[InputRecord],
    specs: Sequence[SourceSpec],
    settings: Settings,
    counter: Counter,
) -> None:
    """Run the steps for these records, and count the requests that they would send."""
    sources = [_source(spec, settings, counter) for spec in specs]
    judge = _judge(settings, counter)
    judge.open()
    for source in sources:
        source.open()
    try:
        for record in records:
            await check_text(record, sources, judge, settings.mode, settings.tie, settings.units)
            counter.end_record()
    finally:
        for source in sources:
            source.close()
        judge.close()


def _source(spec: SourceSpec, settings: Settings, counter: Counter) -> FactSource:
    source = settings.source(spec)
    if isinstance(source, LlmSource):
        source = settings.source(spec, lambda: counter.client)
    return FarSource(source, counter) if source.remote else source


def _judge(settings: Settings, counter: Counter) -> Judge:
    spec = settings.judge_spec()
    if spec.llm is not None and asks_llm_judge(spec):
        instead = CountedJudge(spec.llm, counter)
        is_it = issubclass(JUDGES.kind(spec), LlmJudge)
        return instead if is_it else make_judge(spec, counter.client, instead)
    if spec.llm is not None and JUDGES.takes_context(spec):
        return CountedPassages(counter, spec.llm.model, make_judge(spec, counter.client))
    judge = make_judge(spec)
    if not judge.remote:
        return judge
    return CountedPassages(counter, spec.llm.model if spec.llm is not None else "", None)
