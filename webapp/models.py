"""Declare the service's requests.

Every text is checked for what no table could hold, and every list and text has a largest size: what
is beyond it is refused with the limit, not cut.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema

from ufo.schemas.text import without_nul
from ufo.transforms.judges.llm.llm_settings import LLM_OPTIONS

MAX_TEXT = 100_000
MAX_ITEMS = 2_000


def _storable(text: str) -> str:
    # JSON can say half of a surrogate pair; no UTF-8 and no table can hold it.
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("has half of a surrogate pair, which is not a character") from None
    return str(without_nul(text))


Text = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_storable)]
Word = Annotated[str, Field(max_length=1_000), AfterValidator(_storable)]
Line = Annotated[str, Field(min_length=1, max_length=5_000), AfterValidator(_storable)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_storable)]

Mode = Literal["seq", "mv", "single", "all"]
Tie = Literal["not_factual", "factual"]
Units = Literal["claim", "sentence"]
Retriever = Literal["bm25", "dense", "hybrid"]


def _declared(name: str) -> GetPydanticSchema:
    """Restrict a text to the values that the LLM judge declares for this option."""
    values: Any = Literal[LLM_OPTIONS[name]["option"]["choices"]]
    return GetPydanticSchema(lambda _, handler: handler(values))


class Given(BaseModel):
    """The body of a request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


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


class About(Given):
    """What is known of a text: the question that it answers, and its language."""

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


class Claim(Given):
    """A claim, and the query that would settle it (made where it is missing)."""

    claim: Line
    query: Text | None = None


class Passed(BaseModel):
    """An object from the response of another step; fields that are not used may stay in it."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class PassedResponse(About, Passed):
    """The response that the units are of."""

    text: Text


class PassedUnit(Claim):
    """A fact unit; fields that are not used may stay in it."""

    model_config = ConfigDict(extra="ignore")

    sentence_index: int | None = Field(None, ge=0)


class PassedPassage(Passed):
    """A passage, with the fields that judges and tables use."""

    text: Text = Field(min_length=1)
    title: Word | None = None
    section: Word | None = None
    url: Word | None = None
    hostname: Word | None = None
    source_category: Word | None = None
    published_at: Word | None = None
    retrieved_at: Word | None = None
    source: Word = ""
    passage_id: Word = ""


class PassedHit(Passed):
    """A passage, as a source ranked it."""

    score: float | None = None
    passage: PassedPassage


class PassedAnswer(Passed):
    """The passages of one source for one claim."""

    source: Name
    claim: Line
    hits: list[PassedHit] = Field([], max_length=1_000)
    outcome: Literal["noans", "error"] | None = None
    reason: Word | None = None
    message: Word | None = None


class AfterExtract(About):
    """Claims, or the response of `/extract`. Fields that are only passed on have no effect."""

    claims: list[Claim] = Field([], max_length=100)
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
    """Claims and passages, and every claim is held against every passage; or all that `/passages`
    gave, and every claim is held against its own, source by source."""

    passages: list[PassedPassage] = Field([], max_length=100)
    answers: list[PassedAnswer] | None = Field(
        None, max_length=50_000, description="in place of `passages`"
    )
    mode: Mode = Field("seq", description="of `answers`")
    tie: Tie = "not_factual"
    text: Text | None = Field(None, description="what the claims are from, as their context")


class ScoreUnit(Given):
    """A fact unit, as far as scores depend on it."""

    unit_id: Name
    sentence_index: int | None = Field(None, ge=0, lt=MAX_ITEMS)


class ScoreEvidence(Given):
    """A row of evidence, as far as scores depend on it."""

    unit_id: Name
    source: Name
    passage_id: Word | None = None
    outcome: Literal["supported", "refuted", "noans", "error"]
    reason: Word | None = None


class ScorePassage(Given):
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
    without_passages: list[Word] = Field([], max_length=50_000)
    without_categories: list[Name] = Field([], max_length=50)
    only_categories: list[Name] | None = Field(None, max_length=50)
    without_domains: list[Name] = Field([], max_length=200)
    only_domains: list[Name] | None = Field(None, max_length=200)


class LabelRequest(Given):
    """The label of a fact unit of a run; without a label and a tag the saved one is removed."""

    response_id: Line
    unit_id: Name
    label: Literal[0, 1] | None = Field(None, description="1: the claim is true; 0: it is false")
    tag: Literal["wrong_claim", "wrong_evidence", "wrong_judgement"] | None = Field(
        None, description="why the verdict is wrong"
    )
    note: Word | None = None


class UploadOptions(Asking):
    """The options of an upload. `name` is its name in lists."""

    name: Name = "upload"
    map: Word | None = Field(
        None, description="its columns that are called otherwise: `response=output,question=prompt`"
    )
