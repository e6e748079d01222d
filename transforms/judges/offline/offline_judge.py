"""The offline judge: deterministic, without an endpoint, with a rationale for every verdict."""

from collections.abc import Sequence
from dataclasses import replace

from ufo.schemas.errors import ends_run
from ufo.schemas.records import (
    ERROR,
    NOANS,
    UNSUPPORTED_LANGUAGE,
    Evidence,
    FactUnit,
    OpenUnits,
)
from ufo.transforms.english.words import is_english
from ufo.transforms.judges.judge import Judge, Judged, Judgement, evidence_row
from ufo.transforms.sources.fact_source import Found, Retrieved, message_of
from ufo.transforms.verifiers.by_name import opened, shown
from ufo.transforms.verifiers.overlap import explain, ruled
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

_FOREIGN = "the text is in a language that the offline judge does not know"


class OfflineJudge(Judge):
    """Judges on this machine, by rules and a small model: a first look that costs nothing.

    `verifier` is a name in `ufo.transforms.verifiers.by_name`; None is the default. It is loaded
    at the first verification, once in each process.

    The judge supports English only. A response in another language gets one fact unit for each
    sentence, and evidence with outcome `noans` and reason `unsupported_language`.
    """

    name = "offline"
    extracts = True

    def __init__(self, verifier: str | None = None) -> None:
        self._name = verifier
        self._verifier: Verifier | None = None

    def open(self) -> None:
        """Set the column `model`; the verifier is loaded at the first verification."""
        self.model = shown(self._name)

    def close(self) -> None:
        """Release the verifier, which stays loaded in the process for the next judge."""
        self._verifier = None

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows of each unit, in order."""
        known = is_english(open_units.text, open_units.language)
        chances = self._chances(open_units, found) if known else {}
        rows: list[Evidence] = []
        for unit, answer in zip(open_units.units, found, strict=True):
            if not answer.passages:
                nothing = self.without_passages(unit, source, answer)
                if not known and nothing.outcome == NOANS:
                    nothing = replace(nothing, reason=UNSUPPORTED_LANGUAGE, rationale=_FOREIGN)
                rows.append(nothing)
            for rank, hit in enumerate(answer.passages, 1):
                pair = _pair(unit, hit)
                try:
                    result = chances.get(pair)
                    if isinstance(result, Exception):
                        raise result
                    row = self._row(unit, source, rank, hit, pair, result)
                except Exception as error:
                    if ends_run(error):
                        raise
                    why = Judgement(ERROR, rationale=f"{type(error).__name__}: {message_of(error)}")
                    row = self.row(unit, source, rank, hit, why)
                rows.append(row)
        return Judged(rows)

    def _chances(
        self, open_units: OpenUnits, found: Sequence[Found]
    ) -> dict[Pair, Probabilities | Exception]:
        """Return the probabilities of all distinct pairs, predicted in one call.

        If that fails each pair is predicted alone, so that one passage does not affect others.
        """
        pairs = dict.fromkeys(
            _pair(unit, hit)
            for unit, answer in zip(open_units.units, found, strict=True)
            for hit in answer.passages
        )
        if not pairs:
            return {}
        verifier = self._opened()
        try:
            return dict(zip(pairs, verifier.predict(list(pairs)), strict=True))
        except Exception as error:
            if ends_run(error):
                raise
        alone: dict[Pair, Probabilities | Exception] = {}
        for pair in pairs:
            try:
                (alone[pair],) = verifier.predict([pair])
            except Exception as error:
                if ends_run(error):
                    raise
                alone[pair] = error
        return alone

    def _opened(self) -> Verifier:
        if self._verifier is None:
            self._verifier = opened(self._name)
            self.model = shown(self._name)
        return self._verifier

    def _row(
        self,
        unit: FactUnit,
        source: str,
        rank: int,
        hit: Retrieved,
        pair: Pair,
        chances: Probabilities | None,
    ) -> Evidence:
        if chances is None:
            outcome, citation, rationale = NOANS, None, _FOREIGN
        else:
            found = match(pair)
            chances = ruled(found, chances)
            outcome = chances.outcome
            citation, rationale = explain(found, outcome)
        return evidence_row(
            unit,
            source,
            rank,
            hit,
            outcome,
            judge=self.name,
            model=None if chances is None else self.model,
            reason=UNSUPPORTED_LANGUAGE if chances is None else None,
            answer=citation,  # the deciding sentence is the passage's answer to the query
            citation=citation,
            citation_found=None if citation is None else True,
            rationale=rationale,
            probability=None if chances is None else chances.supported,
        )


def _pair(unit: FactUnit, hit: Retrieved) -> Pair:
    return Pair(unit.claim, hit.passage.text, hit.passage.title or "")
