"""Let a model judge six claims with known verdicts, by the judge of `ufo evaluate`."""

from dataclasses import dataclass, replace
from typing import Any, Final

from ufo.pipelines.services.doctor_tests import Patient, Tell, Tested
from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED, FactUnit, OpenUnits, Passage
from ufo.transforms.judges.context import JudgeContext
from ufo.transforms.judges.llm.judge import LlmJudge
from ufo.transforms.judges.llm.settings import PROMPT, RATIONALE, STEPWISE, XML, LlmSettings
from ufo.transforms.llm.base import LlmError
from ufo.transforms.sources.base import Found, Retrieved

PAIRS: Final = (
    (
        "Mount Etna is a volcano in Sicily.",
        "Where is the volcano Mount Etna?",
        "Mount Etna is an active volcano on the east coast of Sicily, an island of Italy.",
        SUPPORTED,
    ),
    (
        "Oslo is the capital of Norway.",
        "What is the capital of Norway?",
        "Oslo is the capital of Norway. About 700,000 people live there.",
        SUPPORTED,
    ),
    (
        "The Rhine flows into the Black Sea.",
        "Which sea does the Rhine flow into?",
        "The Rhine rises in the Alps and flows into the North Sea, not into the Black Sea.",
        REFUTED,
    ),
    (
        "Marie Curie was born in 1901.",
        "When was Marie Curie born?",
        "Marie Curie was born in Warsaw in 1867.",
        REFUTED,
    ),
    (
        "The Great Wall of China has 40 gates.",
        "How many gates does the Great Wall of China have?",
        "Emperor penguins breed in Antarctica during the winter.",
        NOANS,
    ),
    (
        "Pablo Picasso painted 300 portraits of his sister.",
        "How many portraits of his sister did Pablo Picasso paint?",
        "A piano has 88 keys, of which 36 are black.",
        NOANS,
    ),
)
"""(claim, query, passage, outcome): two of each outcome."""

_GOOD: Final = len(PAIRS) - 1  # so many right, and all usable: nothing else is tried
_FAIR: Final = 4  # what always says the same has two right


@dataclass(frozen=True, slots=True)
class _Way:
    """A formulation with its options, as flags of `ufo evaluate` say it."""

    flags: str
    settings: LlmSettings


@dataclass(frozen=True, slots=True)
class _Result:
    flags: str
    usable: int
    right: int
    requests: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "flags": self.flags,
            "usable": self.usable,
            "right": self.right,
            "requests": self.requests,
        }


def _ways(model: str) -> list[_Way]:
    """Return the formulations to try, the cheapest first."""
    function = LlmSettings(model)
    one = replace(function, facts_per_call=1, passages_per_call=1)
    return [
        _Way("--formulation function", function),
        _Way("--formulation function --facts_per_call 1 --passages_per_call 1", one),
        _Way(f"--formulation {PROMPT}", replace(function, formulation=PROMPT)),
        _Way(f"--formulation {RATIONALE}", replace(function, formulation=RATIONALE)),
        _Way(f"--formulation {STEPWISE}", replace(function, formulation=STEPWISE)),
        _Way("--formulation function --format xml", replace(function, format=XML)),
    ]


async def judging(patient: Patient, tell: Tell) -> None:
    """Judge the pairs by one formulation after another until one is good; recommend the best."""
    results: list[_Result] = []
    for way in _ways(patient.endpoint.model):
        try:
            result = await _judged(patient, way)
        except LlmError as error:
            tell(Tested([("judging", "not tested", f"{way.flags}: {error.message}")]))
            continue
        results.append(result)
        said = f"{result.right} of {len(PAIRS)} right"
        sent = f"{result.requests:,} request{'' if result.requests == 1 else 's'}"
        note = f"{way.flags}: {result.usable} usable, {sent}"
        facts = {"judging": [one.facts for one in results], **_recommended(results)}
        tell(Tested([("judging", said, note)], facts))
        if result.usable == len(PAIRS) and result.right >= _GOOD:
            break
    best = _best(results)
    if best is None:
        note = "no formulation gives usable judgements; another --model, or --judge offline"
        tell(Tested([("recommended", "none", note)]))
        return
    weak = (
        ""
        if best.right >= _FAIR
        else "hardly better than chance; another --model, or --judge offline"
    )
    tell(Tested([("recommended", best.flags, weak)]))


def _recommended(results: list[_Result]) -> dict[str, Any]:
    best = _best(results)
    return {"recommended": best and best.flags}


def _best(results: list[_Result]) -> _Result | None:
    """Return the one with the most right, of equals the cheapest; None where none is usable."""
    usable = [result for result in results if result.usable]
    return max(usable, key=lambda result: (result.right, result.usable), default=None)


async def _judged(patient: Patient, way: _Way) -> _Result:
    units = [
        FactUnit("doctor", f"u{number}", number, claim, query, None)
        for number, (claim, query, _, _) in enumerate(PAIRS)
    ]
    found = [
        Found([Retrieved(Passage(text, source="doctor", passage_id=f"p{number}"))])
        for number, (_, _, text, _) in enumerate(PAIRS)
    ]
    text = " ".join(unit.claim for unit in units)
    spans, start = [], 0
    for unit in units:
        spans += [start, start + len(unit.claim)]
        start += len(unit.claim) + 1
    client = patient.client()
    judge = LlmJudge(JudgeContext(way.settings, lambda: client))
    try:
        judged = await judge.verify(
            OpenUnits("doctor", text, None, "en", spans, [], units), "doctor", found
        )
    except LlmError as error:
        patient.requests += len(error.usage)
        raise
    finally:
        await client.aclose()
    patient.requests += len(judged.usage)
    outcomes = [row.outcome for row in judged.evidence]
    right = sum(outcome == wanted for outcome, (*_, wanted) in zip(outcomes, PAIRS, strict=True))
    usable = sum(outcome != ERROR for outcome in outcomes)
    return _Result(way.flags, usable, right, len(judged.usage))
