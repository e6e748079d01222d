import asyncio
from collections.abc import Callable
from typing import Any

from ufo.schemas.records import InputRecord
from ufo.transforms.check_text import CheckedText, check_text
from ufo.transforms.job import Job
from ufo.transforms.judges.judge import Judge

TEXT = "Etna erupts. Oslo is warm. Lava flows."


def run(sources: list[Any], judge: Judge, mode: str, text: str = TEXT) -> CheckedText:
    return asyncio.run(
        check_text(InputRecord("f:1", "r", text), sources, judge, Job((), mode=mode))
    )


def test_seq_stops_at_the_first_answer(scripted_source: Callable[..., Any], judge: Judge) -> None:
    first = scripted_source("one", {"Etna erupts.": ["supported"]})
    second = scripted_source("two", {"Oslo is warm.": ["refuted"], "Etna erupts.": ["refuted"]})
    found = run([first, second], judge, "seq")
    assert second.asked == ["Oslo is warm.", "Lava flows."]
    by_unit = {unit.unit_id: unit.claim for unit in found.fact_units}
    assert {by_unit[v.unit_id]: (v.source, v.label) for v in found.verdicts} == {
        "Etna erupts.": ("one", 1),
        "Oslo is warm.": ("two", 0),
        "Lava flows.": ("none", None),
    }
    third = scripted_source("three", {})
    everything = {text: ["supported"] for text in ("Etna erupts.", "Oslo is warm.", "Lava flows.")}
    run([scripted_source("all", everything), third], judge, "seq")
    assert third.asked == []


def test_the_other_modes_ask_every_source_about_every_unit(
    scripted_source: Callable[..., Any], judge: Judge
) -> None:
    for mode, rows in (("mv", 3), ("single", 6), ("all", 12)):
        sources = [
            scripted_source("one", {"Etna erupts.": ["supported"]}),
            scripted_source("two", {"Etna erupts.": ["refuted", "refuted"]}),
        ]
        found = run(sources, judge, mode)
        assert [len(source.asked) for source in sources] == [3, 3]
        assert len(found.verdicts) == rows
        labels = {(v.mode, v.source): v.label for v in found.verdicts if v.label is not None}
        if mode in ("mv", "all"):
            assert labels["mv", "multi"] == 0
        if mode in ("single", "all"):
            assert (labels["single", "one"], labels["single", "two"]) == (1, 0)
        if mode == "all":
            assert labels["seq", "one"] == 1


def test_a_text_without_a_claim_asks_no_verifier(
    scripted_source: Callable[..., Any], judge: Judge
) -> None:
    source = scripted_source("one", {})
    record = InputRecord("f:1", "r", TEXT, given=True)
    found = asyncio.run(check_text(record, [source], judge, Job((), mode="all")))
    assert (found.verdicts, found.evidence, source.asked) == ([], [], [])
    assert len(found.sentences) == 3
