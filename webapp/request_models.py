"""Declare the requests of the service with their conversion to jobs and records.

Every text is checked for characters that no table can store. Every list and text has a largest
size; a larger one is refused with the limit, not cut.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidationInfo,
    model_validator,
)

from ufo.pipelines.options.choose_sources import fitting_flags
from ufo.pipelines.options.groups import NOT_FACTUAL, OF_REQUESTS
from ufo.pipelines.options.jobs import job_of_text
from ufo.pipelines.options.option import Option
from ufo.schemas.errors import DoesNotFit, UsageError, unknown_value
from ufo.schemas.label_words import label_of
from ufo.schemas.labels import Label
from ufo.schemas.records import CATEGORIES, Failure, InputRecord
from ufo.schemas.tables import PAGE_SHEET
from ufo.schemas.text import replace_nul
from ufo.transforms.columns import FIELDS
from ufo.transforms.job import Job
from ufo.transforms.judges.by_name import JUDGES
from ufo.transforms.plugins import Registry
from ufo.transforms.read import parse
from ufo.transforms.scores import Selection
from ufo.transforms.sources.fact_source import SOURCES
from ufo.transforms.verifiers.by_name import VERIFIERS
from ufo.transforms.votes import SEQ
from ufo.webapp.response_models import GivenPassage, SourceAnswer
from ufo.webapp.service import Service

MAX_TEXT = 100_000
MAX_ITEMS = 2_000


Text = Annotated[str, Field(max_length=MAX_TEXT)]
Word = Annotated[str, Field(max_length=1_000)]
Line = Annotated[str, Field(min_length=1, max_length=5_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


def storable(value: Any) -> Any:
    """Return a JSON value without NUL in its texts.

    Raises:
        ValueError: half of a surrogate pair, which JSON can have and no table can store.
    """
    text = json.dumps(value, ensure_ascii=False, default=repr)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is not a character") from None
    return replace_nul(value) if "\\u0000" in text else value


_OPTIONS = {one.name: one for one in OF_REQUESTS}
_MOST_NAMES = 200


def _as_list(value: object) -> object:
    """Return a list of names, with each item split at its commas."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return value
    return [part.strip() for item in value for part in item.split(",")]


def _checked(option: Option, value: object, info: ValidationInfo) -> object:
    """Return the value of an option; a ValueError has the message of `ufo evaluate`."""
    if isinstance(value, str) and option.kind is not str and (info.config or {}).get("strict"):
        return value  # refused later: only in an address may a number be text
    try:
        return None if value is None else option.value_of(value)
    except UsageError as error:
        raise ValueError(error.message) from None


_INSTALLED: Mapping[str, Registry[Any]] = {
    "judge": JUDGES,
    "verifier": VERIFIERS,
    "sources": SOURCES,
}
"""The registry of the plug-ins that each of these options names."""


_LABEL = r"[^\W_]([\w-]{0,61}[^\W_])?"
_DOMAIN = rf"^(\*\.)?{_LABEL}(\.{_LABEL})*\.?$"


def _installed_name(option: str) -> Any:
    """Return the field type of an option whose values are the names of installed plug-ins."""
    registry = _INSTALLED[option]

    def list_names(schema: dict[str, Any]) -> None:
        schema["enum"] = registry.types()

    def check(name: str) -> str:
        try:
            require_installed(registry, name)
        except UsageError as error:
            raise ValueError(error.message) from None
        return name

    return Annotated[Name, AfterValidator(check), Field(json_schema_extra=list_names)]


def field_of(name: str) -> GetPydanticSchema:
    """Return the annotation of an option's field: its choices, bounds and help."""
    option = _OPTIONS[name]
    kind: Any = option.kind
    checked = BeforeValidator(partial(_checked, option))
    if option.choices:
        kind = Annotated[Literal[tuple(option.choices)], checked]
    elif option.low is not None:
        kind = Annotated[kind, Field(ge=option.low, le=option.high), checked]
    elif option.is_list:
        least = 1 if name == "sources" else 0
        item: Any = Name
        if name in _INSTALLED:
            item = _installed_name(name)
        elif name.endswith("_categories"):
            item = Literal[CATEGORIES]
        elif name.endswith("_domains"):
            item = Annotated[Name, Field(pattern=_DOMAIN)]
        names = Annotated[list[item], Field(min_length=least, max_length=_MOST_NAMES)]
        kind = Annotated[names, BeforeValidator(_as_list)]
    elif name in _INSTALLED:
        kind = _installed_name(name)
    elif kind is str:
        kind = Name
    description = Field(description=option.description)

    def schema(annotation: Any, handler: Callable[[Any], Any]) -> Any:
        optional = type(None) in get_args(annotation)
        return handler(Annotated[kind | None if optional else kind, description])

    return GetPydanticSchema(schema)


