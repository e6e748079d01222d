"""The offline judge: no model, no network, deterministic; every verdict says why."""

from collections.abc import Sequence
from functools import lru_cache

from schemas.records import (
    NOANS,
    REFUTED,
    SUPPORTED,
    UNSUPPORTED_LANGUAGE,
    Evidence,
    FactUnit,
    InputRecord,
    OpenUnits,
)
from transforms.judges.base import Draft, Drafts, Judge, Judged
from transforms.judges.offline.extract import extract
from transforms.judges.offline.language import is_english
from transforms.judges.offline.queries import query_of
from transforms.judges.offline.verify import Finding, prepare, prepare_claim, verify
from transforms.judges.offline.wording import plain
from transforms.judges.offline.worthiness import no_claim_reason
from transforms.sentences import Span
from transforms.sources.base import Found, Retrieved

_LABELS = {SUPPORTED: 1, REFUTED: 0}
# A passage of the index comes back for many responses, a reference only within its own.
_prepared = lru_cache(maxsize=1024)(prepare)

_FOREIGN = Finding(
    outcome=NOANS,
    probability=None,
    citation=None,
    rationale="the text is in a language that the offline judge does not know",
)


class OfflineJudge(Judge):
    """Extracts and verifies by what texts say: words, names, numbers, dates and negation.

    It knows English. A response in another language gets one fact unit a sentence and `noans` with
    the reason `unsupported_language` for each passage, not a guess.
    """

    name = "offline"

    async def extract(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return the claims of each sentence that makes a checkable one."""
        _, found = extract(record.text, record.question, record.language)
        return Drafts([Draft(*item) for item in found])

    async def extract_sentences(self, record: InputRecord, sentences: Sequence[Span]) -> Drafts:
        """Return one claim for each sentence that makes a checkable one."""
        english = is_english(record.text, record.language)
        drafts = []
        for number, span in enumerate(sentences):
            text = record.text[span.start : span.end]
            if not english or no_claim_reason(text) is None:
                claim = plain(text)
                drafts.append(Draft(number, claim, query_of(claim) if english else claim))
        return Drafts(drafts)

    async def query(self, claim: str) -> str:
        """Return the query that would settle a claim."""
        return query_of(claim)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        """Return what each passage says to each unit."""
        known = is_english(open_units.text, open_units.language)
        rows: list[Evidence] = []
        for unit, answer in zip(open_units.units, found, strict=True):
            if not answer.passages:
                rows.append(self.without_passages(unit, source, answer))
                continue
            claim = prepare_claim(unit.claim, unit.query) if known else None
            for rank, hit in enumerate(answer.passages, 1):
                passage = hit.passage
                if claim is None:
                    finding = _FOREIGN
                else:
                    finding = verify(claim, _prepared(passage.text, passage.title or ""))
                rows.append(self._row(unit, source, rank, hit, finding))
        return Judged(rows)

    def _row(
        self, unit: FactUnit, source: str, rank: int, hit: Retrieved, finding: Finding
    ) -> Evidence:
        return Evidence(
            unit.response_id,
            unit.unit_id,
            source,
            hit.passage.passage_id,
            rank,
            hit.score,
            finding.citation,  # what the passage says to the query is the deciding sentence
            finding.outcome,
            UNSUPPORTED_LANGUAGE if finding is _FOREIGN else None,
            _LABELS.get(finding.outcome),
            None,
            finding.probability,
            finding.rationale,
            finding.citation,
            None if finding.citation is None else True,
            self.name,
        )

