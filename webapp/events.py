"""Make the events of `/check`, with sums of scores, requests and cost."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ufo.schemas.records import Evidence, FactUnit, Passage, Response, Usage
from ufo.transforms.check_text import Answered, Asked, Step
from ufo.transforms.english.language import is_english
from ufo.transforms.extract import Extracted
from ufo.transforms.extraction.markdown import layout
from ufo.transforms.job import Job
from ufo.transforms.judges.offline import NAME
from ufo.transforms.scores import Credibility, Scores, score
from ufo.transforms.verifiers.by_name import shown
from ufo.webapp.answers import Basis
from ufo.webapp.basis import basis


class Events:
    """The events of one check, and the sums that the last of them report."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._units: list[FactUnit] = []
        self._evidence: dict[str, list[Evidence]] = {}
        self._passages: dict[str, Passage] = {}
        self._usage: list[Usage] = []
        self._n_sentences = 0
        self._n_failures = 0
        self._response_id = ""
        self._extraction_failed = False

    def started(self) -> dict[str, Any]:
        """Return the sources and models that will be asked."""
        settings = self._job.judge.llm
        return {
            "judge": self._job.judge.name,
            "model": settings.model if settings else None,
            "sources": [spec.name for spec in self._job.sources],
            "mode": self._job.mode,
            "tie": self._job.tie,
            "units": self._job.units,
        }

    def step(self, step: Step) -> tuple[str, dict[str, Any]]:
        """Return the name and the data of a step's event."""
        if isinstance(step, Extracted):
            return "extracted", self._extracted(step)
        if isinstance(step, Asked):
            return "asking", asdict(step)
        return "checked", self._answered(step)

    def _extracted(self, step: Extracted) -> dict[str, Any]:
        self._units = list(step.open_units.units)
        self._n_sentences = len(step.sentences)
        self._response_id = step.response.response_id
        self._usage += step.usage
        self._n_failures += len(step.failures)
        self._extraction_failed = bool(step.failures)
        return {
            "basis": self._basis(step.response).model_dump(),
            "response": asdict(step.response),
            "sentences": list(map(asdict, step.sentences)),
            "layout": list(map(asdict, layout(step.response.text))),
            "fact_units": list(map(asdict, self._units)),
            "failures": list(map(asdict, step.failures)),
            "usage": list(map(asdict, step.usage)),
        }

    def _basis(self, response: Response) -> Basis:
        llm = self._job.judge.llm
        asked = [
            (one.name, one.type, {**self._job.flags, **one.options}) for one in self._job.sources
        ]
        models, known = [llm.model] if llm else [], True
        if self._job.judge.name == NAME:
            models = [shown(self._job.judge.options.get("verifier"))]
            known = is_english(response.text, response.language)
        # A source without a text to look in gives nothing to judge.
        judged = [kind for _, kind, _ in asked if kind != "reference" or response.n_references]
        return basis(
            self._job.judge.name, models, judged if self._units and known else [], asked, response
        )

    def _answered(self, step: Answered) -> dict[str, Any]:
        checked = step.checked
        fresh = []
        if checked is not None:
            # A passage that several claims share is sent once.
            fresh = [one for one in checked.passages if one.passage_id not in self._passages]
            self._passages |= {one.passage_id: one for one in fresh}
            for row in checked.evidence:
                self._evidence.setdefault(row.unit_id, []).append(row)
            self._usage += checked.usage
            self._n_failures += len(checked.failures)
        return {
            "source": step.source or None,
            "position": step.position,
            "evidence": list(map(asdict, checked.evidence)) if checked else [],
            "passages": list(map(asdict, fresh)),
            "verdicts": list(map(asdict, step.verdicts)),
            "sentence_scores": list(map(asdict, self._touched(step))),
            "failures": list(map(asdict, checked.failures)) if checked else [],
            "usage": list(map(asdict, checked.usage)) if checked else [],
        }

    def _touched(self, step: Answered) -> list[Credibility]:
        """Return the current scores of the sentences whose claims the step is about."""
        ids = {row.unit_id for row in step.verdicts}
        ids |= {row.unit_id for row in step.checked.evidence} if step.checked else set()
        places = {unit.sentence_index for unit in self._units if unit.unit_id in ids}
        units = [unit for unit in self._units if unit.sentence_index in places]
        return [one for one in self._scores(units).sentences if one.sentence_index in places]

    def scores(self) -> Scores:
        """Return the scores of all steps so far."""
        return self._scores(self._units)

    def _scores(self, units: Sequence[FactUnit]) -> Scores:
        return score(
            units,
            [row for unit in units for row in self._evidence.get(unit.unit_id, ())],
            self._passages,
            [spec.name for spec in self._job.sources],
            self._n_sentences,
            self._job.mode,
            self._job.tie,
            response_id=self._response_id,
            extraction_failed=self._extraction_failed,
        )

    def done(self, seconds: float) -> dict[str, Any]:
        """Return the requests sent, their tokens, and their cost in US dollars if known."""
        sent = [row for row in self._usage if not (row.cached or row.coalesced)]
        costs = [row.cost_usd for row in sent if row.status == "ok"]
        return {
            "seconds": seconds,
            "n_units": len(self._units),
            "n_failures": self._n_failures,
            "n_requests": len(sent),
            "prompt_tokens": sum(row.prompt_tokens or 0 for row in sent),
            "completion_tokens": sum(row.completion_tokens or 0 for row in sent),
            "cost_usd": sum(cost for cost in costs if cost is not None)
            if all(cost is not None for cost in costs)
            else None,
        }
