"""Every option: through each door, at the ends of its range, in the fingerprint, and its effect."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipelines.conftest import settings_of, ufo
from tests.transforms.judges.stated import STATED
from ufo.pipelines.options import command_line
from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.options.groups import GROUPS, OF_SERVICE, OF_TEXT, WebOptions
from ufo.pipelines.options.jobs import job_of, recall_job_of
from ufo.pipelines.options.option import Parser, options_of
from ufo.pipelines.options.settings import RECALL_GROUPS, RecallSettings, Settings
from ufo.schemas.errors import UsageError
from ufo.transforms.job import IN_FLIGHT
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.plugins import Spec
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.transforms.sources.llm import LlmSource
from ufo.transforms.sources.web.source import WebSource
from ufo.transforms.sources.wikipedia import WikipediaSource

Given = Mapping[str, Any]

URL = "http://models.example/v1"
BASE: Given = {"input": ["in.jsonl"], "output": "out", "judge": "llm", "base_url": URL}
# Of each option a value that is not its default, as a configuration file or Python gives it.
VALUES: Given = {
    "input": ["a.jsonl", "b.jsonl"],
    "output": "elsewhere",
    "map": {"response": "output", "question": "prompt"},
    "max_line_bytes": 500,
    "json": True,
    "log_format": "json",
    "sources": "wikipedia,reference",
    "mode": "mv",
    "tie": "factual",
    "units": "sentence",
    "index": "indexes/wiki",
    "retriever": "hybrid",
    "embedder": "openai:small",
    "passages": 7,
    "samples": 3,
    "temperature": 0.5,
    "sampling": "bundled",
    "search": "brave",
    "pages": 9,
    "passages_per_page": 4,
    "context_sentences": 2,
    "web_retriever": "dense",
    "include_categories": "news",
    "exclude_categories": "blog",
    "include_domains": "*.gov",
    "exclude_domains": "example.com",
    "web_snapshot": "snapshot",
    "allow_private_hosts": True,
    "judge": "offline",
    "verifier": STATED,
    "formulation": "stepwise",
    "verdict_labels": "tf",
    "explain": "none",
    "citation": True,
    "format": "xml",
    "repairs": 0,
    "as_published": True,
    "passages_per_call": 11,
    "facts_per_call": 12,
    "extract_tokens": 600,
    "prompts": "prompts",
    "model": "m-judge",
    "base_url": "http://other.example/v1",
    "extractor_model": "m-extractor",
    "extractor_base_url": "http://extractor.example/v1",
    "knowledge_model": "m-knowledge",
    "knowledge_base_url": "http://knowledge.example/v1",
    "header": ["X-A=VAR_A", "X-B=VAR_B"],
    "body_json": '{"top_k": 1}',
    "reasoning_effort": "low",
    "context": 8000,
    "concurrency": 17,
    "requests_per_minute": 18,
    "tokens_per_minute": 19,
    "timeout": 2.5,
    "retry_seconds": 3.5,
    "cache": "/caches/answers.sqlite",
    "no_share": True,
    "max_cost": 4.5,
    "prices": "prices.yaml",
    "batch": True,
    "batch_wait": 5.5,
    "batch_requests": 20,
    "batch_mb": 6.5,
    "batch_endpoints": ["http://a.example/v1", "http://b.example/v1"],
    "title": "A title",
    "run": "nightly",
    "if_finished": "skip",
    "since": "yesterday",
    "fresh": True,
    "streaming": True,
    "window_seconds": 7.5,
    "idle_seconds": 8.5,
    "workers": 2,
    "chunk_size": 21,
    "fail_under": 0.25,
    "no_claim": "fail",
    "min_scored": 0.75,
    "baseline": "good",
    "fail_if_worse": 0.125,
    "least_shared": 0.375,
    "dry_run": True,
}
READ_ELSEWHERE = {"config", "secrets"}
"""The file of the other options, and what is read from a cloud's secrets."""
# What an option cannot be without.
NEEDS: Mapping[str, Given] = {
    **{name: {"streaming": True} for name in ("window_seconds", "idle_seconds")},
    **{f"batch_{name}": {"batch": True} for name in ("wait", "requests", "mb", "endpoints")},
    "no_claim": {"fail_under": 0.5},
    "fail_if_worse": {"baseline": "good"},
    "least_shared": {"baseline": "good"},
    "verifier": {"judge": "offline"},
}
# Of these options, what the settings have where it is not the value itself.
BECOMES: Given = {
    "input": ("a.jsonl", "b.jsonl"),
    "sources": ("wikipedia", "reference"),
    "judge": Spec("offline", "offline"),
}


