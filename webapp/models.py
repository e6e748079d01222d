"""Declare the service's requests, and convert them to jobs and records.

Every text is checked for characters that no table can store. Every list and text has a largest
size; a larger one is refused with the limit, not cut.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetPydanticSchema, model_validator

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import Failure, InputRecord, Passage
from ufo.schemas.text import without_nul
from ufo.transforms.job import Job
from ufo.transforms.judges.judge import JUDGES
from ufo.transforms.judges.llm.llm_settings import LLM_OPTIONS
from ufo.transforms.plugins import Registry
from ufo.transforms.read import parse
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS
from ufo.webapp.answers import SourceAnswer
from ufo.webapp.desk import Desk

MAX_TEXT = 100_000
MAX_ITEMS = 2_000


Text = Annotated[str, Field(max_length=MAX_TEXT)]
Word = Annotated[str, Field(max_length=1_000)]
Line = Annotated[str, Field(min_length=1, max_length=5_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]

Mode = Literal["seq", "mv", "single", "all"]
Tie = Literal["not_factual", "factual"]
Units = Literal["claim", "sentence"]
Retriever = Literal["bm25", "dense", "hybrid"]


def storable(given: Any) -> Any:
    """Return a JSON value without NUL in its texts.

    Raises:
        ValueError: half of a surrogate pair, which JSON can have and no table can store.
    """
    text = json.dumps(given, ensure_ascii=False, default=repr)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is not a character") from None
    return without_nul(given) if "\\u0000" in text else given


def _declared(name: str) -> GetPydanticSchema:
    """Restrict a text to the values that the LLM judge declares for this option."""
    values: Any = Literal[LLM_OPTIONS[name]["option"]["choices"]]
    return GetPydanticSchema(lambda _, handler: handler(values))


class RequestPart(BaseModel):
    """A part of a request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Given(RequestPart):
    """The body of a request; a table can store its texts, at any depth."""

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, given: Any) -> Any:
        return storable(given)


class Judging(Given):
    """The judge and its options; omitted ones have the default of `ufo evaluate`."""

    judge: Name | None = Field(None, description="one that is installed, by its name")
    verifier: Name | None = Field(
        None, description="of the judge `offline`: one that `/options` lists"
    )
    model: Name | None = Field(None, description="the judge's model, at the server's endpoint")
    extractor_model: Name | None = None
    formulation: Annotated[str, _declared("formulation")] | None = None
    verdict_labels: Annotated[str, _declared("verdict_labels")] | None = None
    explain: Annotated[str, _declared("explain")] | None = None
    citation: bool | None = None


class Asking(Judging):
    """The fact sources, their order and their options."""

    sources: list[Name] | None = Field(
        None, min_length=1, max_length=20, description="names in the order they are asked"
    )
    mode: Mode = "seq"
    tie: Tie = "not_factual"
    units: Units = "claim"
    retriever: Retriever | None = None
    web_retriever: Literal["bm25", "dense"] | None = Field(
        None, description="of a page's sentences; dense where the service has an embedder"
    )
    passages: int | None = Field(None, ge=1, le=50, description="of a source for a claim")
    pages: int | None = Field(None, ge=1, le=20, description="of a web search")
    passages_per_page: int | None = Field(None, ge=0, le=20)
    context_sentences: int | None = Field(None, ge=0, le=10)
    include_categories: list[Name] | None = Field(None, max_length=50)
    exclude_categories: list[Name] | None = Field(None, max_length=50)
    include_domains: list[Name] | None = Field(None, max_length=200)
    exclude_domains: list[Name] | None = Field(None, max_length=200)
    knowledge_model: Name | None = Field(None, description="the model of the source `llm`")
    samples: int | None = Field(None, ge=1, le=20)
    temperature: float | None = Field(None, ge=0, le=2)
    sampling: Literal["per_query", "bundled"] | None = None


class About(RequestPart):
    """The context of a text: the question that it answers, and its language."""

    question: Text | None = Field(default=None, description="what the text answers")
    language: Word | None = None


class ExtractRequest(Judging, About):
    """A text to split into sentences and fact units."""

    text: Text = Field(min_length=1)
    units: Units = "claim"


class CheckRequest(Asking, About):
    """A text to check."""

    text: Text = Field(min_length=1, description="what is checked")
    references: list[Text] = Field(
        [], max_length=100, description="trusted texts, for the source `reference`"
    )


class SearchRequest(Given):
    """Queries to the server's index."""

    queries: list[Line] = Field(min_length=1, max_length=100)
    passages: int = Field(5, ge=1, le=50)
    retriever: Retriever = "bm25"


class Claim(RequestPart):
    """A claim, and the query that would settle it (made where it is missing)."""

    claim: Line
    query: Text | None = None


class PassedResponse(About):
    """The response of the units; unused fields are allowed."""

    model_config = ConfigDict(extra="ignore")

    text: Text


class PassedUnit(Claim):
    """A fact unit; unused fields are allowed."""

    model_config = ConfigDict(extra="ignore")

    sentence_index: int | None = Field(None, ge=0)


