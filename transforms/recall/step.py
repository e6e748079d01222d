"""Run the step `recall`: find the facts of a record, and a verdict for each fact, answer and
formulation."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ufo.schemas import records
from ufo.schemas.errors import ends_run
from ufo.schemas.records import (
    ABSTAINED,
    NO_PASSAGES,
    NOANS,
    REFUTED,
    SUPPORTED,
    Failure,
    RecallAnswer,
    RecallFact,
    RecallInput,
    RecallRecord,
    RecallVerdict,
)
from ufo.transforms.extraction.by_rules import only_abstains
from ufo.transforms.judges.judge import citation_found
from ufo.transforms.judges.llm.judgements import Finding
from ufo.transforms.llm.request import together
from ufo.transforms.recall.formulations import HUMAN
from ufo.transforms.recall.recallers import Made, Recaller, fact_units
from ufo.transforms.sources.fact_source import message_of
from ufo.transforms.thoughts import without_thoughts

_LABELS = {SUPPORTED: 1, REFUTED: 0, NOANS: 0}


@dataclass(slots=True)
class Recalled:
    """The rows of one record, by table."""

    record: RecallRecord
    answers: Sequence[RecallAnswer]
    facts: list[RecallFact]
    verdicts: list[RecallVerdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[records.Usage] = field(default_factory=list)


async def recall(record: RecallInput, recaller: Recaller, formulations: Sequence[str]) -> Recalled:
    """Return the record's facts, and whether each of its answers states them.

    Every answer is verified against all facts by every formulation; without formulations
    (`--facts_only`) only facts are generated. Human labels are verdicts of the formulation `human`.
    An empty answer states no fact, without a call of the model. An answer that only says that it
    does not know has no label, but is asked about if the run is as published.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    made = Made(list(record.facts))
    if not record.given:
        made = await _or_failed(recaller.generate(record), Made(), "facts", record.record_id)
    said = (record.record_id, record.question, record.ground_truth)
    counts = (len(made.facts), len(record.answers))
    units = fact_units(record.record_id, made.facts)
    rows = Recalled(
        RecallRecord(*said, *counts, record.given),
        record.answers,
        [RecallFact(said[0], unit.unit_id, at, unit.claim) for at, unit in enumerate(units)],
        failures=made.failures,
        usage=made.usage,
    )
    if formulations and not record.answers:
        message = (
            "there is no answer to check: give `answers`, an object of texts by variant, or in a "
            "table a column that ends in _answer, or any with human_evaluated_facts_ of its name"
        )
        rows.failures.append(Failure("recall", record.key, "no_answers", message))
    labels = {(label.variant, label.fact_index): label.label for label in record.labels}

    def add(finding: Finding, place: int, answer: RecallAnswer, by: str, **judge: Any) -> None:
        quote = finding.citation
        rows.verdicts.append(
            RecallVerdict(
                record_id=record.record_id,
                variant=answer.variant,
                fact_id=rows.facts[place].fact_id,
                formulation=by,
                label=label_of(finding),
                human_label=labels.get((answer.variant, place)),
                citation_found=None if quote is None else citation_found(quote, answer.text),
                **finding.columns("probability"),
                **judge,
            )
        )

    answers = {answer.variant: answer for answer in record.answers}
    for (variant, place), label in labels.items():
        finding = Finding(SUPPORTED if label else REFUTED)
        add(finding, place, answers[variant], HUMAN, judge=HUMAN)
    pairs = [(answer, name) for answer in record.answers for name in formulations if made.facts]
    coroutines = [_verified(record, answer, made.facts, name, recaller) for answer, name in pairs]
    # A judge that computes in this process never suspends, and is run without an event loop.
    found = await together(coroutines) if recaller.remote else [await one for one in coroutines]
    for (answer, name), verified in zip(pairs, found, strict=True):
        rows.failures += verified.failures
        rows.usage += verified.usage
        by = {"judge": recaller.name, "model": recaller.model}
        by["prompt_version"] = recaller.prompt_version(name)
        for place, finding in enumerate(verified.findings):
            add(finding, place, answer, name, **by)
    return rows


async def _verified(
    record: RecallInput,
    answer: RecallAnswer,
    facts: Sequence[str],
    formulation: str,
    recaller: Recaller,
) -> Made:
    answer = replace(answer, text=without_thoughts(answer.text))
    if not answer.text.strip():
        return Made(findings=[Finding(NOANS, NO_PASSAGES) for _ in facts])
    if not recaller.as_published and only_abstains(answer.text):
        return Made(findings=[Finding(NOANS, ABSTAINED) for _ in facts])
    lost = Finding(records.ERROR, records.TRANSPORT, first_reason=records.TRANSPORT)
    instead = Made(findings=[lost for _ in facts])
    key = f"{record.record_id}/{answer.variant}/{formulation}"
    verified = recaller.verify(record, answer, facts, formulation)
    return await _or_failed(verified, instead, "verify", key)


async def _or_failed(made: Awaitable[Made], instead: Made, step: str, key: str) -> Made:
    """Return the awaited result; after an error return `instead` with the failure."""
    try:
        return await made
    except Exception as error:
        if ends_run(error):
            raise
        instead.failures.append(Failure(step, key, type(error).__name__, message_of(error)))
        return instead


def label_of(finding: Finding) -> int | None:
    """Return 1 if the answer states the fact, 0 if it does not or is not clear (as in FaaF), None
    without a judgement."""
    silent = finding.outcome == NOANS and finding.reason not in (None, NO_PASSAGES)
    return None if silent else _LABELS.get(finding.outcome)