def keywords_with(name: str) -> dict[str, Any]:
    """The values of a command with this option."""
    return {**BASE, **NEEDS.get(name, {}), name: VALUES[name]}


def as_words(values: Given) -> list[str]:
    words: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={item}" for key, item in value.items())
        items = [] if value is True else value if isinstance(value, list) else [value]
        words += [f"--{name}", *map(str, items)]
    return words


def arrived(name: str, value: Any) -> Any:
    """What the settings have of it."""
    return BECOMES.get(name, value)


def test_every_option_has_a_value_here() -> None:
    names = {one.name for options in GROUPS.values() for one in options}
    assert names - READ_ELSEWHERE == set(VALUES)


def test_no_value_here_is_a_default() -> None:
    defaults = {one.name: one.default for options in GROUPS.values() for one in options}
    assert [name for name, value in VALUES.items() if value == defaults[name]] == []


# What an option is where it is not given; of an option of a source or the judge, there.
DEFAULTS: Mapping[type, Given] = {
    Settings: {
        "if_finished": "replace",
        "mode": "seq",
        "tie": "not_factual",
        "units": "claim",
        "log_format": "text",
        "concurrency": 64,
        "max_line_bytes": 4 * 1024 * 1024,
        "batch_requests": 50_000,
        "batch_mb": 200.0,
    },
    RecallSettings: {"if_finished": "replace", "facts_only": False},
    LlmSettings: {
        "formulation": "function",
        "verdict_labels": "tfn",
        "explain": "short",
        "citation": False,
        "format": "json",
        "repairs": 1,
        "passages_per_call": 100,
        "facts_per_call": 40,
        "as_published": False,
        "extract_tokens": 2000,
    },
    LlmSource: {"samples": 5, "temperature": 1.0, "sampling": "per_query"},
    WikipediaSource: {"passages": 5, "retriever": "bm25", "embedder": None},
    WebSource: {
        "search": "serper",
        "pages": 5,
        "passages_per_page": 1,
        "context_sentences": 1,
        "web_retriever": "bm25",
        "include_categories": "",
        "exclude_categories": "",
        "include_domains": "",
        "exclude_domains": "",
        "allow_private_hosts": False,
        "web_snapshot": None,
    },
}


@pytest.mark.parametrize("taker", DEFAULTS, ids=lambda taker: taker.__name__)
def test_the_defaults_of(taker: type) -> None:
    defaults = {name: one.default for name, one in signature(taker).parameters.items()}
    assert {name: defaults[name] for name in DEFAULTS[taker]} == DEFAULTS[taker]


# --- doors


def from_flags(values: Given, folder: Path) -> Settings:
    return settings_of(*as_words(values))


def from_file(values: Given, folder: Path) -> Settings:
    path = folder / "ufo.yaml"
    path.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
    return settings_of("--config", str(path))


def from_python(values: Given, folder: Path) -> Settings:
    return command_line.settings_of(values)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(
    "door",
    [
        pytest.param(from_flags, id="flag"),
        pytest.param(from_file, id="configuration file"),
        pytest.param(from_python, id="Python keyword"),
    ],
)
def test_an_option_arrives_and_changes_no_other(
    tmp_path: Path, door: Callable[[Given, Path], Settings], name: str
) -> None:
    without = door({**BASE, **NEEDS.get(name, {})}, tmp_path)
    settings = door(keywords_with(name), tmp_path)
    assert getattr(settings, name) == arrived(name, VALUES[name])
    others = {one.name for one in options_of(Settings)} - {name, "config"}
    assert [one for one in others if getattr(settings, one) != getattr(without, one)] == []


