"""Step `recall`: the facts of a record, and a verdict for each fact, answer and formulation."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from ufo.schemas.errors import ends_run
from ufo.schemas.recall import (
    RecallAnswer,
    RecallFact,
    RecallInput,
    RecallRecord,
    RecallVerdict,
)
from ufo.schemas.records import (
    ERROR,
    NO_PASSAGES,
    NOANS,
    REFUTED,
    SUPPORTED,
    TRANSPORT,
    Failure,
    Usage,
)
from ufo.transforms.judges.llm.asking import together
from ufo.transforms.judges.llm.formulation import Finding
from ufo.transforms.judges.rows import citation_found
from ufo.transforms.recall.base import Generated, Recaller, Verified, fact_units
from ufo.transforms.recall.formulations import HUMAN
from ufo.transforms.sources.base import message_of

_LABELS = {SUPPORTED: 1, REFUTED: 0, NOANS: 0}


@dataclass(slots=True)
class Recalled:
    """The rows of one record, by table."""

    record: RecallRecord
    answers: Sequence[RecallAnswer]
    facts: list[RecallFact]
    verdicts: list[RecallVerdict] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    usage: list[Usage] = field(default_factory=list)


async def recall(record: RecallInput, recaller: Recaller, formulations: Sequence[str]) -> Recalled:
    """Return the record's facts, and whether each of its answers states them.

    Every answer is verified against all facts by every formulation; without formulations
    (`--facts_only`) only facts are generated. Human labels are verdicts of the formulation `human`.
    An empty answer states no fact, without a call of the model.

    Raises only errors that end the run (`ufo.schemas.errors.ends_run`).
    """
    made = Generated(list(record.facts)) if record.given else await _generated(record, recaller)
    units = fact_units(record.record_id, made.facts)
    rows = Recalled(
        RecallRecord(
            record.record_id,
            record.question,
            record.ground_truth,
            len(units),
            len(record.answers),
            record.given,
        ),
        record.answers,
        [
            RecallFact(record.record_id, unit.unit_id, place, unit.claim)
            for place, unit in enumerate(units)
        ],
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
    for (variant, place), label in labels.items():
        finding = Finding(SUPPORTED if label else REFUTED)
        fact = rows.facts[place]
        rows.verdicts.append(_verdict(fact, variant, HUMAN, finding, "", label, HUMAN, None, None))
    if not units:
        return rows
    pairs = [(answer, name) for answer in record.answers for name in formulations]
    found = await _all(
        recaller, [_verified(record, answer, made.facts, name, recaller) for answer, name in pairs]
    )
    for (answer, name), verified in zip(pairs, found, strict=True):
        rows.failures += verified.failures
        rows.usage += verified.usage
        version = recaller.prompt_version(name)
        for fact, finding in zip(rows.facts, verified.findings, strict=True):
            human = labels.get((answer.variant, fact.fact_index))
            by = (recaller.name, recaller.model, version)
            rows.verdicts.append(
                _verdict(fact, answer.variant, name, finding, answer.text, human, *by)
            )
    return rows


async def _all(
    recaller: Recaller, coroutines: Sequence[Coroutine[Any, Any, Verified]]
) -> list[Verified]:
    if recaller.remote:
        return await together(coroutines)
    return [await coroutine for coroutine in coroutines]


async def _generated(record: RecallInput, recaller: Recaller) -> Generated:
    try:
        return await recaller.generate(record)
    except Exception as error:
        if ends_run(error):
            raise
        return Generated(failures=[_failure("facts", record.record_id, error)])


async def _verified(
    record: RecallInput,
    answer: RecallAnswer,
    facts: Sequence[str],
    formulation: str,
    recaller: Recaller,
) -> Verified:
    if not answer.text.strip():
        return Verified([Finding(NOANS, NO_PASSAGES) for _ in facts])
    try:
        return await recaller.verify(record, answer, facts, formulation)
    except Exception as error:
        if ends_run(error):
            raise
        key = f"{record.record_id}/{answer.variant}/{formulation}"
        lost = Finding(ERROR, TRANSPORT, first_reason=TRANSPORT)
        return Verified([lost for _ in facts], failures=[_failure("verify", key, error)])


def _failure(step: str, key: str, error: Exception) -> Failure:
    return Failure(step, key, type(error).__name__, message_of(error))


def label_of(finding: Finding) -> int | None:
    """Return 1 where the answer states the fact, 0 where it does not or is not clear (the mapping
    of FaaF), None where there is no judgement."""
    silent = finding.outcome == NOANS and finding.reason not in (None, NO_PASSAGES)
    return None if silent else _LABELS.get(finding.outcome)


def _verdict(
    fact: RecallFact,
    variant: str,
    formulation: str,
    finding: Finding,
    text: str,
    human_label: int | None,
    judge: str,
    model: str | None,
    prompt_version: str | None,
) -> RecallVerdict:
    citation = finding.citation
    return RecallVerdict(
        fact.record_id,
        variant,
        fact.fact_id,
        formulation,
        finding.outcome,
        finding.reason,
        finding.first_reason,
        label_of(finding),
        human_label,
        finding.raw_verdict,
        finding.answer,
        finding.rationale,
        citation,
        None if citation is None else citation_found(citation, text),
        judge,
        model,
        prompt_version,
        finding.request_id,
    )
