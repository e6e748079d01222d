"""The score rows of one response, with the columns of the views of the same names."""

from dataclasses import dataclass, field

from ufo.schemas.records import Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """A row of the view `scores`; `source` is None except in mode `single`.

    Of the `n_judgements` asked for, `n_unusable` failed or are of a text in a language that the
    judge does not support. Without a usable judgement the response has no score.
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


@dataclass(frozen=True, slots=True)
class Credibility:
    """A row of `sentence_scores`, or the scores of the whole text with `sentence_index` None.

    `state` is one of `ufo.transforms.states`, None for the whole text.
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
    `categories` are those of the whole text, `sentence_categories` of each sentence. `headline`
    summarises the result in a sentence, and `states` has the state of each unit by its id.
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