def test_a_switch_that_is_false_in_a_file_is_as_if_it_were_not_given(tmp_path: Path) -> None:
    switches = {name: False for name, value in VALUES.items() if value is True}
    settings, without = from_file({**BASE, **switches}, tmp_path), from_file(BASE, tmp_path)
    assert [name for name in switches if getattr(settings, name) != getattr(without, name)] == []


def test_sources_are_also_a_list_in_a_file(tmp_path: Path) -> None:
    settings = from_file({**BASE, "sources": ["wikipedia", "reference"]}, tmp_path)
    assert settings.sources == ("wikipedia", "reference")


@pytest.mark.parametrize("name", ["input", "output"])
def test_without_it_there_is_no_command(name: str) -> None:
    done = ufo(
        "evaluate", *as_words({key: BASE[key] for key in ("input", "output") if key != name})
    )
    assert done.code == 2
    assert f"--{name} is missing" in done.err


# --- `ufo recall`, whose options are fewer

OF_RECALL: Given = {
    "if_finished": "skip",
    "facts_only": True,
    "formulations": "tf,tfn",
    **{
        option.name: VALUES[option.name]
        for options in RECALL_GROUPS.values()
        for option in options
        if option.name in VALUES and option.name != "if_finished"
    },
}


def recall_settings(*words: str) -> RecallSettings:
    parser = Parser(prog="ufo recall")
    parser.add_options(RECALL_GROUPS)
    return command_line.settings(RecallSettings, parser, words)


@pytest.mark.parametrize("name", sorted(OF_RECALL))
def test_an_option_of_recall_arrives_by_flag_and_keyword(name: str) -> None:
    values = {**BASE, **NEEDS.get(name, {}), name: OF_RECALL[name]}
    wanted = ("tf", "tfn") if name == "formulations" else arrived(name, OF_RECALL[name])
    for settings in (recall_settings(*as_words(values)), command_line.recall_settings_of(values)):
        assert getattr(settings, name) == wanted


# --- commands that take some of the options

ALL = {option.name for options in GROUPS.values() for option in options}
OF_RUNS = {"input", "output", "map", "max_line_bytes", "json", "log_format", "secrets", "title"}
OF_RUNS |= {"run", "if_finished", "since", "fresh", "streaming", "window_seconds", "idle_seconds"}
OF_RUNS |= {"workers", "chunk_size", "fail_under", "baseline", "fail_if_worse", "dry_run"}
OF_RUNS |= {"no_claim", "min_scored", "least_shared"}
OF_RUNS |= {"max_cost", "batch", "batch_wait", "batch_requests", "batch_mb", "batch_endpoints"}
OF_SOURCES_ALONE = {"sources", "tie", "units", "index", "retriever", "embedder", "passages"}
OF_SOURCES_ALONE |= {"samples", "temperature", "sampling", "knowledge_model", "knowledge_base_url"}
OF_SOURCES_ALONE |= {option.name for option in options_of(WebOptions)}
OF_CLAIMS = {"formulation", "verdict_labels", "explain", "citation", "passages_per_call"}
OF_CLAIMS |= {"extract_tokens"}
NOT_OF_RECALL = OF_SOURCES_ALONE | OF_CLAIMS | {"mode", "map", "secrets", "title"}
NOT_OF_RECALL |= {"since", "streaming", "window_seconds", "idle_seconds", "fail_under", "dry_run"}
NOT_OF_RECALL |= {"no_claim", "baseline", "fail_if_worse", "least_shared", "min_scored"}


def test_a_check_takes_the_options_that_are_of_no_run() -> None:
    assert {one.name for options in OF_TEXT.values() for one in options} == ALL - OF_RUNS


def test_a_service_takes_those_of_a_check() -> None:
    assert {one.name for one in OF_SERVICE} == ALL - OF_RUNS - {"config"}


def test_recall_takes_the_options_without_sources_and_claims() -> None:
    names = {one.name for options in RECALL_GROUPS.values() for one in options}
    assert names == (ALL - NOT_OF_RECALL) | {"formulations", "facts_only"}


# --- ranges: whole numbers and others, from and to