class AfterExtract(About):
    """Claims, or the response of `/extract`. Fields that are only passed on have no effect."""

    claims: list[Claim] = Field([], max_length=100)
    text: Text | None = Field(None, description="what the claims are from, as their context")
    response: PassedResponse | None = None
    fact_units: list[PassedUnit] | None = Field(
        None, max_length=MAX_ITEMS, description="in place of `claims`"
    )
    sentences: list[Any] = Field([], max_length=MAX_ITEMS, description="passed on")
    failures: list[Any] = Field([], max_length=MAX_ITEMS, description="passed on")
    usage: list[Any] = Field([], max_length=50_000, description="passed on")


class PassagesRequest(Asking, AfterExtract):
    """Claims to retrieve passages for, or the whole response of `/extract`."""

    references: list[Text] = Field([], max_length=100)


class VerifyRequest(Judging, AfterExtract):
    """Claims and passages, or the response of `/passages`.

    With claims and passages, every claim is checked against every passage. With the response of
    `/passages`, every claim is checked against its own passages, source by source."""

    passages: list[Passage] = Field([], max_length=100)
    answers: list[SourceAnswer] | None = Field(
        None, max_length=50_000, description="in place of `passages`"
    )
    mode: Mode = Field("seq", description="of `answers`")
    tie: Tie = "not_factual"


class ScoreUnit(RequestPart):
    """A fact unit, as far as scores depend on it."""

    unit_id: Name
    sentence_index: int | None = Field(None, ge=0, lt=MAX_ITEMS)


class ScoreEvidence(RequestPart):
    """A row of evidence, as far as scores depend on it."""

    unit_id: Name
    source: Name
    passage_id: Word | None = None
    outcome: Literal["supported", "refuted", "noans", "error"]
    reason: Word | None = None


class ScorePassage(RequestPart):
    """A passage, as far as scores depend on it."""

    passage_id: Word
    source_category: Word | None = None
    hostname: Word | None = None


class ScoreRequest(Given):
    """Evidence, and the selection that counts."""

    fact_units: list[ScoreUnit] = Field(max_length=MAX_ITEMS)
    evidence: list[ScoreEvidence] = Field(max_length=50_000)
    passages: list[ScorePassage] = Field([], max_length=50_000)
    sources: list[Name] = Field(max_length=20, description="in the order they are asked")
    n_sentences: int = Field(ge=0, le=MAX_ITEMS)
    mode: Mode = "seq"
    tie: Tie = "not_factual"
    extraction_failed: bool = Field(
        False,
        description="whether a sentence without a claim may be one that a failed extraction lost",
    )
    without_passages: set[Word] = Field(set(), max_length=50_000)
    without_categories: list[Name] = Field([], max_length=50)
    only_categories: list[Name] | None = Field(None, max_length=50)
    without_domains: list[Name] = Field([], max_length=200)
    only_domains: list[Name] | None = Field(None, max_length=200)


class LabelRequest(Given):
    """The label of a fact unit of a run; without a label the saved one is removed."""

    response_id: Line
    unit_id: Name
    label: Literal[0, 1] | None = Field(None, description="1: the claim is true; 0: it is false")
    note: Word | None = Field(None, description="a comment, as on why the verdict is wrong")


class UploadOptions(Asking):
    """The options of an upload. `name` is its name in lists."""

    name: Name = "upload"
    map: Word | None = Field(
        None, description="its columns that are called otherwise: `response=output,question=prompt`"
    )


_FLAGS = set(Asking.model_fields) - {"sources"}


def job_of(desk: Desk, asked: Judging, sources: Sequence[str] | None) -> Job:
    """Return the job that a request describes.

    Raises:
        UsageError: a source or an option is wrong, or cannot serve here.
    """
    installed(SOURCES, *sources or ())
    installed(JUDGES, asked.judge)
    installed(VERIFIERS, asked.verifier)
    return desk.setup.job_of(flags_of(desk, asked, sources), sources)


def installed(registry: Registry[Any], *names: str | None) -> None:
    """Raise UsageError for a plug-in that is not installed under a name.

    On a command line a plug-in may also be a file with code or a model to fetch; in a request
    never.
    """
    for name in names:
        if name is not None and name not in registry.types():
            raise UsageError(unknown_value(registry.noun, name, registry.types()))


def flags_of(desk: Desk, asked: Judging, sources: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields of a request that are flags of `ufo evaluate`, with the service's flags."""
    values = asked.model_dump(include=_FLAGS, exclude_none=True)
    if isinstance(asked, VerifyRequest):
        del values["passages"]  # in this request the passages themselves, not their number
    listed = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in values.items()
    }
    return dict(desk.setup.flags_of(listed, sources))


def record_of(
    asked: About,
    text: str,
    references: Sequence[str] = (),
    claims: Sequence[Claim | PassedUnit] | None = None,
) -> InputRecord:
    """Return the input record of a text; `claims` are used in place of extraction.

    Raises:
        UsageError: the text is blank.
    """
    given: dict[str, Any] = {
        "response": text,
        "question": asked.question,
        "reference_answers": list(references),
        "language": asked.language,
    }
    if claims is not None:
        given["claims"] = [one.model_dump() for one in claims]
    record = parse("text", json.dumps(given).encode(), max_line_bytes=1 << 30)
    if isinstance(record, Failure):
        raise UsageError(record.message.replace("`response`", "`text`"))
    return record
