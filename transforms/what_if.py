"""Recompute the verdicts and scores of a finished run under other rules, without asking a model."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from ufo.schemas.errors import UsageError
from ufo.schemas.results import Results, Run
from ufo.transforms.scores import Score, Scores, VoteRules, score
from ufo.transforms.votes import SEQ

Row = dict[str, Any]

# There is also a row for a response without a unit, and for a unit without a source.
_JUDGEMENTS = """
SELECT r.response_id, r.model, r.dataset, u.unit_id, NULL AS sentence_index, e.source,
    e.passage_id, e.outcome, e.reason, p.source_category, p.hostname
FROM responses AS r
LEFT JOIN fact_units AS u USING (response_id)
LEFT JOIN evidence AS e USING (response_id, unit_id)
LEFT JOIN passages AS p USING (passage_id)
ORDER BY r.response_id, u.unit_id
"""
_SCORES = """
SELECT response_id, source, factuality_score, coverage
FROM scores
WHERE mode = $mode AND factuality_score IS NOT NULL
"""
_LEVELS = ("run", "model", "dataset", "response")


def scores_if(results: Results, rules: VoteRules) -> list[Row]:
    """Return the mean scores of a run under other rules, by level and name.

    The levels are run, model, dataset and response. `before` is the mean of the run's own
    factuality scores in the same mode, `before_coverage` of their coverage. All means are over the
    `n_compared` responses that have a score under both rules; if there is none, each is over its
    own.

    Raises:
        UsageError: some verdicts depend on sources that were not asked.
    """
    own = {
        (row["response_id"], row["source"]): row
        for row in results.query(_SCORES, {"mode": rules.mode}).to_pylist()
    }
    levels: dict[tuple[Any, ...], list[tuple[Score, Row | None]]] = defaultdict(list)
    run = results.runs[-1].name
    for of, new_scores in recompute(results, rules):
        for new_score in new_scores.scores:
            before = own.get((of.response_id, new_score.source))
            for place, name in enumerate((run, of.model, of.dataset, of.response_id)):
                # A name that is not known comes last.
                levels[place, name is None, name or "", new_score.source or ""].append(
                    (new_score, before)
                )
    return [
        {
            "level": _LEVELS[place],
            "name": None if unnamed else name,
            "mode": rules.mode,
            "source": source or None,
            **_means(scored),
        }
        for (place, unnamed, name, source), scored in sorted(levels.items(), key=itemgetter(0))
    ]


def recompute(results: Results, rules: VoteRules) -> Iterator[tuple[SimpleNamespace, Scores]]:
    """Yield each response of a run (its row of `responses`, as an object) with its new scores.

    Raises:
        UsageError: a verdict depends on a source that was not asked.
    """
    with results.stream(_JUDGEMENTS) as reader:
        rows = (SimpleNamespace(**row) for batch in reader for row in batch.to_pylist())
        for response_id, group in groupby(rows, key=attrgetter("response_id")):
            judged: list[Any] = list(group)
            units = {row.unit_id: row for row in judged if row.unit_id is not None}
            evidence = [row for row in judged if row.source is not None]
            # One row has the fields of the fact unit, the evidence and the passage that are used.
            new_scores = score([*units.values()], evidence, evidence, rules, 0, response_id)
            asked = {(row.unit_id, row.source) for row in evidence}
            for verdict in new_scores.verdicts:
                needed = list(rules.sources)
                if rules.mode == SEQ and verdict.source in needed:
                    # Sources after the deciding one need not be asked.
                    del needed[needed.index(verdict.source) :]
                if any((verdict.unit_id, name) not in asked for name in needed):
                    raise _unknown(results.runs[-1])
            yield judged[0], new_scores


def _unknown(run: Run) -> UsageError:
    return UsageError(
        f"run {run.name!r} does not know every verdict: in its mode {run.mode!r} a source that "
        "would have to be asked was not. Evaluate with --mode all, after which every order can be "
        f"compared; of this run, only the order {','.join(run.sources)} and its beginnings are "
        "known, with all passages."
    )


def _means(scored: Sequence[tuple[Score, Row | None]]) -> Row:
    both = [(one, own) for one, own in scored if one.factuality_score is not None and own]
    compared = both or scored

    def mean(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    def sums(*names: str) -> Row:
        return {name: sum(getattr(one, name) for one, _ in scored) for name in names}

    before = mean(own["factuality_score"] for _, own in compared if own)
    factual = mean(one.factuality_score for one, _ in compared)
    return {
        "n_responses": len(scored),
        "n_compared": len(both),
        **sums("n_units", "n_supported", "n_refuted"),
        "factuality_score": factual,
        "before": before,
        "before_coverage": mean(own["coverage"] for _, own in compared if own),
        "difference": None if factual is None or before is None else factual - before,
        "decided_score": mean(one.decided_score for one, _ in compared),
        "coverage": mean(one.coverage for one, _ in compared),
        **sums("n_judgements", "n_unusable"),
    }