WHOLE: Mapping[str, tuple[int, int | None]] = {
    "max_line_bytes": (2, None),
    "workers": (1, 1024),
    "chunk_size": (1, None),
    "passages": (1, 1000),
    "samples": (1, 128),
    "pages": (1, 100),
    "passages_per_page": (0, 100),
    "context_sentences": (0, 20),
    "repairs": (0, 1),
    "passages_per_call": (1, None),
    "facts_per_call": (1, None),
    "extract_tokens": (50, None),
    "context": (128, None),
    "concurrency": (1, 4096),
    "requests_per_minute": (1, None),
    "tokens_per_minute": (1, None),
    "batch_requests": (1, None),
}
OTHERS: Mapping[str, tuple[float, float | None]] = {
    "window_seconds": (0.01, None),
    "idle_seconds": (0, None),
    "fail_under": (0, 1),
    "min_scored": (0, 1),
    "fail_if_worse": (0, 1),
    "least_shared": (0, 1),
    "temperature": (0, 2),
    "timeout": (0.1, None),
    "retry_seconds": (0, None),
    "max_cost": (0, None),
    "batch_wait": (0, None),
    "batch_mb": (0, None),
}
RANGES: Mapping[str, tuple[float, float | None]] = {**WHOLE, **OTHERS}
HIGHEST = {name: high for name, (_, high) in RANGES.items() if high is not None}


def test_every_number_has_a_range_here() -> None:
    numbers = {one.name for some in GROUPS.values() for one in some if one.kind in (int, float)}
    assert numbers == set(RANGES)


def set_to(name: str, value: float) -> Any:
    words = as_words({**BASE, **NEEDS.get(name, {}), name: value})
    return getattr(settings_of(*words), name)


@pytest.mark.parametrize("name", RANGES)
def test_a_number_may_be_the_least_of_its_range(name: str) -> None:
    assert set_to(name, RANGES[name][0]) == RANGES[name][0]


@pytest.mark.parametrize("name", HIGHEST)
def test_a_number_may_be_the_greatest_of_its_range(name: str) -> None:
    assert set_to(name, HIGHEST[name]) == HIGHEST[name]


def refused(name: str, value: float) -> None:
    low, high = RANGES[name]
    done = ufo("evaluate", *as_words({**BASE, **NEEDS.get(name, {})}), f"--{name}={value:g}")
    noun = "whole number" if name in WHOLE else "number"
    bounds = f"from {low:g}" + (f" to {high:g}" if high is not None else "")
    assert done.code == 2
    assert f"--{name} '{value:g}' is not a {noun} {bounds}\n" in done.err


@pytest.mark.parametrize("name", RANGES)
def test_a_number_below_its_range_is_refused(name: str) -> None:
    refused(name, RANGES[name][0] - (1 if name in WHOLE else 0.001))


@pytest.mark.parametrize("name", HIGHEST)
def test_a_number_above_its_range_is_refused(name: str) -> None:
    refused(name, HIGHEST[name] + (1 if name in WHOLE else 0.001))


@pytest.mark.parametrize("name", WHOLE)
def test_a_part_of_a_whole_number_is_refused(name: str) -> None:
    refused(name, WHOLE[name][0] + 0.5)


# --- options that nothing takes

OF_LLM_JUDGE = (
    "formulation",
    "verdict_labels",
    "explain",
    "citation",
    "format",
    "repairs",
    "as_published",
    "passages_per_call",
    "facts_per_call",
    "extract_tokens",
)
OF_LLM = (*OF_LLM_JUDGE, "extractor_model", "extractor_base_url")
OFFLINE: Given = {**BASE, "judge": "offline", "sources": "reference"}


@pytest.mark.parametrize("name", OF_LLM)
def test_an_option_of_the_llm_judge_is_refused_by_another(name: str) -> None:
    with pytest.raises(UsageError, match=f"--{name} is for --judge.* llm"):
        from_python({**OFFLINE, name: VALUES[name]}, Path())


@pytest.mark.parametrize(
    "name", ["explain", "citation", "format", "passages_per_call", "facts_per_call"]
)
def test_an_option_of_functions_is_refused_by_another_formulation(name: str) -> None:
    with pytest.raises(UsageError, match=f"--{name} is for --formulation function"):
        from_python({**BASE, "formulation": "stepwise", name: VALUES[name]}, Path())
    with pytest.raises(UsageError, match="and this run's is minicheck"):
        from_python({**BASE, "model": "bespoke-minicheck:7b", name: VALUES[name]}, Path())


