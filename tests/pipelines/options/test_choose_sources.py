"""Which sources a run asks, which of them cannot serve, and which options nobody uses."""

import pytest

from tests.pipelines.conftest import settings_of
from ufo.pipelines.options.choose_sources import choose_sources, fitting_flags
from ufo.pipelines.options.settings import Settings
from ufo.schemas.errors import UsageError

PLACES = ("--input", "in", "--output", "out")
MODEL = ("--base_url", "http://models.example/v1", "--model", "m")


def test_sources_that_are_not_named_are_asked_as_far_as_they_can_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    chosen = choose_sources(settings_of(*PLACES))
    statuses = [
        (row.position, row.source, row.status, row.reason is None) for row in chosen.statuses
    ]
    assert statuses == [
        (1, "reference", "used", True),
        (2, "wikipedia", "unavailable", False),
        (3, "web", "unavailable", False),
        (4, "llm", "unavailable", False),
    ]
    assert [spec.name for spec in chosen.specs] == ["reference"]
    assert [one["name"] for one in chosen.fingerprint] == ["reference"]


@pytest.mark.parametrize(
    ("mode", "sources", "valid"),
    [
        pytest.param("seq", "reference,llm", False, id="the first of two in order"),
        pytest.param("mv", "reference,llm", True, id="a vote of two"),
        pytest.param("all", "reference,llm", True, id="all of two"),
        pytest.param("seq", "reference", True, id="one alone"),
    ],
)
def test_a_judge_that_cannot_abstain_decides(mode: str, sources: str, valid: bool) -> None:
    words = (*PLACES, *MODEL, "--verdict_labels", "tf", "--sources", sources, "--mode", mode)
    if valid:
        assert choose_sources(settings_of(*words)).specs
    else:
        with pytest.raises(
            UsageError, match=r"--verdict_labels tf cannot say .* use tfn, or --mode"
        ):
            choose_sources(settings_of(*words))


def test_an_option_that_nothing_uses_may_have_its_default() -> None:
    words = (*PLACES, "--sources", "reference", "--concurrency")
    assert choose_sources(settings_of(*words, str(Settings.concurrency))).specs
    with pytest.raises(UsageError, match="--concurrency 301 would be passed over"):
        choose_sources(settings_of(*words, "301"))


@pytest.mark.parametrize(
    ("judge", "source", "name", "used"),
    [
        ("offline", "reference", "retriever", False),
        ("offline", "wikipedia", "retriever", True),
        ("llm", "reference", "retriever", False),
        ("offline", "reference", "model", False),
        ("llm", "reference", "model", True),
        ("offline", "llm", "model", True),
        ("offline", "web", "model", False),
        ("offline", "reference", "concurrency", False),
        ("offline", "web", "concurrency", True),
        ("offline", "web", "retry_seconds", True),
        ("offline", "web", "cache", True),
        ("offline", "reference", "samples", False),
        ("offline", "reference", "temperature", False),
        ("offline", "reference", "sampling", False),
        ("offline", "reference", "prompts", False),
    ],
)
def test_what_a_judge_and_a_source_use(judge: str, source: str, name: str, used: bool) -> None:
    assert (name in fitting_flags({name: "1"}, {"judge": judge}, [source])) == used
