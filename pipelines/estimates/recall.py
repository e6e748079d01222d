"""Estimate calls, tokens and cost of a recall run; nothing is sent (`ufo recall --dry_run`)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pipelines.estimates.bounds import Estimate, estimated
from pipelines.estimates.counting import Counter
from pipelines.estimates.sampling import SAMPLE, sampled
from pipelines.options.recall import RecallSettings
from schemas.recall import RecallInput
from transforms.judges import asks_llm_judge
from transforms.judges.llm.settings import LlmSettings
from transforms.judges.offline.judge import OfflineJudge
from transforms.recall.llm import LlmRecaller
from transforms.recall.offline import JudgeRecaller
from transforms.recall.read import parse_recall
from transforms.recall.step import recall


def estimate_recall(settings: RecallSettings, sample: int = SAMPLE) -> Estimate:
    """Return the estimate for a run with these settings.

    Raises:
        UsageError: what would end the run before its first record.
    """
    records, total = sampled(settings, parse_recall, lambda record: record.record_id, sample)
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