@pytest.mark.parametrize(
    "name",
    [
        "model",
        "knowledge_model",
        "knowledge_base_url",
        "header",
        "body_json",
        "prompts",
        "reasoning_effort",
        "context",
        "concurrency",
        "requests_per_minute",
        "cache",
        "tokens_per_minute",
        "timeout",
        "retry_seconds",
        "no_share",
        "max_cost",
        "batch",
        "samples",
        "temperature",
        "sampling",
        "retriever",
        "base_url",
    ],
)
def test_an_option_that_no_judge_or_source_uses_is_refused(name: str) -> None:
    without = {key: value for key, value in OFFLINE.items() if key != "base_url"}
    with pytest.raises(UsageError, match=f"--{name} .* would be passed over"):
        choose_sources(from_python({**without, name: VALUES[name]}, Path()))


@pytest.mark.parametrize("name", ["formulations", "verifier", "format", "facts_per_call"])
def test_an_option_of_verification_is_refused_where_facts_are_generated(name: str) -> None:
    values = {**BASE, **NEEDS.get(name, {}), "facts_only": True, name: OF_RECALL[name]}
    with pytest.raises(UsageError, match=f"--{name} is for verification"):
        command_line.recall_settings_of(values)


# --- what enters the fingerprint, and of which part

OF_RESULTS = {"map", "max_line_bytes", "mode", "tie", "units", "no_share", "body_json"}
OF_RESULTS |= {"reasoning_effort", "judge", "verifier", "formulation", "verdict_labels", "explain"}
OF_RESULTS |= {"citation", "format", "repairs", "as_published", "passages_per_call"}
OF_RESULTS |= {"facts_per_call", "extract_tokens", "model", "extractor_model"}
OF_SOURCES = {"index", "retriever", "embedder", "passages", "samples", "temperature", "sampling"}
OF_SOURCES |= {"search", "pages", "passages_per_page", "context_sentences", "web_retriever"}
OF_SOURCES |= {"include_categories", "exclude_categories", "include_domains", "exclude_domains"}
OF_SOURCES |= {"allow_private_hosts", "prompts", "model", "base_url", "knowledge_model"}
OF_SOURCES |= {"knowledge_base_url"}
# Sources get these too, and say themselves that their results are the same.
WITHOUT_EFFECT = {"concurrency", "web_snapshot"}


def with_other(name: str) -> tuple[Settings, Settings]:
    """Settings without and with an option."""
    without = from_python({**BASE, **NEEDS.get(name, {})}, Path())
    return without, from_python(keywords_with(name), Path())


@pytest.mark.parametrize("name", sorted(VALUES.keys() - {"prompts", "prices"}))
def test_an_option_enters_the_fingerprint_where_results_depend_on_it(name: str) -> None:
    without, changed = with_other(name)
    assert (changed.affecting() != without.affecting()) == (name in OF_RESULTS)


def test_the_text_of_a_prompt_enters_the_fingerprint(tmp_path: Path) -> None:
    prints = []
    for text in ("Again, please: {wrong}", "Once more, please: {wrong}"):
        (tmp_path / "repair.txt").write_text(text)
        prints.append(from_python({**BASE, "prompts": str(tmp_path)}, tmp_path).affecting())
    assert prints[0] != prints[1]


@pytest.mark.parametrize("name", sorted(VALUES))
def test_an_option_of_sources_is_given_to_them(name: str) -> None:
    without, changed = with_other(name)
    given_to_sources = changed.source_flags() != without.source_flags()
    assert given_to_sources == (name in OF_SOURCES | WITHOUT_EFFECT)


# --- effects: where the value of an option goes


@pytest.mark.parametrize("name", [*OF_LLM_JUDGE, "model", "extractor_model"])
def test_the_llm_judge_gets(name: str) -> None:
    assert getattr(from_python(keywords_with(name), Path()).llm(), name) == VALUES[name]


def test_the_llm_judge_gets_its_folder_of_prompts() -> None:
    llm_settings = from_python({**BASE, "prompts": "mine"}, Path()).llm()
    assert llm_settings is not None
    assert llm_settings.prompts_dir == "mine"


