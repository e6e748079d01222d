"""The cascade: what stays with the offline judge, what goes on, and that nothing gets lost."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.transforms.judges.stated import STATED
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED, FactUnit, OpenUnits, Passage
from ufo.transforms.judges.base import Judge, Judged
from ufo.transforms.judges.cascade import CascadeJudge
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.llm.settings import LlmSettings
from ufo.transforms.judges.offline.judge import OfflineJudge
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.sources.base import Found, Retrieved

TEXT = "Oslo was founded in 1901. Lima was founded in 1535. The trams of Bonn are green."
SURE = Passage("0.95 0.02 0.03")
REFUTES = Passage("0.1 0.8 0.1")
SILENT = Passage("0.01 0.01 0.98")


class Second(Judge):
    """Supports everything, and remembers what it was asked."""

    name = "second"
    remote = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.offline = OfflineJudge(STATED)

    async def verify(self, open_units: OpenUnits, source: str, found: Sequence[Found]) -> Judged:
        judged = await self.offline.verify(open_units, source, found)
        for unit, answer in zip(open_units.units, found, strict=True):
            self.asked.append((unit.unit_id, [hit.passage.text for hit in answer.passages]))
        said = {"judge": self.name, "outcome": SUPPORTED, "label": 1}
        return Judged([replace(row, **said) for row in judged.evidence])  # type: ignore[arg-type]


def judge(
    passages: Sequence[Sequence[Passage]], confidence: float, language: str = "en"
) -> tuple[list[tuple[str, int | None, str, str]], list[tuple[str, list[str]]]]:
    """Return what the rows say, and what the second judge was asked."""
    claims = TEXT.split(". ")
    units = [
        FactUnit("r", f"u{n}", n, f"{claims[n].rstrip('.')}.", "What?", None)
        for n in range(len(passages))
    ]
    second = Second()
    found = [Found([Retrieved(passage) for passage in some]) for some in passages]
    asked = OpenUnits("r", TEXT, None, language, [], [], units)
    context = JudgeContext(LlmSettings("m"), lambda: FakeClient([]), llm_judge=lambda: second)
    cascade = CascadeJudge(context, confidence, STATED)
    judged = asyncio.run(cascade.verify(asked, "reference", found))
    rows = [(row.unit_id, row.rank, row.judge, row.outcome) for row in judged.evidence]
    return rows, second.asked


def test_what_is_sure_stays_and_the_rest_goes_on_in_its_place() -> None:
    rows, asked = judge([[SILENT, SURE, SILENT], [SURE, REFUTES], []], 0.9)
    assert rows == [
        ("u0", 1, "second", SUPPORTED),
        ("u0", 2, "offline", SUPPORTED),
        ("u0", 3, "second", SUPPORTED),
        ("u1", 1, "offline", SUPPORTED),
        ("u1", 2, "second", SUPPORTED),
        ("u2", None, "second", SUPPORTED),
    ]
    assert asked == [
        ("u0", [SILENT.text] * 2),
        ("u1", [REFUTES.text]),
        ("u2", []),
    ]


@pytest.mark.parametrize(("confidence", "by"), [(0.8, "offline"), (0.81, "second")])
def test_a_refutation_stays_where_it_is_likely_enough(confidence: float, by: str) -> None:
    rows, _ = judge([[REFUTES]], confidence)
    assert rows == [("u0", 1, by, REFUTED if by == "offline" else SUPPORTED)]


def test_where_all_is_sure_nobody_else_is_asked() -> None:
    rows, asked = judge([[SURE, SURE]], 0.9)
    assert [row[1:3] for row in rows] == [(1, "offline"), (2, "offline")]
    assert asked == []


@pytest.mark.parametrize(("confidence", "language"), [(1.0, "en"), (0.0001, "fi")])
def test_at_one_or_in_another_language_everything_goes_on(confidence: float, language: str) -> None:
    certain = Passage("1 0 0")
    rows, asked = judge([[certain], [REFUTES]], confidence, language)
    assert {row[2] for row in rows} == {"second"}
    assert [passages for _, passages in asked] == [[certain.text], [REFUTES.text]]


def test_no_answer_goes_on_however_likely() -> None:
    rows, _ = judge([[SILENT]], 0.0)
    assert rows == [("u0", 1, "second", SUPPORTED)]
    offline = asyncio.run(
        OfflineJudge(STATED).verify(
            OpenUnits("r", TEXT, None, "en", [], [], [FactUnit("r", "u", 0, TEXT, "What?", None)]),
            "reference",
            [Found([Retrieved(SILENT)])],
        )
    )
    assert [row.outcome for row in offline.evidence] == [NOANS]
