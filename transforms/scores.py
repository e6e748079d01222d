"""Compute the scores of one response from its evidence, or from a selection of it.

The rules are UFO's factuality score (Huang et al., AAAI 2026 demo) and Facts&Evidence's evidence
support (2025). The views compute the same for runs; both are tested by `tests/golden/scoring.json`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ufo.schemas.records import (
    ERROR,
    NO_SOURCE,
    NOANS,
    REFUTED,
    SUPPORTED,
    UNSUPPORTED_LANGUAGE,
    Passage,
    Tally,
    Verdict,
)
from ufo.transforms.score_rows import CategoryShare, Contribution, Credibility, Score, Scores
from ufo.transforms.selection import OTHER, Selection
from ufo.transforms.states import headline, state_of
from ufo.transforms.votes import ALL, MV, SEQ, SINGLE, main_mode, tally, verdicts

RED = "red"
ORANGE = "orange"
GREEN = "green"
GREY = "grey"
_BANDS = ((0.3, RED), (0.6, ORANGE))


class Placed(Protocol):
    """The fields used of a fact unit; `sentence_index` is None for a unit without a sentence."""

    @property
    def unit_id(self) -> str: ...
    @property
    def sentence_index(self) -> int | None: ...


class Piece(Protocol):
    """The fields used of a row of evidence."""

    @property
    def unit_id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def passage_id(self) -> str | None: ...
    @property
    def outcome(self) -> str: ...
    @property
    def reason(self) -> str | None: ...


def score(
    units: Sequence[Placed],
    evidence: Sequence[Piece],
    passages: Mapping[str, Passage],
    sources: Sequence[str],
    n_sentences: int,
    mode: str = SEQ,
    tie: str = "not_factual",
    selection: Selection | None = None,
    response_id: str = "",
    extraction_failed: bool = False,
) -> Scores:
    """Return the verdicts and scores of one response from its evidence.

    Args:
        units: the response's fact units, in order.
        evidence: its rows of `evidence`; one whose passage is not selected does not count, and
            its source was asked all the same.
        passages: by their ids.
        sources: in the user's order; evidence of another source does not count.
        n_sentences: how many sentences the response has.
        mode, tie: as in `ufo.transforms.votes`.
        extraction_failed: whether a failure of the extraction is known, so that a sentence without
            a claim may have one.
    """
    chosen = selection or Selection()
    kept = {
        row.passage_id: chosen.keeps(row.passage_id, passages.get(row.passage_id))
        for row in evidence
        if row.passage_id is not None
    }
    counting = [row for row in evidence if row.passage_id is None or kept[row.passage_id]]
    tallies = _tallies(units, evidence, counting, sources)
    rows = [row for votes in tallies.values() for row in verdicts(response_id, votes, mode, tie)]
    modes = (SEQ, MV, SINGLE) if mode == ALL else (mode,)
    places = {unit.unit_id: unit.sentence_index for unit in units}
    labels: dict[str, list[int | None]] = {unit.unit_id: [] for unit in units}
    for row in rows:
        if row.mode == main_mode(mode):
            labels[row.unit_id].append(row.label)
    unusable = {row.unit_id for row in counting if is_unusable(row)}
    states = {name: state_of(of, name in unusable) for name, of in labels.items()}
    return Scores(
        headline(states.values(), extraction_failed),
        states,
        rows,
        [one for name in modes for one in _scores(rows, counting, len(units), sources, name)],
        [one for name in modes for one in _contributions(rows, tallies, sources, name)],
        [
            _credibility(index, of, state_of(said, failed))
            for index, of, said, failed in _sentences(
                counting, places, n_sentences, labels, unusable, extraction_failed
            )
        ],
        _credibility(None, counting, None),
        _categories(None, evidence, passages),
        [
            share
            for index, rows_of in sorted(_placed(evidence, places).items())
            for share in _categories(index, rows_of, passages)
        ],
    )


def usable_of(evidence: Sequence[Piece]) -> tuple[int, int]:
    """Return the number of judgements asked for, and the number of usable ones.

    Where a source has no passage none was asked for, unless the text's language is not supported.
    """
    lost = sum(map(is_unusable, evidence))
    usable = sum(row.passage_id is not None and not is_unusable(row) for row in evidence)
    return usable + lost, usable


def is_unusable(row: Piece) -> bool:
    """Return whether a judgement failed, or is of a text in an unsupported language."""
    return row.outcome == ERROR or row.reason == UNSUPPORTED_LANGUAGE


def band_of(credibility: float | None) -> str:
    """Return the colour of Facts&Evidence: red [0, .3), orange [.3, .6), green [.6, 1], grey where
    there is no evidence."""
    if credibility is None:
        return GREY
    return next((name for bound, name in _BANDS if credibility < bound), GREEN)


def _tallies(
    units: Sequence[Placed],
    evidence: Iterable[Piece],
    counting: Iterable[Piece],
    sources: Sequence[str],
) -> dict[str, list[Tally]]:
    """Return the tallies of each unit by the sources that were asked about it, in their order.

    A unit that no source was asked about gets an empty tally, so that it has a verdict.
    """
    asked = {(row.unit_id, row.source) for row in evidence}
    by_key: dict[tuple[str, str], list[Piece]] = {}
    for row in counting:
        by_key.setdefault((row.unit_id, row.source), []).append(row)
    return {
        unit.unit_id: [
            tally(unit.unit_id, name, by_key.get((unit.unit_id, name), ()))
            for name in sources
            if (unit.unit_id, name) in asked
        ]
        or [Tally(unit.unit_id, NO_SOURCE)]
        for unit in units
    }


def _scores(
    rows: Sequence[Verdict],
    counting: Sequence[Piece],
    n_units: int,
    sources: Sequence[str],
    mode: str,
) -> list[Score]:
    found = []
    for source in sources if mode == SINGLE else (None,):
        labels = [
            row.label
            for row in rows
            if row.mode == mode and (source is None or row.source == source)
        ]
        yes, no = labels.count(1), labels.count(0)
        own = [row for row in counting if row.source in (sources if source is None else (source,))]
        asked, usable = usable_of(own)
        scored = 0 if asked and not usable else n_units
        found.append(
            Score(
                mode,
                source,
                n_units,
                yes,
                no,
                n_units - yes - no,
                _ratio(yes, scored),
                _ratio(yes, yes + no),
                _ratio(yes + no, scored),
                asked,
                asked - usable,
            )
        )
    return found


def _contributions(
    rows: Sequence[Verdict],
    tallies: Mapping[str, Sequence[Tally]],
    sources: Sequence[str],
    mode: str,
) -> list[Contribution]:
    own = [row for row in rows if row.mode == mode]
    slots: list[tuple[str, int | None]] = [(name, at) for at, name in enumerate(sources, 1)]
    if mode == MV:
        labels = {row.unit_id: row.label for row in own}
        votes: Counter[str] = Counter()
        agreeing: Counter[str] = Counter()
        for unit_id, given in tallies.items():
            for one in given:
                votes[one.source] += one.n_supported + one.n_refuted
                if (label := labels[unit_id]) is not None:
                    agreeing[one.source] += one.n_supported if label else one.n_refuted
        of, all_agreeing = sum(votes.values()), sum(agreeing.values())
        return [
            Contribution(
                mode, name, at, len(tallies), None, votes[name], agreeing[name],
                _ratio(votes[name], of), _ratio(agreeing[name], all_agreeing),
            )
            for name, at in slots
        ]  # fmt: skip
    if mode == SEQ:
        slots.append((NO_SOURCE, None))
    decided = Counter(row.source for row in own if row.label is not None or row.source == NO_SOURCE)
    return [
        Contribution(
            mode, name, at, len(tallies), decided[name], None, None,
            _ratio(decided[name], len(tallies)), None,
        )
        for name, at in slots
    ]  # fmt: skip


def _placed(rows: Iterable[Piece], places: Mapping[str, int | None]) -> dict[int, list[Piece]]:
    """Return the rows by sentence index, without those of units without a sentence."""
    found: dict[int, list[Piece]] = {}
    for row in rows:
        place = places.get(row.unit_id)
        if place is not None:
            found.setdefault(place, []).append(row)
    return found


def _sentences(
    counting: Iterable[Piece],
    places: Mapping[str, int | None],
    n_sentences: int,
    labels: Mapping[str, Sequence[int | None]],
    unusable: Collection[str],
    extraction_failed: bool,
) -> Iterator[tuple[int, list[Piece], list[int | None], bool]]:
    """Yield the index of each sentence, its evidence, its claims' labels, and if one failed."""
    rows = _placed(counting, places)
    units: dict[int, list[str]] = {}
    for unit_id, place in places.items():
        if place is not None:
            units.setdefault(place, []).append(unit_id)
    for index in range(n_sentences):
        own = units.get(index, [])
        failed = any(name in unusable for name in own) if own else extraction_failed
        yield index, rows.get(index, []), [one for name in own for one in labels[name]], failed


def _credibility(index: int | None, rows: Iterable[Piece], state: str | None) -> Credibility:
    counts = Counter(row.outcome for row in rows if row.passage_id is not None)
    yes, no, nothing = counts[SUPPORTED], counts[REFUTED], counts[NOANS]
    found = _ratio(yes, yes + no + nothing)
    return Credibility(index, yes, no, nothing, counts[ERROR], found, band_of(found), state)


def _categories(
    index: int | None, rows: Iterable[Piece], passages: Mapping[str, Passage]
) -> list[CategoryShare]:
    by_category: dict[str, list[str]] = {}
    for row in rows:
        if row.passage_id is not None:
            passage = passages.get(row.passage_id)
            category = (passage and passage.source_category) or OTHER
            by_category.setdefault(category, []).append(row.outcome)
    of = sum(map(len, by_category.values()))
    shares = [
        CategoryShare(
            index, name, len(found), found.count(SUPPORTED), found.count(REFUTED), len(found) / of
        )
        for name, found in by_category.items()
    ]
    return sorted(shares, key=lambda one: (-one.n_evidence, one.source_category))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
