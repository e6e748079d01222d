"""ufo: how factual is LLM output? The public Python interface.

    import ufo

    result = ufo.evaluate(
        [{"response": "Mount Etna is in Sicily.", "reference_answers": "Etna is on Sicily."}],
        sources=["reference"],
    )
    result.scores            # an Arrow table; `.to_pandas()` where pandas is installed
    ufo.check_sync("Mount Etna is in Sicily.", references=["Etna is a volcano in Sicily."]).score

This is the one module that users and plug-ins import. A fact source of your own is a subclass of
`FactSource` with one method, `find`.
"""

import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.version import VERSION as __version__
from schemas.errors import (
    IndexUnusable,
    PluginError,
    RunError,
    SourceUnavailable,
    UfoError,
    UsageError,
)
from schemas.records import Evidence, FactUnit, OpenUnits, Passage, Verdict
from transforms.llm.base import Client
from transforms.llm.fake import FakeClient
from transforms.sources.base import FactSource, Found, Retrieved

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from pipelines.options import Settings
    from schemas.results import Results
    from transforms.check_text import CheckedText

__all__ = [
    "Check",
    "Evaluation",
    "Evidence",
    "FactSource",
    "FactUnit",
    "FakeClient",
    "Found",
    "IndexUnusable",
    "OpenUnits",
    "Passage",
    "PluginError",
    "Retrieved",
    "RunError",
    "SourceUnavailable",
    "UfoError",
    "UsageError",
    "Verdict",
    "__version__",
    "check",
    "check_sync",
    "evaluate",
]


class Evaluation:
    """A finished run: its tables and views as Arrow tables, SQL over them, and plots.

    `run` is the run's name and `path` its folder. Without an output folder of yours the results
    live as long as this object.
    """

    def __init__(self, results: "Results", path: str, temporary: str | None = None) -> None:
        self._results = results
        self._forget = weakref.finalize(self, _remove, temporary) if temporary else None
        self.path = path
        self.run = results.runs[0].name

    @property
    def scores(self) -> "pa.Table":
        """One row a response: factuality_score, decided_score, coverage and counts of units."""
        return self._all("scores", "mode, source, response_id")

    @property
    def contributions(self) -> "pa.Table":
        """One row a source: the share of units it decided, `none` being the undecided ones."""
        return self._all("source_contributions", "mode, position")

    @property
    def verdicts(self) -> "pa.Table":
        """One row a fact unit (and way of voting): label 1, 0 or NULL, who decided, the votes."""
        return self._all("verdicts", "response_id, unit_id, mode, source")

    @property
    def evidence(self) -> "pa.Table":
        """One row for each passage that was held against a fact unit, with the passage's text."""
        return self._all("evidence_full", "response_id, unit_id, source, rank")

    @property
    def failures(self) -> "pa.Table":
        """One row for each input or step that failed, with the reason."""
        return self._all("failures", "step, key")

    def _all(self, name: str, order: str) -> "pa.Table":
        return self._results.query(f"SELECT * FROM {name} ORDER BY {order}")  # noqa: S608

    def sql(self, query: str, params: Sequence[object] = ()) -> "pa.Table":
        """Return what a SELECT over the tables and views gives.

        Raises:
            UsageError: the SQL is wrong.
        """
        return self._results.query(query, params)

    def plot_contributions(self, path: str | Path | None = None) -> "Figure":
        """Draw which source decided how much as a pie; `path` saves it as .png or .svg."""
        from pipelines.plots import plot_contributions

        return plot_contributions(self._results, path)

    def plot_scores(self, path: str | Path | None = None) -> "Figure":
        """Draw the factuality scores as bars; `path` saves it as .png or .svg."""
        from pipelines.plots import plot_scores

        return plot_scores(self._results, path)

    def __repr__(self) -> str:
        """Return the report of the run, as `ufo report` prints it."""
        from pipelines.report import render_overview

        return render_overview(self._results)

    def _repr_html_(self) -> str:
        import html
        import io

        picture = io.StringIO()
        self.plot_contributions().savefig(picture, format="svg")
        svg = picture.getvalue()
        return f"<pre>{html.escape(repr(self))}</pre>{svg[svg.index('<svg') :]}"

    def close(self) -> None:
        """Close the database over the results, and delete them if no output folder was given.

        Tables that were taken from it stay valid.
        """
        self._results.close()
        if self._forget is not None:
            self._forget()


