"""Estimate calls, tokens and cost of a recall run; nothing is sent (`ufo recall --dry_run`)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ufo.pipelines.estimates.bounds import Estimate, estimated
from ufo.pipelines.estimates.counting import Counter
from ufo.pipelines.estimates.sampling import SAMPLE, sampled
from ufo.pipelines.options.recall import RecallSettings
from ufo.schemas.recall import RecallInput
from ufo.transforms.judges import asks_llm_judge
from ufo.transforms.judges.llm.settings import LlmSettings
from ufo.transforms.judges.offline.judge import OfflineJudge
from ufo.transforms.recall.read import is_used, parse_recall
from ufo.transforms.recall.recallers import JudgeRecaller, LlmRecaller
from ufo.transforms.recall.step import recall


def estimate_recall(settings: RecallSettings, sample: int = SAMPLE) -> Estimate:
    """Return the estimate for a run with these settings.

    Raises:
        UsageError: what would end the run before its first record.
    """
    records, total = sampled(
        settings, parse_recall, lambda record: record.record_id, sample, is_used
    )
    llm_settings = settings.llm()
    if llm_settings is None or not asks_llm_judge(settings.judge):
        return Estimate([], total, len(records))
    return estimated(settings, total, partial(_count, records, settings.formulations, llm_settings))


async def _count(
    records: Sequence[RecallInput],
    formulations: Sequence[str],
    llm_settings: LlmSettings,
    counter: Counter,
) -> None:
    """Run the steps for these records, and count the requests that they would send."""
    recaller = LlmRecaller(replace(llm_settings, repairs=0), formulations, lambda: counter.client)
    rules = JudgeRecaller(OfflineJudge())
    for record in records:
        facts = record.facts
        if not record.given:
            made = await recaller.generate(record)
            facts = (await rules.generate(record) if made.failures else made).facts
        await recall(replace(record, given=True, facts=facts, labels=[]), recaller, formulations)
        counter.end_record()
