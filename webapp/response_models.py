"""Declare the service's responses, beside the records of `ufo.schemas.records`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from ufo.pipelines.reports.checked import CheckedResponse
from ufo.schemas.records import FactUnit, Passage, Response, Usage

HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}}}}


def attachment(name: str) -> dict[str, str]:
    """Return the headers with which a browser saves a response as a file of that name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


class Problem(BaseModel):
    """A problem as in RFC 9457; `remedy` says what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    remedy: str
    errors: list["FieldError"] = []


class FieldError(BaseModel):
    """An invalid field of a request: where it is, and why."""

    where: str
    message: str


_PASSAGE = TypeAdapter(Passage)


def _passage(passage: object) -> object:
    """Return an object as a record, the only form that a strict model takes."""
    try:
        return _PASSAGE.validate_python(passage)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ValueError("; ".join(wrong)) from None


GivenPassage = Annotated[Passage, BeforeValidator(_passage)]


class SearchHit(BaseModel):
    """A passage of the index; `score` is comparable within one query alone."""

    model_config = ConfigDict(strict=True)

    rank: int = 0
    score: float | None = None
    passage: GivenPassage


class SearchAnswer(BaseModel):
    """The passages of the index for one query, best first."""

    query: str
    hits: list[SearchHit]


class SourceAnswer(BaseModel):
    """The passages of one source for one claim; without passages, `reason` says why.

    `/passages` returns it, and `/verify` takes it.
    """

    model_config = ConfigDict(strict=True)

    source: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    query: str = ""
    hits: list[SearchHit] = []
    outcome: str | None = Field(default=None, pattern="^(noans|error)$")
    reason: str | None = None
    message: str | None = None


class Passages(BaseModel):
    """The passages of each source for each claim, in the order of sources, then of claims."""

    response: Response
    fact_units: list[FactUnit]
    answers: list[SourceAnswer]
    usage: list[Usage]


class SourceInfo(BaseModel):
    """A fact source: whether it can be used, or why not and what to do."""

    source: str
    type: str
    help: str
    status: str = Field(description="used or unavailable")
    reason: str | None
    options: list[str] = Field(description="the fields of a request that it uses")


Status = Literal["done", "failed", "cancelled"]
DONE: Status = "done"
FAILED: Status = "failed"
CANCELLED: Status = "cancelled"


@dataclass(slots=True, kw_only=True)
class KeptResult(CheckedResponse):
    """The result of a check, as the service keeps it.

    `request` has the fields that the request set. A check that failed or was cancelled has the
    claims that it found, and only those with a verdict are scored.
    """

    id: str
    kept_at: str
    status: Status
    seconds: float
    problem: Problem | None
    request: dict[str, Any]


RESULT = TypeAdapter(KeptResult)


class JudgeInfo(BaseModel):
    """A judge, and what it can do.

    A judge that does not extract gets the offline judge's claims. `remote` means that it sends
    requests, which may cost money.
    """

    judge: str
    help: str
    extracts: bool
    abstains: bool
    needs_endpoint: bool
    remote: bool
    options: list[str] = Field(description="the fields of a request that it uses")


class Choice(BaseModel):
    """A value of a setting; `reason` says why it cannot be used here."""

    value: str
    label: str
    reason: str | None = None


class Setting(BaseModel):
    """An option that each request may set, as it is declared for `ufo evaluate`.

    `value` is used where a request does not set it. A number is from `low` to `high`. A setting is
    used `always`, or by those sources and judges that name it among their `options`; and only with
    the values of other settings in `needs`.
    """

    name: str
    label: str
    help: str
    group: str
    kind: Literal["choice", "number", "switch", "list", "text"]
    value: bool | int | float | str | list[str] | None
    choices: list[Choice] = []
    low: float | None = None
    high: float | None = None
    whole: bool = False
    always: bool = False
    needs: dict[str, str] = {}


class Options(BaseModel):
    """The judges and sources of the service, and its defaults for a request's settings."""

    version: str
    settings: list[Setting]
    judges: list[JudgeInfo]
    sources: list[SourceInfo]
    index_size: str = Field(description="of the index that the source wikipedia searches")
    max_text: int
    upload_bytes: int


def _listed(names: object) -> object:
    return [names] if isinstance(names, str) else names


class Example(BaseModel):
    """A bundled response, ready to be checked."""

    id: str
    model: str | None = None
    question: str | None = None
    dataset: str | None = None
    response: str
    reference_answers: Annotated[list[str], BeforeValidator(_listed)] = []


class RunInfo(BaseModel):
    """A finished run: its title for people, counts of responses, units and failures."""

    run: str
    title: str
    mode: str
    tie: str
    judge: str
    sources: list[str]
    finished_at: str
    counts: dict[str, int]


class RunFigures(BaseModel):
    """The figures of a run in the list of runs, read from its tables. `words` say its score as the
    overview does, or why there is none; `models` are those that gave the responses."""

    score: float | None
    words: str
    n_units: int
    n_contradicted: int
    models: list[str]
    size_bytes: int


class ListedRun(RunInfo):
    """A run in a list, with `figures` on request; `problem` says why a run cannot be read."""

    figures: RunFigures | None = None
    problem: str | None = None


class ResponseRow(BaseModel):
    """A response in a list: its scores, and what is noteworthy. `excerpt` is its beginning."""

    response_id: str
    model: str | None
    dataset: str | None
    question: str | None
    excerpt: str
    n_units: int
    n_supported: int
    n_refuted: int
    n_undecided: int
    factuality_score: float | None
    words: str = Field(description="the score as it is shown, or why there is none")
    decided_score: float | None
    coverage: float | None
    credibility: float | None
    band: str
    n_disagreements: int = Field(description="claims of which passages support and contradict")
    n_errors: int = Field(description="judgements that failed")
    human_score: float | None


class RunOverview(RunInfo):
    """A run with its headline, and the values to filter by."""

    headline: str
    models: list[str]
    datasets: list[str]


class ResponsePage(BaseModel):
    """A page of responses; `total` is how many fit the filters."""

    total: int
    offset: int
    limit: int
    rows: list[ResponseRow]


class ContradictedClaim(BaseModel):
    """A contradicted claim of a run, and what contradicts it: a quote of the passage with `title`,
    or without one with the name of the source."""

    response_id: str
    unit_id: str
    sentence_index: int | None
    claim: str
    question: str
    model: str | None
    quote: str
    title: str | None
    evidence_source: str | None


class ContradictedPage(BaseModel):
    """A page of the contradicted claims of a run; `total` is how many there are."""

    total: int
    offset: int
    limit: int
    rows: list[ContradictedClaim]


class ReportInfo(BaseModel):
    """A report of `ufo report` that has rows, and its group."""

    name: str
    title: str
    help: str
    group: str