OF_CLIENTS = ("context", "concurrency", "requests_per_minute", "tokens_per_minute", "cache")


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        *[(name, name, VALUES[name]) for name in (*OF_CLIENTS, "max_cost")],
        ("no_share", "share", False),
    ],
    ids=[*OF_CLIENTS, "max_cost", "no_share"],
)
def test_clients_get(name: str, field: str, value: Any) -> None:
    before, after = (one.client for one in with_other(name))
    assert getattr(after, field) == value
    names = [one.name for one in fields(after)]
    assert [one for one in names if getattr(after, one) != getattr(before, one)] == [field]


def test_clients_and_searches_get_the_seconds_of_retries() -> None:
    settings = from_python(keywords_with("retry_seconds"), Path())
    assert settings.client.retry.seconds == 3.5
    assert settings.source_context().calls.retry.seconds == 3.5


def test_clients_get_the_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("mine: {input: 1, output: 2, batch: 0.25}")
    price = from_python({**BASE, "prices": str(path)}, tmp_path).client.prices["mine"]
    assert [price.input, price.output, price.batch] == [1, 2, 0.25]


OTHER = "gpt-4o-mini"
# Of each option, the field of an endpoint that it becomes, for judge, extraction and knowledge.
OF_ENDPOINTS: Mapping[str, tuple[str, list[Any]]] = {
    "model": ("model", ["m-judge"] * 3),
    "base_url": ("base_url", ["http://other.example/v1"] * 3),
    "timeout": ("timeout", [2.5] * 3),
    "body_json": ("body", ['{"top_k": 1}'] * 3),
    "header": ("headers", [(("X-A", "VAR_A"), ("X-B", "VAR_B"))] * 3),
    "reasoning_effort": ("body", ['{"reasoning_effort": "low"}'] * 3),
    "extractor_model": ("model", [OTHER, "m-extractor", OTHER]),
    "knowledge_model": ("model", [OTHER, OTHER, "m-knowledge"]),
    "extractor_base_url": ("base_url", [URL, "http://extractor.example/v1", URL]),
    "knowledge_base_url": ("base_url", [URL, URL, "http://knowledge.example/v1"]),
}


@pytest.mark.parametrize("name", OF_ENDPOINTS)
def test_the_models_of_judge_extraction_and_knowledge_get(name: str) -> None:
    field, values = OF_ENDPOINTS[name]
    endpoints = from_python(keywords_with(name), Path()).client.endpoints
    roles = ("verifier", "extractor", "knowledge")
    assert [getattr(endpoints[role], field) for role in roles] == values


OF_BATCHES: Mapping[str, tuple[str, Any]] = {
    "batch_wait": ("wait", 5.5),
    "batch_requests": ("requests", 20),
    "batch_mb": ("bytes", 6_500_000),
    "batch_endpoints": ("urls", ("http://a.example/v1", "http://b.example/v1")),
    "repairs": ("repairs", 0),
    "cache": ("path", "/caches/answers.sqlite.batches"),
    "batch": ("run", "folder"),
}


@pytest.mark.parametrize("name", OF_BATCHES)
def test_batches_get(name: str) -> None:
    batches = from_python({**keywords_with(name), "batch": True}, Path()).batches("folder")
    field, value = OF_BATCHES[name]
    assert getattr(batches, field) == value


def test_without_batch_there_are_no_batches() -> None:
    assert from_python(BASE, Path()).batches("folder") is None


@pytest.mark.parametrize("name", ["units", "mode", "tie", "max_line_bytes"])
def test_the_job_of_workers_gets(name: str) -> None:
    job = job_of(from_python(keywords_with(name), Path()), ())
    assert getattr(job, name) == VALUES[name]


def test_the_job_of_workers_gets_the_columns() -> None:
    assert job_of(from_python(keywords_with("map"), Path()), ()).columns == VALUES["map"]


def test_the_job_of_workers_gets_its_run_and_its_log() -> None:
    job = job_of(from_python(BASE, Path()), (), None, "the run", "the log")
    assert job.context.calls.run == "the run"
    assert job.usage_log == "the log"


