"""Define the JSON of a checked text, which is the same in the shell, in Python and in the service.

`ufo check --json`, `Check.to_dict`, a result that the service keeps, a response of a run and a
download of the page all have the fields of `CheckedResponse`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from ufo.pipelines.reports.check_settings import CheckSettings
from ufo.schemas.errors import UfoError
from ufo.schemas.labels import Label
from ufo.schemas.records import Evidence, Response
from ufo.schemas.text import quantity
from ufo.transforms.check_text import CheckedText, score_text
from ufo.transforms.english.words import is_english
from ufo.transforms.extraction.layout import LayoutBlock, layout
from ufo.transforms.judges.offline import NAME
from ufo.transforms.judges.trust import trust_figures, trust_line
from ufo.transforms.scores import Scores, Selection, is_unusable
from ufo.transforms.sources.fact_source import SourceSpec
from ufo.transforms.votes import main_mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The basis of a result: the judge, the sources with their sizes, and the text's language.

    `trust` says in a line how far to trust the verdicts, `judged_by` in figures. Both are "" where
    nothing was judged; `judged_by` has figures only of the offline judge.
    """

    judge: str
    trust: str
    judged_by: str
    sources: list[str]
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The evidence that a reader left out; `words` is a sentence on it, "" where all counts."""

    without_passages: list[str] = field(default_factory=list)
    without_categories: list[str] = field(default_factory=list)
    words: str = ""


@dataclass(slots=True, kw_only=True)
class CheckedResponse(CheckedText):
    """One response with all its rows and its scores.

    `score`, `coverage` and `verdicts` are of the evidence that is not `left_out`, in the mode that
    is shown; `scores` has those of every mode, sentence and source. They follow from the evidence
    alone. `layout` says how the text is shown as Markdown. `labels` were given on the page.
    """

    text: str
    headline: str
    score: float | None
    score_in_words: str
    coverage: float | None
    trust: str
    judged_by: str
    run: str | None
    mode: str
    tie: str
    judge: str
    sources: list[str]
    left_out: LeftOut
    basis: Basis
    layout: list[LayoutBlock]
    scores: Scores
    labels: list[Label]


Whole = TypeVar("Whole", bound=CheckedResponse)


def checked_response(
    rows: CheckedText, asked: CheckSettings, labels: Iterable[Label] = ()
) -> CheckedResponse:
    """Return a response with its scores.

    A claim without a verdict, as after a check that ended early, is in no score.
    """
    used = sources_judged(rows.evidence)
    models = [row.model for row in rows.evidence if row.model]
    basis = basis_of(
        asked.judge,
        models or asked.models,
        [source.type for source in asked.sources if source.name in used],
        asked.sources,
        rows.response,
    )
    sources = [source.name for source in asked.sources]
    return CheckedResponse(
        **{column.name: getattr(rows, column.name) for column in fields(CheckedText)},
        **_scores(rows, sources, asked.mode, asked.tie),
        text=rows.response.text,
        trust=basis.trust,
        judged_by=basis.judged_by,
        run=asked.run,
        mode=asked.mode,
        tie=asked.tie,
        judge=asked.judge,
        sources=sources,
        left_out=LeftOut(),
        basis=basis,
        layout=layout(rows.response.text),
        labels=list(labels),
    )


def select_evidence(whole: Whole, selection: Selection | None) -> Whole:
    """Return a response with the scores and verdicts of selected evidence; None selects all.

    All rows of evidence stay.
    """
    if selection is None:
        return whole
    scores = _scores(whole, whole.sources, whole.mode, whole.tie, selection)
    verdicts = scores["scores"].verdicts
    return replace(whole, **scores, verdicts=verdicts, left_out=_left_out(whole, selection))


def _scores(
    rows: CheckedText,
    sources: Sequence[str],
    mode: str,
    tie: str,
    selection: Selection | None = None,
) -> dict[str, Any]:
    judged = {row.unit_id for row in rows.verdicts}
    units = [unit for unit in rows.fact_units if unit.unit_id in judged]
    scores = score_text(replace(rows, fact_units=units), sources, mode, tie, selection)
    main = next(row for row in scores.scores if row.mode == main_mode(mode))
    return {
        "headline": scores.headline,
        "score": main.factuality_score,
        "score_in_words": main.words,
        "coverage": main.coverage,
        "scores": scores,
    }


def selected_evidence(rows: CheckedText, selection: Selection) -> list[Evidence]:
    """Return the evidence that a selection keeps; evidence without a passage always counts."""
    passages = {passage.passage_id: passage for passage in rows.passages}
    return [
        row
        for row in rows.evidence
        if row.passage_id is None or selection.keeps(row.passage_id, passages.get(row.passage_id))
    ]


def _left_out(rows: CheckedText, selection: Selection) -> LeftOut:
    passages, kinds = sorted(selection.without_passages), sorted(selection.without_categories)
    if not (passages or kinds):
        return LeftOut()
    gone = len(rows.evidence) - len(selected_evidence(rows, selection))
    which = [quantity(len(passages), "passage")] if passages else []
    which += [f"all of the category {kind!r}" for kind in kinds]
    words = (
        f"The reader left out {gone} of {quantity(len(rows.evidence), 'piece')} of evidence "
        f"({', '.join(which)}). Scores and verdicts are those of the rest."
    )
    return LeftOut(without_passages=passages, without_categories=kinds, words=words)


def sources_judged(evidence: Iterable[Evidence]) -> set[str]:
    """Return the names of the sources with a usable judgement on a passage."""
    return {row.source for row in evidence if row.passage_id and not is_unusable(row)}


def basis_of(
    judge: str,
    models: Iterable[str],
    judged: Sequence[str],
    sources: Sequence[SourceSpec],
    response: Response,
) -> Basis:
    """Return the basis to show beside a result.

    Args:
        judge: its name; `models`: the models whose verdicts count, or that will be asked.
        judged: the types of the sources whose evidence is judged.
        sources: in the order they are asked.
        response: the response that is judged.
    """
    models = list(dict.fromkeys(models))
    named = ", ".join(models)
    who = f"{judge} ({named})" if named else judge
    return Basis(
        judge=f"Judge {who}.",
        trust=trust_line([judge], models, judged),
        judged_by=trust_figures(models, judged) if judge == NAME else "",
        sources=[_describe(source, response) for source in sources],
        language=_language(response),
    )


def _describe(source: SourceSpec, response: Response) -> str:
    name, options = source.name, source.options
    if source.type == "reference":
        count = response.n_references
        return f"{name}: {count or 'no'} given {'text' if count == 1 else 'texts'}"
    if source.type == "wikipedia" and options.get("index"):
        return f"{name}: {size_of(str(options['index']))}"
    if source.type == "web":
        return f"{name}: pages found by {options.get('search') or 'a web search'}"
    if source.type == "llm":
        return f"{name}: what {options.get('knowledge_model') or 'a language model'} knows"
    return name


def size_of(folder: str) -> str:
    """Return the numbers of articles and passages of an index and its date, in words."""
    from ufo.indexes.manifest import read_manifest  # not needed without an index

    try:
        manifest, _ = read_manifest(Path(folder))
    except (UfoError, OSError):
        return f"the index {folder}, which is not on this machine"
    counts, dated = manifest["counts"], manifest.get("dump_date")
    articles = quantity(counts["articles"], "article")
    size = f"an index of {articles}, {quantity(counts['passages'], 'passage')}"
    return f"{size}, dump of {dated}" if dated else size


def _language(response: Response) -> str:
    if is_english(response.text, response.language):
        return f"{response.language} (given)" if response.language else "English, as far as seen"
    return f"{response.language or 'not English, as far as seen'}: the offline judge knows English"
