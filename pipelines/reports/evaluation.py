"""Define the results of the Python interface: a finished run, or one checked text (see `ufo`)."""

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufo.pipelines.reports.quotes import quote_of, strongest
from ufo.pipelines.reports.unusable import OURS, Unusable
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import EXCEPTION, MULTI, NO_SOURCE
from ufo.transforms.check_text import CheckedText
from ufo.transforms.extract import EXTRACT
from ufo.transforms.gate_score import LEFT_OUT, gate_score
from ufo.transforms.plugin_errors import ERROR_IN
from ufo.transforms.score_words import score_in_words
from ufo.transforms.scores import is_unusable, run_headline
from ufo.transforms.votes import main_mode

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from ufo.pipelines.reports.check_settings import CheckSettings
    from ufo.pipelines.reports.pie import Pie
    from ufo.schemas.results import Results


class FinishedRun:
    """A finished run: its tables and views as Arrow tables, and SQL over them.

    `run` is the run's name and `path` its folder. Without an output folder, the results live as
    long as this object.
    """

    def __init__(self, results: "Results", path: str, temporary: ExitStack) -> None:
        self._results = results
        self._forget = weakref.finalize(self, temporary.close)
        self.path = path
        self.run = results.runs[0].name

    @property
    def failures(self) -> "pa.Table":
        """One row for each input or step that failed, with the reason."""
        return self.sql("FROM failures ORDER BY step, key")

    def sql(self, query: str, params: Sequence[object] = ()) -> "pa.Table":
        """Return the result of a SELECT over the tables and views.

        Raises:
            UsageError: the SQL is wrong.
        """
        return self._results.query(query, params)

    def __repr__(self) -> str:
        """Return a line with the run's name and result; `print` shows the whole result."""
        summary = self._in_a_line() if self._forget.alive else "closed"
        return f"<ufo.{type(self).__name__} {self.run!r}: {summary}>"

    def _in_a_line(self) -> str:
        return ""

    def close(self) -> None:
        """Close the database over the results, and delete them if no output folder was given.

        Tables taken from it before stay valid.
        """
        self._results.close()
        self._forget()


