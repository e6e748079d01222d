"""Declare the records and tables of factual recall (FaaF; see `ufo.transforms.recall`).

As in `ufo.schemas.records`, each is declared once and its types are plain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """A row of `recall_answers`: one answer to the question of a record, by the name of its variant
    (of the RAG system, say, that gave it)."""

    record_id: str
    variant: str
    text: str


@dataclass(frozen=True, slots=True)
class RecallLabel:
    """A human label of one given fact in one variant: 1 if the answer says it, else 0."""

    variant: str
    fact_index: int
    label: int


@dataclass(frozen=True, slots=True)
class RecallInput:
    """A usable record of `ufo recall`: a question, its true answer, and the answers to check.

    `given`: the input has the facts, and none have to be generated.
    """

    key: str
    record_id: str
    question: str
    ground_truth: str
    answers: Sequence[RecallAnswer] = field(default_factory=list)
    given: bool = False
    facts: Sequence[str] = field(default_factory=list)
    labels: Sequence[RecallLabel] = field(default_factory=list)

    @property
    def response_id(self) -> str:
        """The record's id under the name that runs use."""
        return self.record_id


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """A row of `recall_records`; `ground_truth` is the answer that the facts are taken from."""

    record_id: str
    question: str
    ground_truth: str
    n_facts: int
    n_answers: int
    given: bool


@dataclass(frozen=True, slots=True)
class RecallFact:
    """A row of `recall_facts`: a statement that an answer to the question should make."""

    record_id: str
    fact_id: str
    fact_index: int
    fact: str


@dataclass(frozen=True, slots=True)
class RecallVerdict:
    """A row of `recall_verdicts`: whether an answer says a fact, as one formulation found.

    `label` is 1, 0, or None where nothing usable was said; "not clear" is 0 (FaaF); `human_label`
    is what people found. `reason` is why there is no label, and `first_reason` why the first reply,
    before any repair, had none: both one of REASONS.
    """

    record_id: str
    variant: str
    fact_id: str
    formulation: str
    outcome: str
    reason: Optional[str]
    first_reason: Optional[str]
    label: Optional[int]
    human_label: Optional[int]
    raw_verdict: Optional[str]
    answer: Optional[str]
    rationale: Optional[str]
    citation: Optional[str]
    citation_found: Optional[bool]
    judge: str
    model: Optional[str] = None
    prompt_version: Optional[str] = None
    request_id: Optional[str] = None
