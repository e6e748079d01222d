"""The offline judge around its verifier: what is asked, and what becomes of the answers."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.transforms.judges.stated import STATED
from ufo.schemas.errors import PluginError
from ufo.schemas.records import FactUnit, OpenUnits, Passage
from ufo.transforms.judges.judge import Judged
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.sources.fact_source import Found, Retrieved
from ufo.transforms.verifiers.by_name import content_of, open_verifier
from ufo.transforms.verifiers.verifier import Pair

CLAIM = "Oslo was founded in 1901."


def verified(
    judge: OfflineJudge, *passages: Sequence[Passage | str], language: str = "en"
) -> Judged:
    units = [FactUnit("r", f"u{n}", n, CLAIM, "When?", None) for n in range(len(passages))]
    rows = [
        [one if isinstance(one, Passage) else Passage(one) for one in some] for some in passages
    ]
    answers = [Found([Retrieved(passage, 0.5) for passage in some]) for some in rows]
    asked = OpenUnits("r", CLAIM, None, language, [], [], units)
    return asyncio.run(judge.verify(asked, "reference", answers))


def test_the_verifier_s_outcome_is_the_verdict_and_probability_that_of_supported() -> None:
    other = "Oslo was founded in 1905."
    texts = [f"0.6 0.3 0.1 : {CLAIM}", f"0.2 0.7 0.1 : {other}", f"0.3 0.3 0.4 : {CLAIM}"]
    judged = verified(OfflineJudge(STATED), [*texts, f"0.5 0 0.5 : {CLAIM}", "no number"])
    rows = judged.evidence
    assert [(row.outcome, row.label, row.probability, row.rank) for row in rows] == [
        ("supported", 1, 0.6, 1),
        ("refuted", 0, 0.2, 2),
        ("noans", None, 0.3, 3),
        ("supported", 1, 0.5, 4),
        ("error", None, None, 5),  # one that cannot be read costs only itself
    ]
    model = f"stated@{content_of(STATED)[:12]}"
    assert {(row.judge, row.model) for row in rows} == {("offline", model)}
    assert all(row.rationale for row in rows)
    assert all(row.citation_found == (True if row.citation else None) for row in rows)
    assert rows[4].reason == "exception"
    assert "could not convert" in (rows[4].rationale or "")
    (failure,) = judged.failures
    assert failure.message.startswith(f"error in verifier {model}: ValueError: could not convert")


def test_all_pairs_of_a_response_are_one_call_and_equal_ones_are_asked_once() -> None:
    calls = open_verifier(STATED).calls  # type: ignore[attr-defined]
    calls.clear()
    titled = Passage("1 0 0", title="Oslo")
    rows = verified(OfflineJudge(STATED), ["1 0 0", titled], [], ["1 0 0"]).evidence
    assert calls == [[Pair(CLAIM, "1 0 0"), Pair(CLAIM, "1 0 0", "Oslo")]]
    assert [row.unit_id for row in rows] == ["u0", "u0", "u1", "u2"]
    assert rows[2].reason == "no_passages"
    assert rows[2].passage_id is None
    (row,) = verified(OfflineJudge(STATED), ["1 0 0"], language="fi").evidence
    assert row.outcome == "noans"
    assert row.reason == "unsupported_language"
    assert row.rationale == "the text is in a language that the offline judge does not know"
    assert row.probability is None
    assert row.model is None
    assert len(calls) == 1  # another language asks no verifier


@pytest.mark.parametrize(
    "passages",
    [
        pytest.param(["too large"], id="of all pairs together"),
        pytest.param(["no number", "too large"], id="of a pair alone, after another error"),
    ],
)
def test_a_lack_of_memory_ends_the_run(passages: list[str]) -> None:
    with pytest.raises(MemoryError):
        verified(OfflineJudge(STATED), passages)


def test_a_verifier_is_loaded_once_in_a_process_or_ends_the_run() -> None:
    loaded = open_verifier(STATED)
    before = loaded.opens  # type: ignore[attr-defined]
    for _ in range(2):
        judge = OfflineJudge(STATED)
        judge.open()
        verified(judge, ["1 0 0"])
        judge.close()
    assert open_verifier(STATED) is loaded
    assert loaded.opens == before  # type: ignore[attr-defined]
    broken = OfflineJudge(STATED.replace(":Stated", ":Broken"))
    with pytest.raises(PluginError, match=r":Broken' does not load: OSError: no such weights"):
        verified(broken, ["1 0 0"])


def windows(judge: OfflineJudge, *texts: tuple[str, str]) -> list[tuple[str, str | None]]:
    """Return outcome and rationale of passages, each given with the document it was cut from."""
    unit = FactUnit("r", "u", 0, CLAIM, "When?", None)
    hits = [Retrieved(Passage(text), 0.5, document=document) for text, document in texts]
    asked = OpenUnits("r", CLAIM, None, "en", [], [], [unit])
    rows = asyncio.run(judge.verify(asked, "reference", [Found(hits)])).evidence
    return [(row.outcome, row.rationale) for row in rows]


def test_the_passages_of_one_document_have_one_vote() -> None:
    says = "Oslo was founded in 1901 by a king."
    other = "Oslo was founded in 1905."
    judge = OfflineJudge()
    verdicts = windows(judge, (other, "a"), (says, "a"), (other, "a"), ("It rains.", "a"))
    silent = "another passage of the same text says more of the claim"
    assert verdicts == [
        ("noans", silent),
        ("supported", 'says "Oslo", "founded", "1901"'),
        ("noans", silent),
        ("noans", 'does not say "Oslo", "founded", "1901"'),
    ]
    assert [outcome for outcome, _ in windows(judge, (other, "a"), (says, "b"))] == [
        "refuted",
        "supported",
    ]
    assert [outcome for outcome, _ in windows(judge, (other, ""), (other, ""))] == [
        "refuted",
        "refuted",
    ]
