"""Declare the records, from which Beam's row coders, the Arrow schemas and the tables follow.

Types are plain: Beam silently turns `str | None`, `Literal`, enums and dates into pickled "any"
fields. So optional fields are `Optional[...]`, and repeated ones `Sequence[...]`, filled with
lists.

Identifiers depend on the content alone, so that every runner gives the same ones. `unit_id` is 16
hex digits of SHA-256 over (response id, sentence index, NFC claim), with `-k` appended for the k-th
repeat. `passage_id` is the source's name, a colon, and the same over (url, text, ordinal).
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Optional

SUPPORTED = "supported"
REFUTED = "refuted"
NOANS = "noans"
ERROR = "error"
OUTCOMES = (SUPPORTED, REFUTED, NOANS, ERROR)

NO_PASSAGES = "no_passages"
NO_REFERENCES = "no_references"
ABSTAINED = "abstained"
REFUSED = "refused"
FILTERED = "filtered"
TRUNCATED = "truncated"
UNPARSABLE = "unparsable"
TRANSPORT = "transport"
EXCEPTION = "exception"
UNSUPPORTED_LANGUAGE = "unsupported_language"
REASONS = (
    NO_PASSAGES,
    NO_REFERENCES,
    ABSTAINED,
    REFUSED,
    FILTERED,
    TRUNCATED,
    UNPARSABLE,
    TRANSPORT,
    EXCEPTION,
    UNSUPPORTED_LANGUAGE,
)

# The categories of Facts&Evidence for the host of a passage.
CATEGORIES = (
    "news",
    "blog",
    "wiki",
    "social_media",
    "scientific_medical_article",
    "government_website",
    "other",
)

NO_SOURCE = "none"
MULTI = "multi"


@dataclass(frozen=True, slots=True)
class GivenClaim:
    """A claim given in the input, used in place of extraction; `label` is from 0 to 1."""

    claim: str
    query: Optional[str] = None
    label: Optional[float] = None
    sentence_index: Optional[int] = None


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A span of the response that people labelled, in half-open code points."""

    start: int
    end: int
    label: Optional[int] = None


@dataclass(frozen=True, slots=True)
class InputRecord:
    """One usable record of the input.

    `given` distinguishes `claims: []` (no checkable claim) from no `claims` (extract them). `spans`
    are human labels on stretches of text: error spans (label 0) or labelled sentences. With
    `spans_are_errors`, text outside of spans is labelled correct.
    """

    key: str
    response_id: str
    text: str
    model: Optional[str] = None
    dataset: Optional[str] = None
    question: Optional[str] = None
    language: Optional[str] = None
    human_score: Optional[float] = None
    metadata: Optional[str] = None
    references: Sequence[str] = field(default_factory=list)
    given: bool = False
    claims: Sequence[GivenClaim] = field(default_factory=list)
    spans: Sequence[LabelledSpan] = field(default_factory=list)
    spans_are_errors: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """A row of `responses`; `metadata` is a JSON object, `human_score` is 0 to 1.

    `record_hash` covers everything that the input gives for the response (`--since` compares it).
    """

    response_id: str
    model: Optional[str]
    dataset: Optional[str]
    question: Optional[str]
    language: Optional[str]
    text: str
    n_references: int
    human_score: Optional[float]
    metadata: Optional[str]
    record_hash: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of `sentences`: `text` is the response's `[start:end]`, in code points."""

    response_id: str
    sentence_index: int
    start: int
    end: int
    text: str
    n_units: int
    human_label: Optional[int]


@dataclass(frozen=True, slots=True)
class FactUnit:
    """A row of `fact_units`: an atomic, decontextualised claim and the query that would settle it.

    `sentence_index` is None for a given claim that no sentence matches. `human_label` is the label
    of a given claim: 1 (true), 0 (false), or between, where people differ.
    """

    response_id: str
    unit_id: str
    sentence_index: Optional[int]
    claim: str
    query: str
    human_label: Optional[float]


