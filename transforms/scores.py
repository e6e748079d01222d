"""Compute the scores of one response from its evidence, or from a selection of it.

The rules are UFO's factuality score (Huang et al., AAAI 2026 demo) and the evidence support of
Facts&Evidence (2025). The states of sentences and claims, and the headline, follow from the
verdicts. The SQL views compute the same for runs; `tests/golden/scoring.json` tests both.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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
from ufo.schemas.text import quantity
from ufo.transforms.score_words import beside, score_in_words
from ufo.transforms.votes import ALL, MV, SEQ, SINGLE, HasOutcome, main_mode, tally, verdicts

if TYPE_CHECKING:
    from ufo.schemas.results import Results

CONTRADICTED = "contradicted"
PARTLY = "partly supported"
NOT_FOUND = "not found"
NO_CLAIM = "no claim"
STATES = (SUPPORTED, CONTRADICTED, PARTLY, NOT_FOUND, NO_CLAIM, ERROR)
SYMBOLS = dict(zip(STATES, "✓✗≈?·⚠", strict=True))

_CLAIMS = """
SELECT label, failed IS NOT NULL AS failed, count(*) AS n
FROM verdicts
LEFT JOIN (
    SELECT DISTINCT response_id, unit_id, true AS failed
    FROM evidence
    WHERE run = $run AND (outcome = 'error' OR reason = 'unsupported_language')
) USING (response_id, unit_id)
WHERE run = $run AND mode = $mode
GROUP BY ALL
"""
_EXTRACTION_FAILED = "SELECT 1 FROM failures WHERE run = $run AND step = 'extract' LIMIT 1"


def state_of(labels: Sequence[int | None], failed: bool = False) -> str:
    """Return the state of a sentence, or of one claim.

    Args:
        labels: the labels of its claims' verdicts: 1, 0, or None for undecided.
        failed: whether a judgement failed or the language is not supported; without claims, whether
            the extraction failed. It matters only where no claim is decided.
    """
    if 0 in labels:
        return CONTRADICTED
    if 1 in labels:
        return PARTLY if None in labels else SUPPORTED
    if failed:
        return ERROR
    return NOT_FOUND if labels else NO_CLAIM


def headline(states: Iterable[str] | Mapping[str, int], failed: bool = False) -> str:
    """Summarise the result of a text in a sentence, from the states of its claims or their counts.

    `failed` says whether the extraction failed.

    Example:
        >>> headline(["supported"] * 7 + ["contradicted", "not found"])
        '7 of 9 claims supported, 1 contradicted, 1 not found'
    """
    counts = Counter(states)
    n = counts.total()
    if not n:
        return "Not scored: the claims could not be extracted" if failed else "No claim to check"
    if counts[ERROR] == n:
        return f"Not scored: none of {quantity(n, 'claim')} could be judged"
    parts = [f"{counts[SUPPORTED]:,} of {quantity(n, 'claim')} supported"]
    for state in (CONTRADICTED, PARTLY, NOT_FOUND):
        parts += [f"{counts[state]:,} {state}"] if counts[state] else []
    parts += [quantity(counts[ERROR], "error")] if counts[ERROR] else []
    return ", ".join(parts)


def run_headline(results: "Results") -> str:
    """Return the headline of the newest run, over the claims of all its responses."""
    run = results.runs[-1]
    name: dict[str, object] = {"run": run.name}
    states: Counter[str] = Counter()
    for row in results.query(_CLAIMS, name | {"mode": main_mode(run.mode)}).to_pylist():
        states[state_of([row["label"]], row["failed"])] += row["n"]
    return headline(states, results.query(_EXTRACTION_FAILED, name).num_rows > 0)


OTHER = "other"
"""The category of a passage without a category."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter of passages by id, category and domain; an `only_…` of None does not restrict.

    A passage without a category has the category `other`. A domain includes its subdomains, and may
    have wildcards (`*.gov`); a passage without a host is in no domain.
    """

    without_passages: Collection[str] = ()
    without_categories: Collection[str] = ()
    only_categories: Collection[str] | None = None
    without_domains: Collection[str] = ()
    only_domains: Collection[str] | None = None

    def keeps(self, passage_id: str, passage: Passage | None) -> bool:
        """Return whether the evidence of a passage counts."""
        category = (passage and passage.source_category) or OTHER
        host = passage.hostname if passage else None
        return not (
            passage_id in self.without_passages
            or category in self.without_categories
            or (self.only_categories is not None and category not in self.only_categories)
            or _of_any(host, self.without_domains)
            or (self.only_domains is not None and not _of_any(host, self.only_domains))
        )


def _of_any(host: str | None, domains: Collection[str]) -> bool:
    return host is not None and any(
        fnmatchcase(host, domain) or fnmatchcase(host, f"*.{domain}") for domain in domains
    )


@dataclass(frozen=True, slots=True)
class VoteRules:
    """The rules of a verdict; `sources` are those that count, in the order of asking."""

    sources: Sequence[str]
    mode: str = SEQ
    tie: str = "not_factual"
    selection: Selection = field(default_factory=Selection)


@dataclass(frozen=True, slots=True)
class Score:
    """A row of the view `scores`; `source` is None except in mode `single`.

    `n_judgements` were asked for. `n_unusable` of them failed, or the judge does not support the
    language of the text. Without a usable judgement the response has no score. `words` say the
    score, or why none is shown; `beside` is what to show beside it, or empty.
    """

    mode: str
    source: str | None
    n_units: int
    n_supported: int
    n_refuted: int
    n_undecided: int
    factuality_score: float | None
    decided_score: float | None
    coverage: float | None
    n_judgements: int
    n_unusable: int
    words: str
    beside: str


@dataclass(frozen=True, slots=True)
class Credibility:
    """A row of `sentence_scores`, or the scores of the whole text with `sentence_index` None.

    `state` is one of STATES, None for the whole text.
    """

    sentence_index: int | None
    n_supported: int
    n_refuted: int
    n_noans: int
    n_error: int
    credibility: float | None
    band: str
    state: str | None


@dataclass(frozen=True, slots=True)
class Contribution:
    """A row of `source_contributions`."""

    mode: str
    source: str
    position: int | None
    n_units: int
    n_decided: int | None
    n_votes: int | None
    n_agreeing: int | None
    share: float | None
    agreeing_share: float | None


@dataclass(frozen=True, slots=True)
class CategoryShare:
    """A row of `category_shares` for all evidence, selected or not, of one sentence or the text."""

    sentence_index: int | None
    source_category: str
    n_evidence: int
    n_supported: int
    n_refuted: int
    share: float


@dataclass(slots=True)
class Scores:
    """The verdicts and scores of one response, computed from its evidence.

    `passage` is the credibility of the whole text, including claims without a sentence.
    `categories` are the shares for the whole text, `sentence_categories` for each sentence.
    `headline` summarises the result in a sentence, and `states` has the state of each unit by its
    id.
    """

    headline: str
    states: dict[str, str]
    verdicts: list[Verdict]
    scores: list[Score]
    contributions: list[Contribution]
    sentences: list[Credibility]
    passage: Credibility
    categories: list[CategoryShare] = field(default_factory=list)
    sentence_categories: list[CategoryShare] = field(default_factory=list)


class OfUnit(Protocol):
    """Anything that belongs to a fact unit and has its id."""

    @property
    def unit_id(self) -> str: ...


class Placed(OfUnit, Protocol):
    """The fields used of a fact unit; `sentence_index` is None for a unit without a sentence."""

    @property
    def sentence_index(self) -> int | None: ...


class Piece(OfUnit, HasOutcome, Protocol):
    """The fields used of a row of evidence."""

    @property
    def source(self) -> str: ...
    @property
    def passage_id(self) -> str | None: ...
    @property
    def reason(self) -> str | None: ...


U = TypeVar("U", bound=OfUnit)


def score(
    units: Sequence[Placed],
    evidence: Sequence[Piece],
    passages: Iterable[Passage],
    rules: VoteRules,
    n_sentences: int,
    response_id: str = "",
    extraction_failed: bool = False,
) -> Scores:
    """Return the verdicts and scores of one response from its evidence.

    Args:
        units: the response's fact units, in order.
        evidence: its rows of `evidence`. A row does not count if its passage is not selected or its
            source is not in the rules; the source still counts as asked.
        passages: the passages that the evidence cites.
        n_sentences: how many sentences the response has.
        extraction_failed: whether the extraction failed; a sentence without a claim may then have
            one.
    """
    sources, mode, keeps = rules.sources, rules.mode, rules.selection.keeps
    known = {one.passage_id: one for one in passages}
    counting = [
        row
        for row in evidence
        if row.passage_id is None or keeps(row.passage_id, known.get(row.passage_id))
    ]
    tallies = _tallies(units, evidence, counting, sources)
    rows = [
        row for votes in tallies.values() for row in verdicts(response_id, votes, mode, rules.tie)
    ]
    modes = (SEQ, MV, SINGLE) if mode == ALL else (mode,)
    of_mode = {name: [row for row in rows if row.mode == name] for name in modes}
    places = {unit.unit_id: unit.sentence_index for unit in units}
    labels: dict[str, list[int | None]] = {unit.unit_id: [] for unit in units}
    for row in of_mode[main_mode(mode)]:
        labels[row.unit_id].append(row.label)
    unusable = {row.unit_id for row in counting if is_unusable(row)}
    states = {name: state_of(of, name in unusable) for name, of in labels.items()}
    of_sentence = _by_sentence(counting, places)
    units_of = _by_sentence(units, places)
    sentences = []
    for index in range(n_sentences):
        own = [unit.unit_id for unit in units_of.get(index, ())]
        failed = any(name in unusable for name in own) if own else extraction_failed
        state = state_of([label for name in own for label in labels[name]], failed)
        sentences.append(_credibility(index, of_sentence.get(index, ()), state))
    return Scores(
        headline(states.values(), extraction_failed),
        states,
        rows,
        [
            new_score
            for name in modes
            for new_score in _scores(of_mode[name], counting, len(units), sources, name)
        ],
        [
            new_score
            for name in modes
            for new_score in _contributions(of_mode[name], tallies, sources, name)
        ],
        sentences,
        _credibility(None, counting, None),
        _categories(None, evidence, known),
        [
            share
            for index, rows_of in sorted(_by_sentence(evidence, places).items())
            for share in _categories(index, rows_of, known)
        ],
    )


def is_unusable(row: Piece) -> bool:
    """Return whether a judgement failed, or is of a text in an unsupported language."""
    return row.outcome == ERROR or row.reason == UNSUPPORTED_LANGUAGE


def band_of(credibility: float | None) -> str:
    """Return the colour of a credibility in Facts&Evidence, grey where there is no evidence.

    It is red in [0, .3), orange in [.3, .6) and green in [.6, 1].
    """
    if credibility is None:
        return "grey"
    return "red" if credibility < 0.3 else "orange" if credibility < 0.6 else "green"


def _tallies(
    units: Sequence[Placed],
    evidence: Iterable[Piece],
    counting: Iterable[Piece],
    sources: Sequence[str],
) -> dict[str, list[Tally]]:
    """Return the tallies of each unit, one for each source that was asked about it, in order.

    A unit that no source was asked about gets an empty tally, so that it has a verdict.
    """
    asked: dict[tuple[str, str], list[Piece]] = {(row.unit_id, row.source): [] for row in evidence}
    for row in counting:
        asked[row.unit_id, row.source].append(row)
    return {
        unit.unit_id: [
            tally(unit.unit_id, name, asked[unit.unit_id, name])
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
) -> Iterator[Score]:
    for source in sources if mode == SINGLE else (None,):
        of = sources if source is None else (source,)
        labels = [row.label for row in rows if source in (None, row.source)]
        yes, no = labels.count(1), labels.count(0)
        own = [row for row in counting if row.source in of]
        lost = sum(map(is_unusable, own))
        # Where a source has no passage nothing was judged.
        usable = sum(row.passage_id is not None and not is_unusable(row) for row in own)
        scored = 0 if lost and not usable else n_units
        row: dict[str, Any] = {
            "n_units": n_units,
            "n_supported": yes,
            "n_refuted": no,
            "n_undecided": n_units - yes - no,
            "factuality_score": _ratio(yes, scored),
            "decided_score": _ratio(yes, yes + no),
            "coverage": _ratio(yes + no, scored),
            "n_judgements": lost + usable,
            "n_unusable": lost,
        }
        yield Score(mode, source, **row, words=score_in_words(row), beside=beside(row))


def _contributions(
    rows: Sequence[Verdict],
    tallies: Mapping[str, Sequence[Tally]],
    sources: Sequence[str],
    mode: str,
) -> Iterator[Contribution]:
    n = len(tallies)
    if mode != MV:
        counts = Counter(
            row.source for row in rows if row.label is not None or row.source == NO_SOURCE
        )
        places: dict[str, int | None] = {name: at for at, name in enumerate(sources, 1)}
        for name, at in (places | {NO_SOURCE: None} if mode == SEQ else places).items():
            share = _ratio(counts[name], n)
            yield Contribution(mode, name, at, n, counts[name], None, None, share, None)
        return
    labels = {row.unit_id: row.label for row in rows}
    votes: Counter[str] = Counter()
    agreeing: Counter[str] = Counter()
    for unit_id, unit_tallies in tallies.items():
        for source_tally in unit_tallies:
            votes[source_tally.source] += source_tally.n_supported + source_tally.n_refuted
            if (label := labels[unit_id]) is not None:
                agreeing[source_tally.source] += (
                    source_tally.n_supported if label else source_tally.n_refuted
                )
    for at, name in enumerate(sources, 1):
        of = _ratio(votes[name], votes.total()), _ratio(agreeing[name], agreeing.total())
        yield Contribution(mode, name, at, n, None, votes[name], agreeing[name], *of)


def _by_sentence(rows: Iterable[U], places: Mapping[str, int | None]) -> dict[int, list[U]]:
    """Return rows of units by sentence index; units without a sentence are left out."""
    by_sentence: dict[int, list[U]] = {}
    for row in rows:
        place = places.get(row.unit_id)
        if place is not None:
            by_sentence.setdefault(place, []).append(row)
    return by_sentence


def _credibility(index: int | None, rows: Iterable[Piece], state: str | None) -> Credibility:
    counts = Counter(row.outcome for row in rows if row.passage_id is not None)
    yes, no, nothing = counts[SUPPORTED], counts[REFUTED], counts[NOANS]
    credibility = _ratio(yes, yes + no + nothing)
    return Credibility(
        index, yes, no, nothing, counts[ERROR], credibility, band_of(credibility), state
    )


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
            index,
            name,
            len(outcomes),
            outcomes.count(SUPPORTED),
            outcomes.count(REFUTED),
            len(outcomes) / of,
        )
        for name, outcomes in by_category.items()
    ]
    return sorted(shares, key=lambda one: (-one.n_evidence, one.source_category))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