def evaluate(
    responses: str | Path | Iterable[Mapping[str, Any] | str],
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
    mode: str = "seq",
    *,
    output: str | Path | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate responses as `ufo evaluate` does, and return the finished run.

    Args:
        responses: a path or pattern of input files, or a list of texts and input records
            (dictionaries with at least `response`).
        sources: names, `{"name": …, "type": …, …options}` or `FactSource` objects, in the order
            they are asked; the default is those of the built-in ones that can serve.
        mode: `seq`, `mv`, `single` or `all`.
        output: the folder that the run is kept in; a temporary one without it.
        options: any other flag of `ufo evaluate` by its name, such as `index="…"` or `passages=3`.

    Raises:
        UsageError: an option, a source or a file is wrong.
        RunError: the run could not be finished.

    Example:
        >>> result = evaluate(
        ...     [{"response": "Ada Lovelace was born in 1815.",
        ...       "reference_answers": "Ada Lovelace was born in London in 1815."}],
        ...     sources=["reference"], quiet=True)
        >>> result.scores["factuality_score"].to_pylist()
        [1.0]
    """
    from pipelines.run import run
    from schemas.results import open_results

    quiet = bool(options.pop("quiet", False))
    temporary = tempfile.mkdtemp(prefix="ufo-") if output is None else None
    folder = str(temporary or output)
    try:
        with tempfile.TemporaryDirectory(prefix="ufo-input-") as inputs:
            if isinstance(responses, (str, Path)):
                path = str(responses)
            else:
                path = str(Path(inputs) / "responses.jsonl")
                _write_records(responses, path)
            values = {"input": path, "output": folder, "mode": mode, **options}
            finished = run(_settings(values, sources), quiet=quiet)
        return Evaluation(open_results(folder, finished.name), finished.folder, temporary)
    except BaseException:
        if temporary:
            _remove(temporary)
        raise


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _write_records(responses: Iterable[Mapping[str, Any] | str], path: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as sink:
        for number, item in enumerate(responses):
            record = {"response": item} if isinstance(item, str) else item
            try:
                sink.write(json.dumps(dict(record), ensure_ascii=True) + "\n")
            except (TypeError, ValueError) as error:
                raise UsageError(
                    f"responses[{number}] is neither a text nor a record for JSON: {error}"
                ) from error


def _settings(
    values: Mapping[str, Any], sources: Sequence[str | Mapping[str, Any] | FactSource] | None
) -> "Settings":
    """Return the settings, checked by the parser that checks the command line."""
    from dataclasses import replace

    from pipelines.config import named_sources
    from pipelines.flags import Parser, add_evaluate_options
    from pipelines.options import settings

    parser = Parser(prog="ufo.evaluate")
    add_evaluate_options(parser)
    argv: list[str] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        argv += [f"--{name}"] if value is True else [f"--{name}={value}"]
    chosen = settings(parser, argv)
    if sources is None:
        return chosen
    if isinstance(sources, str):
        sources = [sources]
    described = [item if not isinstance(item, FactSource) else "" for item in sources]
    if not described:
        raise UsageError("sources is an empty list; leave it out to use those that can serve")
    order, definitions = named_sources(described)
    items = [
        source if isinstance(source, FactSource) else name
        for source, name in zip(sources, order, strict=True)
    ]
    return replace(chosen, sources=tuple(items), source_definitions=definitions)


class Check:
    """What the sources say of one text. The rows are records as the tables hold them."""

    def __init__(self, rows: "CheckedText") -> None:
        self.sentences = rows.sentences
        self.fact_units = rows.fact_units
        self.evidence = rows.evidence
        self.passages = rows.passages
        self.verdicts = rows.verdicts
        self.failures = rows.failures
        self.usage = rows.usage
        self.text = rows.response.text

    @property
    def score(self) -> float | None:
        """The share of claims that are factual, undecided ones as 0; None without any claim.

        With `mode="all"` that of the sources in their order, with `"single"` that of the source.
        """
        labels = [verdict.label for verdict in self._main()]
        return sum(label or 0 for label in labels) / len(labels) if labels else None

    @property
    def coverage(self) -> float | None:
        """The share of claims that some source decided; None without any claim."""
        labels = [verdict.label for verdict in self._main()]
        return sum(label is not None for label in labels) / len(labels) if labels else None

    def _main(self) -> list[Verdict]:
        modes = {verdict.mode for verdict in self.verdicts}
        main = "seq" if "seq" in modes else next(iter(modes), "")
        return [verdict for verdict in self.verdicts if verdict.mode == main]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        names = ("sentences", "fact_units", "evidence", "passages", "verdicts", "failures", "usage")
        rows = {name: [asdict(row) for row in getattr(self, name)] for name in names}
        return {"text": self.text, "score": self.score, "coverage": self.coverage, **rows}

    def __repr__(self) -> str:
        """Return the score and each claim with what became of it."""
        words = {1: "supported", 0: "refuted", None: "undecided"}
        verdicts = {verdict.unit_id: verdict for verdict in self._main()}
        lines = ["no checkable claim" if self.score is None else f"factuality {self.score:.2f}"]
        for unit in self.fact_units:
            verdict = verdicts[unit.unit_id]
            by = "" if verdict.label is None else f" by {verdict.source}"
            lines.append(f"  {words[verdict.label]}{by}: {unit.claim}")
        return "\n".join(lines)


async def check(
    text: str,
    *,
    question: str | None = None,
    references: Sequence[str] = (),
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
    mode: str = "seq",
    client: Client | None = None,
    **options: Any,
) -> Check:
    """Check one text, without Beam: the same steps, at once.

    Args:
        text: what is to be checked.
        question: what the text answers.
        references: texts that are trusted, for the source `reference`.
        sources, mode, options: as in `evaluate`.
        client: with `judge="llm"`, who is asked in place of an endpoint; a `FakeClient` in tests.

    Raises:
        UsageError: an option or a source is wrong, or the text is empty.

    Example:
        >>> import asyncio
        >>> reference = "The Danube flows through ten countries."
        >>> result = asyncio.run(check("The Danube flows through ten countries.",
        ...                            references=[reference], sources=["reference"]))
        >>> result.score
        1.0
    """
    import asyncio

    from transforms.loop import process_loop

    values = {"input": "-", "output": "-", "mode": mode, **options}
    checked = _check(text, question, references, _settings(values, sources), client)
    # On the process's own loop, where connections to models and searches are kept.
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(checked, process_loop()))


async def _check(
    text: str,
    question: str | None,
    references: Sequence[str],
    settings: "Settings",
    client: Client | None,
) -> Check:
    from pipelines.sources import choose
    from schemas.records import Failure
    from transforms.check_text import check_text
    from transforms.judges import make_judge
    from transforms.read import parse
    from transforms.sources.registry import make_source

    trusted = references if isinstance(references, str) else list(references)
    given = {"response": text, "question": question, "reference_answers": trusted}
    record = parse("text", json.dumps(given).encode())
    if isinstance(record, Failure):
        raise UsageError(record.message)
    opened = [make_source(spec, settings.source_flags()) for spec in choose(settings).specs]
    judge = make_judge(settings.judge_spec(), client)
    judge.open()
    for source in opened:
        source.open()
    try:
        rows = await check_text(record, opened, judge, settings.mode, settings.tie, settings.units)
    finally:
        for source in opened:
            source.close()
        await judge.aclose()
    return Check(rows)


def check_sync(text: str, **options: Any) -> Check:
    """Do what `check` does from code that has no event loop, or already runs in one (a notebook).

    Example:
        >>> result = check_sync("The Nile is in Africa.", references=["The Nile is in Africa."],
        ...                     sources=["reference"])
        >>> [verdict.label for verdict in result.verdicts]
        [1]
    """
    from transforms.loop import wait_for

    return wait_for(check(text, **options))
