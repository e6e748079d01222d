"""The offline judge: deterministic, without an endpoint, with a rationale for every verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from ufo.schemas.errors import ends_run
from ufo.schemas.records import (
    ERROR,
    NOANS,
    REFUTED,
    SUPPORTED,
    UNSUPPORTED_LANGUAGE,
    Evidence,
    Failure,
    OpenUnits,
)
from ufo.transforms.english.words import is_english
from ufo.transforms.judges.judge import Judge, Judged, Judgement
from ufo.transforms.plugin_errors import failure_of, message_of, reason_of
from ufo.transforms.sources.fact_source import Found
from ufo.transforms.verifiers.by_name import model_column, open_verifier
from ufo.transforms.verifiers.explaining import explain
from ufo.transforms.verifiers.grounds import UNSURE, apply_rules, grounds
from ufo.transforms.verifiers.texts import match
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

_OTHER_PASSAGE = "another passage of the same text says more of the claim"
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
        self.model = model_column(self._name)

    def close(self) -> None:
        """Release the verifier, which stays loaded in the process for the next judge."""
        self._verifier = None

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return the evidence rows of each unit, in order."""
        known = is_english(open_units.text, open_units.language)
        asked = [
            [Pair(unit.claim, hit.passage.text, hit.passage.title or "") for hit in answer.passages]
            for unit, answer in zip(open_units.units, found, strict=True)
        ]
        chances = self._chances(asked) if known else {}
        rows: list[Evidence] = []
        failures: list[Failure] = []
        for unit, answer, pairs in zip(open_units.units, found, asked, strict=True):
            if not pairs:
                rows.append(self.without_passages(unit, source, answer))
            judgements = [Judgement(NOANS)] * len(pairs)
            errors: list[Exception | None] = [None] * len(pairs)
            if known:
                judged = [_judgement(pair, chances[pair]) for pair in pairs]
                judgements = [judgement for judgement, _ in judged]
                errors = [error for _, error in judged]
                if len(pairs) > 1:
                    _unite([hit.document for hit in answer.passages], pairs, judgements)
            ranked = enumerate(zip(answer.passages, judgements, errors, strict=True), 1)
            for rank, (hit, judgement, error) in ranked:
                row = self.row(unit, source, rank, hit, judgement)
                if error is not None:
                    row = replace(row, reason=reason_of(error))
                    verifier = f"verifier {self.model}"
                    failures.append(failure_of("verify", unit.unit_id, verifier, error))
                rows.append(row)
        if known:
            return Judged(rows, failures=failures)
        foreign = partial(replace, reason=UNSUPPORTED_LANGUAGE, rationale=_FOREIGN, model=None)
        return Judged([foreign(row) if row.outcome == NOANS else row for row in rows])

    def _chances(self, asked: Sequence[Sequence[Pair]]) -> dict[Pair, Probabilities | Exception]:
        """Return the probabilities of all distinct pairs, predicted in one call.

        If that fails each pair is predicted alone, so that one passage does not affect others.
        """
        pairs = list(dict.fromkeys(chain.from_iterable(asked)))
        if not pairs:
            return {}
        verifier = self._load()
        try:
            return dict(zip(pairs, verifier.predict(pairs), strict=True))
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

    def _load(self) -> Verifier:
        if self._verifier is None:
            self._verifier = open_verifier(self._name)
            self.model = model_column(self._name)
        return self._verifier


def _judgement(
    pair: Pair, predicted: Probabilities | Exception
) -> tuple[Judgement, Exception | None]:
    """Return the judgement on a pair, with the exception of the verifier or a rule, if any."""
    try:
        if isinstance(predicted, Exception):
            raise predicted
        matched = match(pair)
        chances = apply_rules(matched, predicted)
        citation, rationale = explain(matched, chances.outcome)
        return Judgement(chances.outcome, chances.supported, rationale, citation), None
    except Exception as error:
        if ends_run(error):
            raise
        return Judgement(ERROR, rationale=f"{type(error).__name__}: {message_of(error)}"), error


def _unite(documents: Sequence[str], pairs: Sequence[Pair], judgements: list[Judgement]) -> None:
    """Let one passage of each document vote: the deciding one that says most of the claim.

    The others are set to `noans`, since the document was cut only to be searched.
    """
    several = {document for document, n in Counter(documents).items() if document and n > 1}
    for document in several:
        votes = {
            place: (_stated_share(pairs[place], judgement), judgement.outcome == SUPPORTED)
            for place, judgement in enumerate(judgements)
            if documents[place] == document and judgement.outcome in (SUPPORTED, REFUTED)
        }
        for place in votes.keys() - {max(votes, key=votes.__getitem__, default=-1)}:
            probability = min(judgements[place].probability or 0.0, UNSURE)
            judgements[place] = Judgement(NOANS, probability, _OTHER_PASSAGE)


def _stated_share(pair: Pair, judgement: Judgement) -> float:
    """Return the share of the claim that a passage states, less what it contradicts."""
    matched = match(pair)
    if judgement.outcome == REFUTED and (against := grounds(matched)):
        return against[0].share
    return matched.largest_share