class RequestPart(BaseModel):
    """A part of a request. Unknown fields are errors, and so is "1" as a number."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class RequestBody(RequestPart):
    """The body of a request; a table can store its texts, at any depth."""

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, body: Any) -> Any:
        return storable(body)


class JudgeOptions(RequestBody):
    """The judge and its options; omitted ones are those that the service was started with."""

    judge: Annotated[str | None, field_of("judge")] = None
    verifier: Annotated[str | None, field_of("verifier")] = None
    model: Annotated[str | None, field_of("model")] = None
    extractor_model: Annotated[str | None, field_of("extractor_model")] = None
    formulation: Annotated[str | None, field_of("formulation")] = None
    verdict_labels: Annotated[str | None, field_of("verdict_labels")] = None
    explain: Annotated[str | None, field_of("explain")] = None
    citation: Annotated[bool | None, field_of("citation")] = None


class SourceOptions(JudgeOptions):
    """The fact sources, their order and their options."""

    sources: Annotated[list[str] | None, field_of("sources")] = None
    mode: Annotated[str | None, field_of("mode")] = None
    tie: Annotated[str | None, field_of("tie")] = None
    units: Annotated[str | None, field_of("units")] = None
    retriever: Annotated[str | None, field_of("retriever")] = None
    passages: Annotated[int | None, field_of("passages")] = None
    samples: Annotated[int | None, field_of("samples")] = None
    temperature: Annotated[float | None, field_of("temperature")] = None
    sampling: Annotated[str | None, field_of("sampling")] = None
    pages: Annotated[int | None, field_of("pages")] = None
    passages_per_page: Annotated[int | None, field_of("passages_per_page")] = None
    context_sentences: Annotated[int | None, field_of("context_sentences")] = None
    web_retriever: Annotated[str | None, field_of("web_retriever")] = None
    include_categories: Annotated[list[str] | None, field_of("include_categories")] = None
    exclude_categories: Annotated[list[str] | None, field_of("exclude_categories")] = None
    include_domains: Annotated[list[str] | None, field_of("include_domains")] = None
    exclude_domains: Annotated[list[str] | None, field_of("exclude_domains")] = None
    knowledge_model: Annotated[str | None, field_of("knowledge_model")] = None


class TextContext(RequestPart):
    """The context of a text: the question that it answers, and its language."""

    question: Text | None = Field(default=None, description="what the text answers")
    language: Word | None = None


class ExtractRequest(JudgeOptions, TextContext):
    """A text to split into sentences and fact units."""

    text: Text = Field(min_length=1)
    units: Annotated[str | None, field_of("units")] = None


class CheckRequest(SourceOptions, TextContext):
    """A text to check."""

    text: Text = Field(min_length=1, description="what is checked")
    references: list[Text] = Field(
        [], max_length=100, description="trusted texts, for the source `reference`"
    )


class SearchRequest(RequestBody):
    """Queries to the server's index."""

    queries: list[Line] = Field(min_length=1, max_length=100)
    passages: Annotated[int | None, field_of("passages")] = None
    retriever: Annotated[str | None, field_of("retriever")] = None


class Claim(RequestPart):
    """A claim, and the query that would settle it (made where it is missing)."""

    claim: Line
    query: Text | None = None


class PassedResponse(TextContext):
    """The response of the units; unused fields are allowed."""

    model_config = ConfigDict(extra="ignore")

    text: Text = Field(pattern=r"\S")


class PassedUnit(Claim):
    """A fact unit; unused fields are allowed."""

    model_config = ConfigDict(extra="ignore")

    sentence_index: int | None = Field(None, ge=0)


class AfterExtract(TextContext):
    """Claims, or the response of `/extract`. Fields that are only passed on have no effect."""

    claims: list[Claim] = Field([], min_length=1, max_length=100)
    text: Text | None = Field(
        None, pattern=r"\S", description="what the claims are from, as their context"
    )
    response: PassedResponse | None = None
    fact_units: list[PassedUnit] = Field(
        [], max_length=MAX_ITEMS, description="those of /extract, with its `response`"
    )
    sentences: list[Any] = Field([], max_length=MAX_ITEMS, description="passed on")
    failures: list[Any] = Field([], max_length=MAX_ITEMS, description="passed on")
    usage: list[Any] = Field([], max_length=50_000, description="passed on")


class PassagesRequest(SourceOptions, AfterExtract):
    """Claims to retrieve passages for, or the whole response of `/extract`."""

    references: list[Text] = Field([], max_length=100)


class VerifyRequest(JudgeOptions, AfterExtract):
    """Claims and passages, or the response of `/passages`.

    With claims and passages, every claim is checked against every passage. With the response of
    `/passages`, every claim is checked against its own passages, source by source."""

    passages: list[GivenPassage] = Field([], min_length=1, max_length=100)
    answers: list[SourceAnswer] | None = Field(
        None, max_length=50_000, description="in place of `passages`"
    )
    mode: Annotated[str | None, field_of("mode")] = None
    tie: Annotated[str | None, field_of("tie")] = None


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


