"""Return one response of a run with all of its rows and scores."""

import json
from typing import Any

from ufo.schemas.records import Evidence, FactUnit, Passage
from ufo.schemas.results import Results
from ufo.schemas.runs import Run
from ufo.schemas.tables import LABELS, PAGE_SHEET, from_arrow
from ufo.transforms.extract import EXTRACT
from ufo.transforms.extraction.markdown import layout
from ufo.transforms.scores import score
from ufo.webapp import answers
from ufo.webapp.basis import basis
from ufo.webapp.problems import NotFound


def whole(results: Results, run: Run, response_id: str) -> answers.CheckedResponse:
    """Return all rows of one response, and the scores that follow from its evidence.

    Raises:
        NotFound: the run has no response of that id.
    """

    def rows(table: str, where: str = "response_id = $id") -> list[Any]:
        # The table's name and the condition are ours.
        sql = f"SELECT * FROM {table} WHERE {where}"  # noqa: S608
        given: list[object] | dict[str, object] = {"id": response_id} if "$id" in where else []
        return from_arrow(table, results.query(sql, given))

    responses = rows("responses")
    if not responses:
        raise NotFound(f"run {run.name!r} has no response of that id")
    sentences = sorted(rows("sentences"), key=lambda one: one.sentence_index)
    units: list[FactUnit] = sorted(
        rows("fact_units"),
        key=lambda one: (one.sentence_index is None, one.sentence_index or 0),
    )
    place = {name: at for at, name in enumerate(run.sources)}
    evidence: list[Evidence] = sorted(
        rows("evidence"),
        key=lambda one: (place.get(one.source, 99), one.unit_id, one.rank or 0),
    )
    passages: list[Passage] = rows(
        "passages",
        "passage_id IN (SELECT passage_id FROM evidence WHERE response_id = $id)",
    )
    mine = "key = $id OR key IN (SELECT unit_id FROM fact_units WHERE response_id = $id)"
    failures = rows("failures", mine)
    used = rows("sources", "status = 'used' ORDER BY position")
    judged = {row.source for row in evidence if row.label is not None or row.model}
    return answers.CheckedResponse(
        run=run.name,
        mode=run.mode,
        tie=run.tie,
        judge=run.judge,
        sources=list(run.sources),
        basis=basis(
            run.judge,
            (row.model for row in evidence if row.model),
            [one.type for one in used if one.source in judged],
            [(one.source, one.type, json.loads(one.options)) for one in used],
            responses[0],
        ),
        response=responses[0],
        layout=layout(responses[0].text),
        sentences=sentences,
        fact_units=units,
        evidence=evidence,
        passages=passages,
        verdicts=rows("verdicts"),
        failures=failures,
        usage=rows("usage"),
        scores=score(
            units,
            evidence,
            {one.passage_id: one for one in passages},
            run.sources,
            len(sentences),
            run.mode,
            run.tie,
            response_id=response_id,
            extraction_failed=any(one.step == EXTRACT for one in failures),
        ),
        labels=rows(LABELS, f"response_id = $id AND sheet = '{PAGE_SHEET}'"),
    )
