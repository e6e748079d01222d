"""Describe a checked text: its scores, the basis of its verdicts, and one of a run as a whole."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ufo.indexes.manifest import read_manifest
from ufo.schemas.errors import UfoError
from ufo.schemas.records import Response
from ufo.schemas.results import Results
from ufo.schemas.runs import Run
from ufo.schemas.tables import LABELS, PAGE_SHEET, from_arrow
from ufo.transforms.check_text import CheckedText
from ufo.transforms.english.language import is_english
from ufo.transforms.extract import EXTRACT
from ufo.transforms.extraction.markdown import layout
from ufo.transforms.judges.offline import NAME, trust
from ufo.transforms.scores import Scores, score
from ufo.webapp.answers import Basis, CheckedResponse
from ufo.webapp.problems import NotFound

_UNKNOWN = "How often it agrees with people is not known here: `ufo label` measures it."
Asked = tuple[str, str, Mapping[str, Any]]
"""The name, type and options of a source."""


def scored(rows: CheckedText, sources: Sequence[str], mode: str, tie: str) -> Scores:
    """Return the scores that follow from the evidence of a text."""
    return score(
        rows.fact_units,
        rows.evidence,
        {one.passage_id: one for one in rows.passages},
        sources,
        len(rows.sentences),
        mode,
        tie,
        response_id=rows.response.response_id,
        extraction_failed=any(one.step == EXTRACT for one in rows.failures),
    )


def whole(results: Results, run: Run, response_id: str) -> CheckedResponse:
    """Return all rows of one response, and the scores that follow from its evidence.

    Raises:
        NotFound: the run has no response of that id.
    """
    given: dict[str, object] = {"id": response_id, "sources": run.sources, "sheet": PAGE_SHEET}

    def read(table: str, rest: str) -> list[Any]:
        # The table's name and the conditions are ours.
        used = {name: value for name, value in given.items() if f"${name}" in rest}
        return from_arrow(table, results.query(f"SELECT * FROM {table} {rest}", used))  # noqa: S608

    mine = "WHERE response_id = $id"
    responses = read("responses", mine)
    if not responses:
        raise NotFound(f"run {run.name!r} has no response of that id")
    rows = CheckedText(
        responses[0],
        read("sentences", f"{mine} ORDER BY sentence_index"),
        read("fact_units", f"{mine} ORDER BY sentence_index NULLS LAST, unit_id"),
        read(
            "evidence",
            f"{mine} ORDER BY list_position($sources, source), unit_id, rank NULLS FIRST, "
            "passage_id, sample_index",
        ),
        read(
            "passages",
            f"WHERE passage_id IN (SELECT passage_id FROM evidence {mine})",  # noqa: S608
        ),
        read("verdicts", mine),
        read(
            "failures",
            f"WHERE key = $id OR key IN (SELECT unit_id FROM fact_units {mine})",  # noqa: S608
        ),
        read("usage", mine),
    )
    used = read("sources", "WHERE status = 'used' ORDER BY position")
    judged = {row.source for row in rows.evidence if row.label is not None or row.model}
    return CheckedResponse(
        **{one.name: getattr(rows, one.name) for one in fields(rows)},
        run=run.name,
        mode=run.mode,
        tie=run.tie,
        judge=run.judge,
        sources=list(run.sources),
        basis=basis(
            run.judge,
            (row.model for row in rows.evidence if row.model),
            [one.type for one in used if one.source in judged],
            [(one.source, one.type, json.loads(one.options)) for one in used],
            rows.response,
        ),
        layout=layout(rows.response.text),
        scores=scored(rows, run.sources, run.mode, run.tie),
        labels=read(LABELS, f"{mine} AND sheet = $sheet"),
    )


def basis(
    judge: str,
    models: Iterable[str],
    judged: Sequence[str],
    sources: Sequence[Asked],
    response: Response,
) -> Basis:
    """Return the basis to show beside a result.

    Args:
        judge: its name; `models` are those whose verdicts count, or that are going to be asked.
        judged: the types of the sources whose evidence they judge.
        sources: in the order they are asked.
        response: the one judged.
    """
    models = list(dict.fromkeys(models))
    named = ", ".join(models)
    who = f"{judge} ({named})" if named else judge
    return Basis(
        judge=f"Judge {who}.",
        trust=trust(models, judged) if judge == NAME else _UNKNOWN if judged else "",
        sources=[_described(*one, response) for one in sources],
        language=_language(response),
    )


def _described(name: str, type_: str, options: Mapping[str, Any], response: Response) -> str:
    if type_ == "reference":
        given = response.n_references
        return f"{name}: {given or 'no'} given {'text' if given == 1 else 'texts'}"
    if type_ == "wikipedia" and options.get("index"):
        return f"{name}: {size_of(str(options['index']))}"
    if type_ == "web":
        return f"{name}: pages found by {options.get('search') or 'a web search'}"
    if type_ == "llm":
        return f"{name}: what {options.get('knowledge_model') or 'a language model'} knows"
    return name


def size_of(folder: str) -> str:
    """Return the numbers of articles and passages of an index and its date, in words."""
    try:
        manifest, _ = read_manifest(Path(folder))
    except (UfoError, OSError):
        return f"the index {folder}, which is not on this machine"
    counts, dated = manifest["counts"], manifest.get("dump_date")
    size = f"an index of {counts['articles']:,} articles, {counts['passages']:,} passages"
    return f"{size}, dump of {dated}" if dated else size


def _language(response: Response) -> str:
    if is_english(response.text, response.language):
        return f"{response.language} (given)" if response.language else "English, as far as seen"
    return f"{response.language or 'not English, as far as seen'}: the offline judge knows English"