@pytest.mark.parametrize(
    ("concurrency", "in_flight"),
    [
        pytest.param(1, IN_FLIGHT, id="few requests at a time"),
        pytest.param(IN_FLIGHT, 4 * IN_FLIGHT, id="many requests at a time"),
    ],
)
def test_responses_in_flight_are_four_for_each_request(concurrency: int, in_flight: int) -> None:
    values = {**BASE, "concurrency": concurrency}
    assert job_of(from_python(values, Path()), ()).in_flight == in_flight
    assert recall_job_of(command_line.recall_settings_of(values), None, None).in_flight == in_flight


def test_the_job_of_recall_gets_its_formulations_and_lines() -> None:
    values = {**BASE, "formulations": "tfn,tf", "max_line_bytes": 500}
    job = recall_job_of(command_line.recall_settings_of(values), None, "the log")
    assert list(job.formulations) == ["tfn", "tf"]
    assert job.max_line_bytes == 500
    assert job.usage_log == "the log"


# --- the environment, where an option is not given


@pytest.mark.parametrize(
    ("flags", "address"),
    [
        pytest.param({}, "http://env.example/v1", id="the variable names the endpoint"),
        pytest.param({"base_url": URL}, URL, id="a flag is before the variable"),
    ],
)
def test_the_endpoint_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, flags: Given, address: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://env.example/v1")
    settings = from_python({"input": ["in"], "output": "out", **flags}, Path())
    assert settings.judge.name == "llm"
    assert settings.client.endpoints["verifier"].url == address


def test_a_cache_of_the_environment_gives_way_to_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UFO_CACHE", "/caches/env.sqlite")
    assert from_python(BASE, Path()).cache_uri() == "/caches/env.sqlite"
    assert from_python(keywords_with("cache"), Path()).cache_uri() == "/caches/answers.sqlite"


# --- models, rounds of batches, and processes

REFERENCE, KNOWLEDGE = SourceSpec("reference", "reference"), SourceSpec("llm", "llm")
ROLES: Given = {"model": "judge", "extractor_model": "extractor", "knowledge_model": "knower"}


@pytest.mark.parametrize(
    ("judge", "sources", "models"),
    [
        pytest.param("llm", [REFERENCE], ["judge", "extractor"], id="a judge that extracts"),
        pytest.param("llm", [KNOWLEDGE], ["judge", "extractor", "knower"], id="with knowledge"),
        pytest.param("offline", [KNOWLEDGE], ["knower"], id="knowledge alone"),
        pytest.param("offline", [REFERENCE], [], id="none"),
    ],
)
def test_the_models_that_a_run_asks(
    judge: str, sources: list[SourceSpec], models: list[str]
) -> None:
    roles = ROLES if judge == "llm" else {"knowledge_model": "knower"}
    settings = from_python({**BASE, **roles, "judge": judge}, Path())
    assert settings.models_asked(sources) == models


def test_a_model_of_several_roles_is_asked_once() -> None:
    assert from_python({**BASE, "model": "m"}, Path()).models_asked([KNOWLEDGE]) == ["m"]


@pytest.mark.parametrize(
    ("judge", "mode", "rounds"),
    [
        # One for claims, one for each source, and one more for a model's knowledge.
        pytest.param("llm", "seq", 1 + 1 + 2, id="one source after another"),
        pytest.param("llm", "mv", 1 + 2, id="all sources at once"),
        pytest.param("offline", "seq", 1, id="knowledge alone"),
    ],
)
def test_the_rounds_of_batches(judge: str, mode: str, rounds: int) -> None:
    settings = from_python({**BASE, "judge": judge, "mode": mode}, Path())
    assert settings.rounds([REFERENCE, KNOWLEDGE]) == rounds


@pytest.mark.parametrize(
    ("workers", "models", "processes"),
    [
        pytest.param(3, [], 3, id="as many as are asked for"),
        pytest.param(3, ["m"], 3, id="as many as are asked for, with a model too"),
        pytest.param(None, ["m"], 1, id="one where a model is asked"),
    ],
)
def test_processes_of_a_run(workers: int | None, models: list[str], processes: int) -> None:
    values = BASE if workers is None else {**BASE, "workers": workers}
    assert from_python(values, Path()).processes(models) == processes


def test_without_models_a_run_has_a_process_for_each_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 5}, raising=False)
    assert from_python(BASE, Path()).processes() == 3
