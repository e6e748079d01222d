"""ufo: how factual is LLM output? The public Python interface.

    import ufo

    result = ufo.evaluate(
        [{"response": "Mount Etna is in Sicily.", "reference_answers": "Etna is on Sicily."}],
        sources=["reference"],
    )
    result.scores            # an Arrow table; `.to_pandas()` where pandas is installed
    ufo.check_sync("Mount Etna is in Sicily.", references=["Etna is a volcano in Sicily."]).score

This is the only module that users and plug-ins import. To write a fact source, subclass
`FactSource` and implement `find`. To write a judge, subclass `Judge` and implement `outcome`.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from ufo.pipelines.options.keywords import CheckKeywords, EvaluateKeywords, RecallKeywords
from ufo.pipelines.reports.evaluation import Check, Evaluation, Recall
from ufo.pipelines.version import VERSION as __version__
from ufo.schemas.errors import (
    IndexUnusable,
    PluginError,
    RunError,
    SourceUnavailable,
    UfoError,
    UsageError,
)
from ufo.schemas.records import Evidence, FactUnit, OpenUnits, Passage, Verdict
from ufo.schemas.temporary import own_folder, temporary_folder
from ufo.transforms.judges.judge import Judge, Judged, Judgement
from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.llm.fake import FakeClient
from ufo.transforms.llm.request import Client
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import FactSource, Found, Retrieved, SourceContext
from ufo.transforms.verifiers.verifier import Pair, Probabilities, Verifier

if TYPE_CHECKING:
    from ufo.pipelines.runs.program_input import ProgramInput, References, Text
    from ufo.pipelines.runs.run import Finished
    from ufo.schemas.results import Results

__all__ = [
    "Check",
    "Client",
    "Evaluation",
    "Evidence",
    "FactSource",
    "FactUnit",
    "FakeClient",
    "Found",
    "IndexUnusable",
    "Judge",
    "JudgeContext",
    "Judged",
    "Judgement",
    "OpenUnits",
    "Pair",
    "Passage",
    "PluginError",
    "Probabilities",
    "Recall",
    "Retrieved",
    "RunError",
    "SourceContext",
    "SourceUnavailable",
    "UfoError",
    "UsageError",
    "Verdict",
    "Verifier",
    "__version__",
    "check",
    "check_sync",
    "evaluate",
    "recall",
]


F = TypeVar("F", bound=Callable[..., Any])


def _with_help_of(keywords: type) -> Callable[[F], F]:
    """Return a decorator that adds the help of options to the docstring of their function."""

    def documented(function: F) -> F:
        function.__doc__ = f"{function.__doc__}\n{keywords.__doc__}"
        return function

    return documented


@_with_help_of(EvaluateKeywords)
def evaluate(
    responses: "ProgramInput",
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
    mode: str = "seq",
    *,
    output: str | Path | None = None,
    quiet: bool = False,
    **options: Unpack[EvaluateKeywords],
) -> Evaluation:
    """Evaluate responses as `ufo evaluate` does, and return the finished run.

    Args:
        responses: a path or pattern of input files; a list of texts and input records (dictionaries
            with at least `response`); or a table of such records from pandas, Polars, Arrow or any
            library with `__arrow_c_stream__`.
        sources: names, `{"name": …, "type": …, …options}` or `FactSource` objects, in the order in
            which they are asked; or names in one text: `"reference,llm"`. The default is all
            built-in sources that are configured.
        mode: `seq`, `mv`, `single` or `all`.
        output: the folder for the run (default: a temporary folder).
        quiet: whether to show no progress on stderr.
        options: any other flag of `ufo evaluate` by its name, as below; `judge` may also be a
            `Judge` object or `{"name": …, "type": …, …options}`. Options of Beam are accepted, too.
            A gate (`fail_under`, `min_scored`, `baseline`) raises no error and ends no program:
            `failed_gates` of the result lists those that the run fails.

    Raises:
        UsageError: an option, a source or a file is wrong.
        RunError: the run could not be finished.

    Examples:
        >>> result = evaluate(
        ...     [{"response": "Ada Lovelace was born in 1815.",
        ...       "reference_answers": "Ada Lovelace was born in London in 1815."}],
        ...     sources=["reference"], quiet=True)
        >>> result.scores["factuality_score"].to_pylist()
        [1.0]
    """
    # Slow to import, and of no use to plug-ins, which import this module in every worker.
    from ufo.pipelines.options.command_line import settings_of
    from ufo.pipelines.runs.gates import failed_gates
    from ufo.pipelines.runs.run import run_evaluate

    values = {"mode": mode, **options}
    checked = partial(settings_of, sources=sources)
    run = partial(run_evaluate, quiet=quiet)
    results, path, temporary, chosen = _finished(
        "ufo.evaluate", responses, "responses", output, values, checked, run
    )
    return Evaluation(results, path, temporary, *failed_gates(chosen, results))


@_with_help_of(RecallKeywords)
def recall(
    records: "ProgramInput",
    *,
    output: str | Path | None = None,
    quiet: bool = False,
    **options: Unpack[RecallKeywords],
) -> Recall:
    """Measure the share of facts of true answers that other answers state, as `ufo recall` does.

    Args:
        records: a path or pattern of input files, or a list or table of records (`question`,
            `ground_truth` and `answers`, an object of texts by variant).
        output: the folder for the run (default: a temporary folder).
        quiet: whether to show no progress on stderr.
        options: any other flag of `ufo recall` by its name, as below; `judge` as in `evaluate`.

    Raises:
        UsageError: an option or a file is wrong.
        RunError: the run could not be finished.

    Examples:
        >>> found = recall(
        ...     [{"question": "When was Ada Lovelace born?",
        ...       "ground_truth": "Ada Lovelace was born in London in 1815.",
        ...       "answers": {"rag": "Ada Lovelace was born in 1815 in London."}}],
        ...     judge="offline", quiet=True)
        >>> found.scores["recall"].to_pylist()
        [1.0]
    """
    # As in `evaluate`.
    from ufo.pipelines.options.command_line import recall_settings_of
    from ufo.pipelines.runs.run import run_recall

    run = partial(run_recall, quiet=quiet)
    results, path, temporary, _ = _finished(
        "ufo.recall", records, "records", output, options, recall_settings_of, run
    )
    return Recall(results, path, temporary)


def _finished(
    function: str,
    records_or_path: "ProgramInput",
    name: str,
    output: str | Path | None,
    options: Mapping[str, Any],
    settings_of: Callable[[Mapping[str, Any]], Any],
    run: Callable[[Any], "Finished"],
) -> tuple["Results", str, ExitStack, Any]:
    """Run on the given input; return the results, the run's folder, a stack, and the settings.

    The stack deletes a temporary output folder. If this process is killed, the next command does.
    """
    # As in `evaluate`.
    from ufo.pipelines.options.doors import python_door
    from ufo.pipelines.options.groups import COMMAND_ALONE
    from ufo.pipelines.runs.program_input import input_path
    from ufo.pipelines.runs.remote_results import open_results

    names = {name: name for name in options} | {"input": name}
    temporary = ExitStack()
    if output is None:
        output = temporary.enter_context(own_folder()) or tempfile.mkdtemp(prefix="ufo-")
    values = {"output": str(output), **options}
    path = name
    try:
        with (
            python_door(function, names),
            own_folder() as own,
            temporary_folder(own) as inputs,
        ):
            if "input" in options:
                raise UsageError(f"unknown keyword input; the input is the argument {name}")
            if alone := sorted(options.keys() & COMMAND_ALONE):
                command = function.replace(".", " ")
                raise UsageError(f"{alone[0]} is an option of the command `{command}` alone")
            path = input_path(records_or_path, name, inputs)
            settings = settings_of({"input": path, **values})
            done = run(settings)
            return open_results(settings.output, done.name), done.folder, temporary, settings
    except UfoError as error:
        temporary.close()
        if not isinstance(records_or_path, (str, Path)):  # its file was ours, and is gone
            error.reword(error.message.replace(f" {path}:", ":").replace(path, name))
        raise
    except BaseException:
        temporary.close()
        raise


@_with_help_of(CheckKeywords)
async def check(
    text: "Text",
    *,
    question: str | None = None,
    references: "References" = None,
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
    mode: str = "seq",
    client: Client | None = None,
    **options: Unpack[CheckKeywords],
) -> Check:
    """Check the claims of one text, by the steps of `evaluate` but without Beam.

    Args:
        text: the text to check, or its file as a `Path`. A word that looks like a file's name is
            refused.
        question: the question that the text answers.
        references: trusted texts for the source `reference`: a text, a list of texts, or files as
            `Path` objects. A text that looks like a file's name is refused.
        sources: as in `evaluate`.
        mode: as in `evaluate`.
        client: replaces the client of the judge's model, for example by a `FakeClient` in tests.
        options: the flags of `ufo check` by name, as below; `judge` as in `evaluate`.

    Raises:
        UsageError: an option or a source is wrong, or the text is empty.
        RunError: a model cannot be asked.

    Examples:
        >>> import asyncio
        >>> reference = "The Danube flows through ten countries."
        >>> result = asyncio.run(check("The Danube flows through ten countries.",
        ...                            references=[reference], sources=["reference"]))
        >>> result.score
        1.0
    """
    # As in `evaluate`.
    from ufo.pipelines.options.doors import python_door
    from ufo.pipelines.runs.check import check as check_given
    from ufo.pipelines.runs.program_input import references_of, text_or_file

    with python_door("ufo.check", {name: name for name in options}):
        return await check_given(
            text_or_file(text),
            question,
            references_of(references),
            sources,
            {"mode": mode, **options},
            client,
        )


@_with_help_of(CheckKeywords)
def check_sync(
    text: "Text",
    *,
    question: str | None = None,
    references: "References" = None,
    sources: Sequence[str | Mapping[str, Any] | FactSource] | None = None,
    mode: str = "seq",
    client: Client | None = None,
    **options: Unpack[CheckKeywords],
) -> Check:
    """Check one text like `check`, from code without an event loop, or inside one (a notebook).

    Examples:
        >>> result = check_sync("The Nile is in Africa.", references=["The Nile is in Africa."],
        ...                     sources=["reference"])
        >>> [verdict.label for verdict in result.verdicts]
        [1]
    """
    checked = check(
        text,
        question=question,
        references=references,
        sources=sources,
        mode=mode,
        client=client,
        **options,
    )
    return wait_for(checked)