class Evaluation(FinishedRun):
    """A finished run of `ufo.evaluate`, with the most used tables and views as properties.

    A notebook shows its overview with plots, and `print` the same as text; `report` writes it to a
    file.

    `failed_gates` has a sentence for each of the gates `fail_under`, `min_scored` and `baseline`
    that the run does not pass, also where that cannot be decided; it is empty if the run passes all
    that were given. `comparison` is how the run differs from `baseline`, as `ufo compare --json`
    says it; None without a baseline, or where there is nothing to compare.
    """

    def __init__(
        self,
        results: "Results",
        path: str,
        temporary: ExitStack,
        failed_gates: Sequence[str] = (),
        comparison: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(results, path, temporary)
        self.failed_gates = list(failed_gates)
        self.comparison = comparison

    @property
    def score(self) -> float | None:
        """The factuality score of the run: the mean over its responses with a score, or None.

        Every display shows this score. With `mode="all"` it is the score in mode `seq`.
        """
        score: float | None = self._main["factuality_score"]
        return score

    @property
    def score_in_words(self) -> str:
        """The score with its interval and its coverage, or "no score: …" with the reason."""
        return score_in_words(self._main)

    @property
    def coverage(self) -> float | None:
        """The share of claims that some source decided: a mean over responses with a score.

        It is None if no response has a score.
        """
        coverage: float | None = self._main["coverage"]
        return coverage

    @property
    def headline(self) -> str:
        """The result as a sentence: "7 of 9 claims supported, 1 contradicted, 1 not found"."""
        return run_headline(self._results)

    @cached_property
    def _main(self) -> dict[str, Any]:
        from ufo.pipelines.reports.main_score import main_scores  # of no use to plug-ins

        return main_scores(self._results)[self.run]

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the claims as a table of pandas, one row each.

        Its columns are response_id, model, question, sentence, claim, state (supported,
        contradicted, not found or error), label (1, 0 or missing), source (who decided), evidence
        (the quote that decided) and url.

        The verdicts are those of the run's main mode, as in `score`. Other tables are Arrow tables,
        which have a method `to_pandas` of their own: `result.scores.to_pandas()`.

        Raises:
            UsageError: pandas is not installed.
        """
        from ufo.pipelines.reports.claims import as_pandas, claims_of

        return as_pandas(claims_of(self._results))

    @property
    def scores(self) -> "pa.Table":
        """One row a response: factuality_score, decided_score, coverage and counts of units."""
        return self.sql("FROM scores ORDER BY mode, source, response_id")

    @property
    def contributions(self) -> "pa.Table":
        """One row a source: the share of units that it decided; `none` is the undecided share."""
        return self.sql("FROM source_contributions ORDER BY mode, position")

    @property
    def verdicts(self) -> "pa.Table":
        """One row a fact unit and mode: label 1, 0 or NULL, the deciding source, the votes."""
        return self.sql("FROM verdicts ORDER BY response_id, unit_id, mode, source")

    @property
    def evidence(self) -> "pa.Table":
        """One row for each fact unit and passage checked against it, with the passage's text."""
        return self.sql("FROM evidence_full ORDER BY response_id, unit_id, source, rank")

    def pie(self, model: str | None = None) -> "Pie":
        """Return UFO's pie chart: the share of claims that each source decided, and the rest.

        With `mode="mv"` it is the share of valid votes. A notebook shows the pie;
        `save("who.svg")` writes it, and `str` is the SVG.

        Args:
            model: only the responses of this model.

        Raises:
            UsageError: the run has no response of that model.
        """
        from ufo.pipelines.reports.pie import Pie

        view = "source_contributions" if model is None else "source_contributions_by_model"
        mode = main_mode(self._results.runs[0].mode)
        rows = self.sql(f"FROM {view} WHERE mode = ? ORDER BY position", [mode]).to_pylist()
        if model is not None:
            models = sorted({row["model"] for row in rows if row["model"] is not None})
            if model not in models:
                raise UsageError(unknown_value("model", model, models))
            rows = [row for row in rows if row["model"] == model]
        return Pie(rows, model or "")

    def report(self, path: str | Path) -> None:
        """Write the report of the run to a file, one HTML page that opens offline.

        Raises:
            UsageError: the file cannot be written.
        """
        from ufo.pipelines.reports.html_report import write_html  # Jinja is slow to import

        write_html(self._results, str(path))

    def _in_a_line(self) -> str:
        return f"{self.headline}; {self.score_in_words}"

    def __str__(self) -> str:
        """Return the report of the run, as `ufo report` prints it."""
        # rich is slow to import, and a program that prints no result does not need it.
        from ufo.pipelines.reports.overview import overview
        from ufo.pipelines.reports.terminal import print_overview, text_of

        # Its folder may be temporary, so no command is shown.
        summary = overview(self._results) | {"directory": None}
        return text_of(partial(print_overview, summary))

    def _repr_html_(self) -> str:
        from ufo.pipelines.reports.html_report import notebook_html  # Jinja is slow to import

        return notebook_html(self._results)


class Recall(FinishedRun):
    """A finished recall run, with its tables and views of facts and of verdicts on them.

    `print` shows the tables that `ufo recall` prints, and so does a notebook.
    """

    @property
    def recall(self) -> dict[str, dict[str, float | None]]:
        """The factual recall by formulation and variant: `{"tfn": {"rag": 0.75}}`.

        It is None where no fact has a verdict.
        """
        from ufo.pipelines.reports.recall import recall_by_variant

        return recall_by_variant(self._results)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the verdicts as a table of pandas, one row for each fact, answer and formulation.

        Its columns are record_id, question, variant, formulation, fact, outcome, label (1 if the
        answer states the fact, else 0), human_label, reason (why there is no label) and citation.

        Raises:
            UsageError: pandas is not installed.
        """
        from ufo.pipelines.reports.claims import as_pandas
        from ufo.pipelines.reports.recall import VERDICTS

        return as_pandas(self.sql(VERDICTS))

    def _in_a_line(self) -> str:
        from ufo.pipelines.reports.recall import size_in_words

        by_formulation = self.recall
        values = [value for by in by_formulation.values() for value in by.values()]
        known = [value for value in values if value is not None]
        low, high = (f"{pick(known):.3f}" if known else "" for pick in (min, max))
        recall = "no recall" if not known else f"recall {low}" + (f" to {high}" * (low != high))
        return f"{size_in_words(self._results)}; {recall}"

    def __str__(self) -> str:
        """Return the tables of the run, as `ufo recall` prints them."""
        # rich is slow to import, and a program that prints no result does not need it.
        from ufo.pipelines.reports.recall import print_recall
        from ufo.pipelines.reports.terminal import text_of

        return text_of(partial(print_recall, self._results))

    def _repr_html_(self) -> str:
        return _printed_html(self)

    @property
    def scores(self) -> "pa.Table":
        """Accuracy and recall of each variant, by people and by each formulation."""
        return self.sql("FROM recall_scores ORDER BY formulation, variant")

    @property
    def errors(self) -> "pa.Table":
        """Error rate of each formulation against people, with the F1 score of the class false."""
        return self.sql("FROM recall_errors ORDER BY formulation, variant")

    @property
    def cost(self) -> "pa.Table":
        """Calls and tokens of each formulation."""
        return self.sql("FROM recall_cost ORDER BY formulation")

    @property
    def facts(self) -> "pa.Table":
        """One row a fact."""
        return self.sql("FROM recall_facts ORDER BY record_id, fact_index")

    @property
    def verdicts(self) -> "pa.Table":
        """One row for each fact, answer and formulation; labels of people are rows, too."""
        return self.sql("FROM recall_verdicts ORDER BY record_id, variant, fact_id, formulation")


class Check:
    """The result of checking one text. The rows are records of the tables.

    `print` shows the claims with their evidence, and so does a notebook.
    """

    def __init__(self, rows: CheckedText, asked: "CheckSettings") -> None:
        """Keep the rows, and how the text was checked."""
        # It imports pyarrow, and `import ufo` is to be fast.
        from ufo.pipelines.reports.checked import checked_response

        whole = checked_response(rows, asked)
        self.sentences = rows.sentences
        self.fact_units = rows.fact_units
        self.evidence = rows.evidence
        self.passages = rows.passages
        self.verdicts = rows.verdicts
        self.failures = rows.failures
        self.usage = rows.usage
        self.text = rows.response.text
        self.response = rows.response
        self._whole = whole
        self._mode = main_mode(asked.mode)
        self._score = next(row for row in whole.scores.scores if row.mode == self._mode)

    @property
    def score(self) -> float | None:
        """The share of all claims that are supported; undecided ones count as unsupported.

        It is None without any claim or any usable judgement. With `mode="all"` it is the score in
        mode `seq`.
        """
        return self._whole.score

    @property
    def score_in_words(self) -> str:
        """The score with its coverage, or "no score: no source knew any of 4 claims"."""
        return self._whole.score_in_words

    @property
    def coverage(self) -> float | None:
        """The share of claims that some source decided; None where `score` is None."""
        return self._whole.coverage

    def gate_score(self, no_claim: str = LEFT_OUT) -> float | None:
        """Return the score for a gate; a text whose score is None does not pass.

        Args:
            no_claim: what a text without a claim means: `left_out` (it has no score), `pass` (it
                counts as 1) or `fail` (as 0), as in `ufo evaluate --no_claim`. It changes nothing
                where there are claims, or where they could not be extracted.

        Raises:
            UsageError: `no_claim` is another word.
        """
        counts = {
            "n_scored": self.score is not None,
            "n_without_units": not self.fact_units,
            "n_not_extracted": self.lost.extraction,
        }
        return gate_score(asdict(self._score) | counts, no_claim)

    @property
    def headline(self) -> str:
        """The result as a sentence: "7 of 9 claims supported, 1 contradicted, 1 not found"."""
        return self._whole.headline

    @property
    def states(self) -> list[str]:
        """The state of each sentence, such as supported, contradicted or not found.

        The others are partly supported, no claim and error.
        """
        return [str(one.state) for one in self._whole.scores.sentences]

    @property
    def judged_by(self) -> str:
        """The verifier of the offline judge, with figures of its accuracy; "" for other judges."""
        return self._whole.judged_by

    @property
    def trust(self) -> str:
        """What to do with these verdicts, in at most 90 characters; "" where none was judged."""
        return self._whole.trust

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: the fields of `CheckedResponse`.

        The service and its page have the same fields.
        """
        return asdict(self._whole)

    @property
    def lost(self) -> Unusable:
        """The judgements that are unusable, or the failure of the extraction."""
        messages = [row.message for row in self.failures if not row.message.startswith(OURS)]
        message = messages[-1] if messages else ""
        failed = Counter(
            EXCEPTION if row.message.startswith(ERROR_IN) else row.error_type
            for row in self.failures
            if row.step == EXTRACT
        )
        if failed and not self.fact_units:
            return Unusable(1, 1, failed, extraction=True, words=message)
        reasons = Counter(row.reason or "unknown" for row in self.evidence if is_unusable(row))
        return Unusable(self._score.n_unusable, self._score.n_judgements, reasons, words=message)

    def claims(self) -> Iterator[dict[str, Any]]:
        """Yield each claim with its verdict, and with the strongest evidence for the verdict."""
        passages = {one.passage_id: one for one in self.passages}
        verdicts = {row.unit_id: row for row in self.verdicts if row.mode == self._mode}
        for unit in self.fact_units:
            verdict = verdicts[unit.unit_id]
            of_verdict = (
                row
                for row in self.evidence
                if row.unit_id == unit.unit_id and verdict.source in (row.source, NO_SOURCE, MULTI)
            )
            best = strongest(of_verdict, verdict.label)
            passage = passages.get(best.passage_id or "")
            yield {
                **asdict(best),
                **asdict(verdict),
                "evidence_source": best.source,
                "state": self._whole.scores.states[unit.unit_id],
                "claim": unit.claim,
                "quote": quote_of(unit.claim, best.citation, passage.text if passage else None),
                "question": None,
                "model": None,
                "title": passage and passage.title,
                "url": passage and passage.url,
            }

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the claims as a table of pandas, with the columns of `Evaluation.to_pandas`.

        Raises:
            UsageError: pandas is not installed.
        """
        from ufo.pipelines.reports.claims import as_pandas, claims_of_text

        return as_pandas(claims_of_text(self))

    def __repr__(self) -> str:
        """Return a line with the headline and the score; `print` shows the claims."""
        return f"<ufo.Check: {self.headline}; {self.score_in_words}>"

    def _repr_html_(self) -> str:
        return _printed_html(self)

    def __str__(self) -> str:
        """Return the result as `ufo check` prints it."""
        # rich is slow to import, and a program that prints no result does not need it.
        from ufo.pipelines.reports.terminal import print_check, text_of

        return text_of(partial(print_check, self)).rstrip()


def _printed_html(result: object) -> str:
    """Return the printed form of a result as HTML, for a notebook."""
    return f"<pre>{escape(str(result))}</pre>"
