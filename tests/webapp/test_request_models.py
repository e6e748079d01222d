"""What a request may have: the sizes and values of each field, and where each of them goes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ufo.pipelines.options.groups import OF_REQUESTS
from ufo.schemas.errors import UsageError
from ufo.webapp.browsing import Filters
from ufo.webapp.drafts import TextDraft
from ufo.webapp.request_models import (
    CheckRequest,
    ExtractRequest,
    LabelRequest,
    PassagesRequest,
    ScoreRequest,
    SearchRequest,
    UploadOptions,
    VerifyRequest,
    flags_of,
    storable,
)
from ufo.webapp.response_models import SourceAnswer
from ufo.webapp.service import Service, Setup

CLAIM = {"claim": "c"}
UNIT = {"unit_id": "u"}
FOUND = {"unit_id": "u", "source": "s", "outcome": "noans"}
ANSWER = {"source": "s", "claim": "c"}
NEEDED: dict[type[BaseModel], dict[str, Any]] = {
    CheckRequest: {"text": "t"},
    ExtractRequest: {"text": "t"},
    PassagesRequest: {},
    VerifyRequest: {},
    SearchRequest: {"queries": ["q"]},
    ScoreRequest: {"fact_units": [], "evidence": [], "sources": [], "n_sentences": 0},
    LabelRequest: {"response_id": "r", "unit_id": "u"},
    UploadOptions: {},
    TextDraft: {"text": "t"},
    SourceAnswer: ANSWER,
    Filters: {},
}


def taken(kind: type[BaseModel], field: str, value: Any) -> bool:
    """Whether a request with this value is taken. An error of another field is raised."""
    try:
        kind.model_validate(NEEDED[kind] | {field: value})
    except ValidationError as error:
        if {one["loc"][0] for one in error.errors()} != {field}:
            raise
        return False
    return True


def named(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    return [f"{kind.__name__}.{field}" for kind, field, *_ in rows]


# The most characters of a text; one that is needed may not be empty.
TEXTS = [
    *((kind, "text", 1, 100_000) for kind in (CheckRequest, ExtractRequest, TextDraft)),
    *((kind, "text", 1, 100_000) for kind in (PassagesRequest, VerifyRequest)),
    *((kind, "question", 0, 100_000) for kind in (CheckRequest, ExtractRequest, TextDraft)),
    *((kind, "language", 0, 1_000) for kind in (CheckRequest, VerifyRequest)),
    *((ExtractRequest, name, 1, 200) for name in ("model", "extractor_model")),
    (CheckRequest, "knowledge_model", 1, 200),
    (LabelRequest, "response_id", 1, 5_000),
    (LabelRequest, "unit_id", 1, 200),
    (LabelRequest, "note", 0, 1_000),
    (UploadOptions, "name", 1, 200),
    *((Filters, name, 0, 1_000) for name in ("text", "model", "dataset", "question")),
]


@pytest.mark.parametrize(("kind", "field", "least", "most"), TEXTS, ids=named(TEXTS))
def test_a_text_has_so_many_characters(
    kind: type[BaseModel], field: str, least: int, most: int
) -> None:
    assert taken(kind, field, "a" * least)
    assert taken(kind, field, "a" * most)
    assert not taken(kind, field, "a" * (most + 1))
    if least:
        assert not taken(kind, field, "")


# The least and the most items of a list, with an item.
LISTS: list[tuple[type[BaseModel], str, Any, int, int]] = [
    (CheckRequest, "sources", "web", 1, 200),
    *((CheckRequest, f"{how}_categories", "news", 0, 200) for how in ("include", "exclude")),
    *((CheckRequest, f"{how}_domains", "d", 0, 200) for how in ("include", "exclude")),
    *((kind, "references", "r", 0, 100) for kind in (CheckRequest, PassagesRequest, TextDraft)),
    (SearchRequest, "queries", "q", 1, 100),
    *((kind, "claims", CLAIM, 1, 100) for kind in (PassagesRequest, VerifyRequest)),
    *((VerifyRequest, name, CLAIM, 0, 2_000) for name in ("fact_units", "sentences", "failures")),
    (VerifyRequest, "passages", {"text": "t"}, 1, 100),
    (ScoreRequest, "fact_units", UNIT, 0, 2_000),
    (ScoreRequest, "sources", "s", 0, 20),
    *((ScoreRequest, f"{how}_categories", "c", 0, 50) for how in ("without", "only")),
    *((ScoreRequest, f"{how}_domains", "d", 0, 200) for how in ("without", "only")),
]


@pytest.mark.parametrize(("kind", "field", "item", "least", "most"), LISTS, ids=named(LISTS))
def test_a_list_has_so_many_items(
    kind: type[BaseModel], field: str, item: Any, least: int, most: int
) -> None:
    assert taken(kind, field, [item] * least)
    assert taken(kind, field, [item] * most)
    assert not taken(kind, field, [item] * (most + 1))
    if least:
        assert not taken(kind, field, [])


LONG_LISTS = [
    *((VerifyRequest, field) for field in ("usage", "answers")),
    *((ScoreRequest, field) for field in ("evidence", "passages", "without_passages")),
]


@pytest.mark.parametrize(("kind", "field"), LONG_LISTS, ids=named(LONG_LISTS))
def test_a_long_list_has_fifty_thousand_items(kind: type[BaseModel], field: str) -> None:
    described = kind.model_json_schema()["properties"][field]
    kinds = [described, *described.get("anyOf", ())]
    assert [one["maxItems"] for one in kinds if "maxItems" in one] == [50_000]


# The least and the most of a number, and the steps that are tried beyond them.
NUMBERS: list[tuple[type[BaseModel], str, float, float, float]] = [
    *(
        (kind, flag.name, flag.low, flag.high, 1 if flag.kind is int else 0.001)
        for kind in (CheckRequest, PassagesRequest, UploadOptions)
        for flag in OF_REQUESTS
        if flag.low is not None and flag.high is not None
    ),
    (SearchRequest, "passages", 1, 1000, 1),
    (ScoreRequest, "n_sentences", 0, 2_000, 1),
    (LabelRequest, "label", 0, 1, 1),
    (Filters, "min_score", 0, 1, 0.001),
    (Filters, "max_score", 0, 1, 0.001),
    (Filters, "offset", 0, 1_000_000_000, 1),
    (Filters, "limit", 1, 200, 1),
]


@pytest.mark.parametrize(("kind", "field", "least", "most", "step"), NUMBERS, ids=named(NUMBERS))
def test_a_number_lies_between(
    kind: type[BaseModel], field: str, least: float, most: float, step: float
) -> None:
    assert taken(kind, field, least)
    assert taken(kind, field, most)
    assert not taken(kind, field, least - step)
    assert not taken(kind, field, most + step)


# A field of a list, an item of it that is taken, and one that is not.
ITEMS: list[tuple[type[BaseModel], str, Any, Any]] = [
    (
        ScoreRequest,
        "fact_units",
        {**UNIT, "sentence_index": 1_999},
        {**UNIT, "sentence_index": 2_000},
    ),
    (ScoreRequest, "fact_units", {**UNIT, "sentence_index": 0}, {**UNIT, "sentence_index": -1}),
    (ScoreRequest, "evidence", {**FOUND, "reason": "r" * 1_000}, {**FOUND, "reason": "r" * 1_001}),
    (ScoreRequest, "evidence", {**FOUND, "source": "r" * 200}, {**FOUND, "source": "r" * 201}),
    (ScoreRequest, "passages", {"passage_id": "p" * 1_000}, {"passage_id": "p" * 1_001}),
    (ScoreRequest, "without_passages", "p" * 1_000, "p" * 1_001),
    (SearchRequest, "queries", "q" * 5_000, "q" * 5_001),
    (SearchRequest, "queries", "q", ""),
    (VerifyRequest, "claims", {"claim": "c" * 5_000}, {"claim": "c" * 5_001}),
    (VerifyRequest, "claims", {**CLAIM, "query": ""}, {"claim": ""}),
    (CheckRequest, "references", "r" * 100_000, "r" * 100_001),
    (CheckRequest, "sources", "reference", "other"),
    (CheckRequest, "include_categories", "wiki", "pedia"),
    (CheckRequest, "exclude_domains", "*.bücher.example", "https://a.org/path"),
    (VerifyRequest, "passages", {"text": "t"}, {"text": 1}),
    # A field of a claim is known or wrong; one of a unit is passed on.
    (VerifyRequest, "claims", CLAIM, {**CLAIM, "other": 1}),
    (VerifyRequest, "fact_units", {**CLAIM, "other": 1}, {**CLAIM, "sentence_index": -1}),
]


@pytest.mark.parametrize(("kind", "field", "within", "beyond"), ITEMS, ids=named(ITEMS))
def test_an_item_of_a_list_has_limits_too(
    kind: type[BaseModel], field: str, within: Any, beyond: Any
) -> None:
    assert taken(kind, field, [within])
    assert not taken(kind, field, [beyond])


WORDS: list[tuple[type[BaseModel], str, str]] = [
    *(
        (kind, flag.name, " ".join(flag.choices))
        for kind in (CheckRequest, PassagesRequest, UploadOptions)
        for flag in OF_REQUESTS
        if flag.choices
    ),
    *((kind, "mode", "seq mv single all") for kind in (CheckRequest, VerifyRequest, ScoreRequest)),
    *((kind, "tie", "factual not_factual") for kind in (CheckRequest, VerifyRequest, ScoreRequest)),
    *((kind, "units", "claim sentence") for kind in (CheckRequest, ExtractRequest)),
    *((kind, "retriever", "bm25 dense hybrid") for kind in (CheckRequest, SearchRequest)),
    (CheckRequest, "web_retriever", "bm25 dense"),
    (CheckRequest, "sampling", "per_query bundled"),
    (SourceAnswer, "outcome", "noans error"),
    (
        Filters,
        "sort",
        "score -score credibility -credibility coverage -coverage id -id model -model dataset "
        "-dataset units -units disagreements errors contradicted",
    ),
]


@pytest.mark.parametrize(("kind", "field", "words"), WORDS, ids=named(WORDS))
def test_a_word_is_one_of_these(kind: type[BaseModel], field: str, words: str) -> None:
    refused = [word for word in words.split() if not taken(kind, field, word)]
    assert refused == []
    for other in ("", "other", words.split()[0].upper(), f" {words.split()[0]}"):
        assert not taken(kind, field, other)


@pytest.mark.parametrize("outcome", ["supported", "refuted", "noans", "error"])
def test_evidence_of_each_outcome_is_scored(outcome: str) -> None:
    assert taken(ScoreRequest, "evidence", [{**FOUND, "outcome": outcome}])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("field", ["temperature", "min_score", "max_score"])
def test_a_number_is_finite(field: str, value: float) -> None:
    assert not taken(CheckRequest if field == "temperature" else Filters, field, value)


@pytest.mark.parametrize("kind", [kind for kind in NEEDED if kind not in (SourceAnswer, Filters)])
def test_an_unknown_field_is_an_error(kind: type[BaseModel]) -> None:
    assert not taken(kind, "nonsense", 1)


DEFAULTS: dict[type[BaseModel], dict[str, Any]] = {
    CheckRequest: {"references": []},
    ExtractRequest: {},
    SearchRequest: {},
    VerifyRequest: {"passages": [], "claims": [], "fact_units": []},
    ScoreRequest: {
        "mode": "seq",
        "tie": "not_factual",
        "extraction_failed": False,
        "passages": [],
        "without_passages": [],
        "without_categories": [],
        "without_domains": [],
    },
    UploadOptions: {"name": "upload"},
    TextDraft: {"question": "", "references": []},
    Filters: {
        "disagreement": False,
        "failures": False,
        "undecided": False,
        "sort": "score",
        "offset": 0,
        "limit": 50,
    },
    PassagesRequest: {"claims": [], "fact_units": []},
}
LISTS_ONLY = ("sentences", "failures", "usage", "references")


@pytest.mark.parametrize("kind", DEFAULTS)
def test_what_is_not_given_has_these_values_or_none(kind: type[BaseModel]) -> None:
    values = kind.model_validate(NEEDED[kind]).model_dump()
    others = values.keys() - DEFAULTS[kind].keys() - NEEDED[kind].keys() - set(LISTS_ONLY)
    assert {name: values[name] for name in DEFAULTS[kind]} == DEFAULTS[kind]
    assert {name: values[name] for name in others} == dict.fromkeys(others)


# --- texts that tables cannot store ---


@pytest.mark.parametrize("code", [0xD800, 0xDFFF])
def test_half_of_a_surrogate_pair_is_refused_at_any_depth(code: int) -> None:
    half = chr(code)
    for nested in (half, [half], {"a": half}, {"a": [{"b": f"text {half}"}]}):
        with pytest.raises(ValueError, match="half of a surrogate pair"):
            storable(nested)


def test_a_name_of_a_field_is_checked_too() -> None:
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        storable({"\ud800": 1})


def test_nul_is_replaced_and_all_else_stays() -> None:
    nested = {"a\0": ["\0b", {"c": "🛸\0"}], "n": 1, "none": None}
    expected = {"a\ufffd": ["\ufffdb", {"c": "🛸\ufffd"}], "n": 1, "none": None}
    assert storable(nested) == expected
    assert storable("\\u0000") == "\\u0000"


# --- where the fields go ---

JUDGING = {
    "judge": "llm",
    "verifier": "bundled",
    "model": "m1",
    "extractor_model": "m2",
    "formulation": "prompt",
    "verdict_labels": "tfn",
    "explain": "short",
    "citation": True,
}
ASKING = {
    "mode": "mv",
    "tie": "factual",
    "units": "sentence",
    "retriever": "hybrid",
    "web_retriever": "dense",
    "passages": 7,
    "pages": 6,
    "passages_per_page": 4,
    "context_sentences": 3,
    "include_categories": ["news", "wiki"],
    "exclude_categories": ["blog", "other"],
    "include_domains": ["a.org", "b.org"],
    "exclude_domains": ["c.org", "d.org"],
    "knowledge_model": "m3",
    "samples": 9,
    "temperature": 0.5,
    "sampling": "bundled",
}
FLAGS = JUDGING | {
    name: ",".join(value) if isinstance(value, list) else value for name, value in ASKING.items()
}
CLAIMS = {"claims": [{"claim": "Oslo is big."}]}
PASSED = {"passages": [{"text": "Oslo is big."}]}
DOORS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "/check": ({"text": "t"} | JUDGING | ASKING, FLAGS),
    "/passages": (CLAIMS | JUDGING | ASKING, FLAGS),
    "/extract": (
        {"text": "t", "units": "sentence"} | JUDGING,
        {"units": "sentence"} | JUDGING,
    ),
    "/verify": (
        CLAIMS | PASSED | JUDGING | {"mode": "mv", "tie": "factual"},
        JUDGING | {"mode": "mv", "tie": "factual"},
    ),
}


KINDS: dict[str, Any] = {
    "/check": CheckRequest,
    "/passages": PassagesRequest,
    "/extract": ExtractRequest,
    "/verify": VerifyRequest,
}


@pytest.mark.parametrize("path", DOORS)
def test_every_option_of_a_request_is_an_option_of_its_job(
    base: Setup, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked, expected = DOORS[path]
    service = Service(replace(base, flags={"judge": "offline"}))
    assert flags_of(service, KINDS[path].model_validate(asked), None) == expected


def test_a_list_of_a_query_may_have_words_with_commas() -> None:
    asked = UploadOptions.model_validate({"sources": ["wikipedia,reference", "web"]})
    assert asked.sources == ["wikipedia", "reference", "web"]
    assert not taken(UploadOptions, "exclude_domains", ["a.org,"])
    assert not taken(CheckRequest, "exclude_domains", "a.org,b.org")


def test_only_a_query_has_numbers_and_switches_as_words() -> None:
    asked = UploadOptions.model_validate({"passages": "7", "temperature": "1", "citation": "true"})
    assert (asked.passages, asked.temperature, asked.citation) == (7, 1.0, True)
    for name, value in (("passages", "7"), ("temperature", "1"), ("citation", "true")):
        assert not taken(CheckRequest, name, value)


@pytest.mark.parametrize(
    ("text", "is_map"),
    [
        ("response=Best Answer,question=Question", True),
        (" response = output ", True),
        ("response=", False),
        ("response", False),
        ("answer=output", False),
        ("response=a=b", False),
    ],
)
def test_a_map_names_keys_and_columns(text: str, is_map: bool) -> None:
    assert taken(UploadOptions, "map", text) is is_map


@pytest.mark.parametrize(
    ("name", "value"),
    [("passages", 0), ("passages", 2.5), ("passages", True), ("temperature", 9), ("tie", "fact")],
)
def test_a_wrong_value_is_refused_in_the_words_of_the_flag(name: str, value: object) -> None:
    (option,) = (one for one in OF_REQUESTS if one.name == name)
    with pytest.raises(UsageError) as error:
        option.value_of(value)
    with pytest.raises(ValidationError) as refused:
        CheckRequest.model_validate({"text": "t", name: value})
    assert refused.value.errors()[0]["msg"] == f"Value error, {error.value.message}"


def test_the_model_of_a_request_may_have_a_form_that_a_default_does_not_fit(
    base: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    flags = {"base_url": "http://localhost:1/v1", "judge": "llm", "explain": "none"}
    asked = CheckRequest.model_validate({"text": "t", "model": "lynx-8b"})
    assert "explain" not in flags_of(Service(replace(base, flags=flags)), asked, None)