@dataclass(frozen=True, slots=True)
class Passage:
    """A row of `passages`. A plug-in fills `text` and what else it knows; its base class adds ids.

    Dates are ISO 8601 texts. `source_category` is one of CATEGORIES.
    """

    text: str
    title: Optional[str] = None
    section: Optional[str] = None
    url: Optional[str] = None
    hostname: Optional[str] = None
    source_category: Optional[str] = None
    published_at: Optional[str] = None
    retrieved_at: Optional[str] = None
    source: str = ""
    passage_id: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A row of `evidence`: what one passage says about one fact unit.

    `outcome` is one of OUTCOMES, `reason` one of REASONS or None, `label` 1, 0 or None,
    `probability` that of `supported`. `passage_id` is None where the source had no passage.
    """

    response_id: str
    unit_id: str
    source: str
    passage_id: Optional[str]
    rank: Optional[int]
    retrieval_score: Optional[float]
    answer: Optional[str]
    outcome: str
    reason: Optional[str]
    label: Optional[int]
    raw_verdict: Optional[str]
    probability: Optional[float]
    rationale: Optional[str]
    citation: Optional[str]
    citation_found: Optional[bool]
    judge: str
    model: Optional[str] = None
    prompt_version: Optional[str] = None
    sample_index: Optional[int] = None
    logprob_mean: Optional[float] = None
    request_id: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Tally:
    """The votes of one source's passages on one fact unit."""

    unit_id: str
    source: str
    n_supported: int = 0
    n_refuted: int = 0
    n_noans: int = 0
    n_error: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of `verdicts`: the label of one fact unit, who decided it, and the votes.

    `label` is None where no passage gave a valid vote. `n_error` has failed judgements of sources
    before the deciding one, too. `past_error`: one of these gave nothing else; a retry may help.
    """

    response_id: str
    unit_id: str
    mode: str
    source: str
    label: Optional[int]
    n_supported: int
    n_refuted: int
    n_noans: int
    n_error: int
    tied: bool
    past_error: bool


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A row of `sources`: a fact source in the user's order, and why it was not used.

    `status` is `used` or `unavailable`; `options` is a JSON object without secrets.
    """

    position: int
    source: str
    type: str
    status: str
    reason: Optional[str]
    options: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A row of `failures`: an unusable input or a failed step, and why. `input` is cut at 4 KiB."""

    step: str
    key: str
    error_type: str
    message: str
    input: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Usage:
    """A row of `usage`: one request, also a failed attempt. An unknown cost is None.

    `saved_usd` is what a request that the cache or an equal request answered would have cost.
    For a request in a provider's batch, `worker_id` is `batch` and `seconds` is None.
    """

    request_id: str
    step: str
    source: Optional[str]
    model: Optional[str]
    response_id: Optional[str]
    worker_id: Optional[str]
    status: str
    cached: bool
    coalesced: bool
    retries: int
    prompt_tokens: Optional[int]
    completion_tokens: Optional[int]
    seconds: Optional[float]
    cost_usd: Optional[float]
    saved_usd: Optional[float] = 0.0


@dataclass(frozen=True, slots=True)
class OpenUnits:
    """The fact units of a response that no source has decided yet, passed from stage to stage.

    `sentence_spans` is start, end, start, end, … of the response's sentences, so that a judge can
    see a unit's context. `tallies` has the votes of the sources asked so far on these units.
    """

    response_id: str
    text: str
    question: Optional[str]
    language: Optional[str]
    sentence_spans: Sequence[int]
    references: Sequence[str]
    units: Sequence[FactUnit]
    tallies: Sequence[Tally] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SourceVotes:
    """The votes of one source on one response, in modes that ask every source.

    `position` is its place in the user's order."""

    response_id: str
    position: int
    tallies: Sequence[Tally]


@dataclass(frozen=True, slots=True)
class Part:
    """A part file of a run: its table, its path, its number of rows and its checksum."""

    table: str
    path: str
    rows: int
    sha256: Optional[str] = None


# --- factual recall (FaaF, see `ufo.transforms.recall`) -------------------------------------------


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """A row of `recall_answers`: one answer to a question.

    `variant` is its name: for example the RAG system that gave it."""

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
    """A row of `recall_records`: a question. `ground_truth` is the answer that gives the facts."""

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
    """A row of `recall_verdicts`: whether an answer states a fact, by one formulation.

    `label` is 1, 0, or None without a usable judgement; "not clear" is 0 (FaaF). `human_label` is
    the label by people. `reason` says why there is no label, and `first_reason` why the first
    reply, before any repair, had none; both are one of REASONS.
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


_DIGITS = 16
# The separator is a character that nobody types by accident. It distinguishes ("a", "bc") from
# ("ab", "c").
_SEPARATOR = "\x1f"


def _digest(*parts: str) -> str:
    joined = _SEPARATOR.join(parts)
    # Lone surrogates are legal in JSON ("\ud800"), and must have an identifier like any other text.
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def content_id(text: str, *more: str) -> str:
    """Return the id of a response to which the input gives none: 16 hex digits over its content."""
    return _digest(text, *more)


def unit_ids(response_id: str, claims: Sequence[tuple[int | None, str]]) -> list[str]:
    """Return one id for each (sentence index, claim) of a response, in order.

    A claim without a sentence has the index None. Equal pairs get the suffixes `-1`, `-2`, … from
    the second on.
    """
    seen: dict[str, int] = {}
    ids: list[str] = []
    for index, claim in claims:
        text = claim if claim.isascii() else unicodedata.normalize("NFC", claim)
        base = _digest(response_id, "" if index is None else str(index), text)
        repeat = seen.get(base, 0)
        seen[base] = repeat + 1
        ids.append(f"{base}-{repeat}" if repeat else base)
    return ids


def passage_id(source: str, url: str | None, text: str, ordinal: int = 0) -> str:
    """Return the id of a passage; `ordinal` distinguishes equal texts of one page or sample."""
    return f"{source}:{_digest(url or '', text, str(ordinal))}"