class ScoreRequest(RequestBody):
    """Evidence, and the selection that counts."""

    fact_units: list[ScoreUnit] = Field(max_length=MAX_ITEMS)
    evidence: list[ScoreEvidence] = Field(max_length=50_000)
    passages: list[ScorePassage] = Field([], max_length=50_000)
    sources: list[Name] = Field(max_length=20, description="in the order they are asked")
    n_sentences: int = Field(ge=0, le=MAX_ITEMS)
    mode: Annotated[str, field_of("mode")] = SEQ
    tie: Annotated[str, field_of("tie")] = NOT_FACTUAL
    extraction_failed: bool = Field(
        False,
        description="whether a sentence without a claim may be one that a failed extraction lost",
    )
    without_passages: list[Word] = Field([], max_length=50_000)
    without_categories: list[Name] = Field([], max_length=50)
    only_categories: list[Name] | None = Field(None, max_length=50)
    without_domains: list[Name] = Field([], max_length=200)
    only_domains: list[Name] | None = Field(None, max_length=200)


class LeaveOut(BaseModel):
    """The evidence that a reader left out of a result; the scores are those of the rest."""

    # These are in an address, whose length the server limits (`server.py`).
    without: list[Annotated[str, Field(max_length=250)]] = Field(
        [], max_length=500, description="ids of passages"
    )
    without_category: list[Name] = Field([], max_length=50)

    @property
    def selection(self) -> Selection | None:
        """The selection, None where all evidence counts."""
        if not (self.without or self.without_category):
            return None
        return Selection(self.without, self.without_category)


class LabelRequest(RequestBody):
    """The label of a fact unit of a run or a result; without a label the saved one is removed."""

    response_id: Line
    unit_id: Name
    label: Annotated[float | None, BeforeValidator(label_of)] = Field(
        None,
        description="1: the claim is true; 0: it is false; or a word as in a label sheet",
    )
    note: Word | None = Field(None, description="a comment, as on why the verdict is wrong")

    def of_run(self, run: str) -> Label:
        """Return the row of `labels` for a run; the result of a check has the run ""."""
        columns = self.model_dump()
        return Label(
            run, **columns, stratum=None, weight=None, annotator=PAGE_SHEET, sheet=PAGE_SHEET
        )


_COLUMN_OF_KEY = rf"\s*({'|'.join(FIELDS)})\s*=[^=,]*[^=,\s][^=,]*"
_COLUMN_OF_KEYS = f"^{_COLUMN_OF_KEY}(,{_COLUMN_OF_KEY})*$"


class UploadOptions(SourceOptions):
    """The options of an upload. `name` is its name in lists."""

    model_config = ConfigDict(strict=False)  # all values in an address are text

    name: Name = "upload"
    map: Word | None = Field(
        None,
        pattern=_COLUMN_OF_KEYS,
        description="its columns that are called otherwise: `response=output,question=prompt`",
    )


_FLAGS = set(SourceOptions.model_fields) - {"sources"}


def job_of(service: Service, asked: JudgeOptions, sources: Sequence[str] | None) -> Job:
    """Return the job that a request describes.

    Raises:
        UsageError: a source or an option is wrong, or cannot serve here.
    """
    if asked.judge and not service.reaches_models and JUDGES.load(asked.judge).needs_endpoint:
        raise DoesNotFit(
            f"the judge {asked.judge!r} needs an endpoint: start the service with OPENAI_API_KEY "
            "or --base_url"
        )
    flags = {"index": service.setup.index, **flags_of(service, asked, sources)}
    return job_of_text(flags, sources or service.setup.sources)


def require_installed(registry: Registry[Any], *names: str | None) -> None:
    """Raise UsageError for a plug-in that is not installed under a name.

    On a command line, but never in a request, a plug-in may be a file with code or a model to
    fetch.
    """
    for name in names:
        if name is not None and name not in registry.types():
            raise UsageError(unknown_value(registry.noun, name, registry.types()))


def flags_of(
    service: Service, asked: JudgeOptions, sources: Sequence[str] | None
) -> dict[str, Any]:
    """Return the flags of `ufo evaluate` for a request: its own and those of the service."""
    values = asked.model_dump(include=_FLAGS, exclude_none=True)
    if isinstance(asked, VerifyRequest):
        del values["passages"]  # in this request the passages themselves, not their number
    words = {name: ",".join(value) for name, value in values.items() if isinstance(value, list)}
    return fitting_flags(service.setup.flags, values | words, sources or service.setup.sources)


def record_of(
    asked: TextContext,
    text: str,
    references: Sequence[str] = (),
    claims: Sequence[Claim | PassedUnit] | None = None,
) -> InputRecord:
    """Return the input record of a text; `claims` are used in place of extraction.

    Raises:
        UsageError: the text is blank.
    """
    row: dict[str, Any] = {
        "response": text,
        "question": asked.question,
        "reference_answers": list(references),
        "language": asked.language,
    }
    if claims is not None:
        row["claims"] = [one.model_dump() for one in claims]
    record = parse("text", json.dumps(row).encode(), max_line_bytes=1 << 30)
    if isinstance(record, Failure):
        raise UsageError(record.message.replace("`response`", "`text`"))
    return record
