"""The sheet for people: its columns, the labels that they gave, and where the ground truth is."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import blank, write_run
from ufo.schemas.records import RecallAnswer, RecallFact, RecallRecord, RecallVerdict
from ufo.schemas.results import open_results
from ufo.schemas.tables import TABLES
from ufo.transforms.recall.sheet import sheet

TWO = [RecallAnswer("r1", "answer", "T1"), RecallAnswer("r1", "rag", "A")]
FACTS = [
    RecallFact("r1", "f1", 0, "F."),
    RecallFact("r1", "f2", 1, "E."),
    RecallFact("r2", "g", 0, "G."),
]
LABELS = [
    ("r1", "f1", "human", 1),
    ("r1", "f2", "human", 0),
    ("r1", "f1", "tf", 0),
    ("r2", "g", "tf", 1),
]


def written(tmp_path: Path, answers: list[RecallAnswer]) -> list[str]:
    rows: dict[str, list[Any]] = {table: [] for table in TABLES}
    rows["recall_records"] = [
        RecallRecord("r2", "Q2?", "T2", 1, 1, False),
        RecallRecord("r1", "Q1?", "T1", 2, 2, False),
    ]
    rows["recall_answers"], rows["recall_facts"] = answers, FACTS
    rows["recall_verdicts"] = [
        blank(
            RecallVerdict,
            record_id=record,
            variant="rag",
            fact_id=fact,
            formulation=by,
            outcome="supported",
            label=label,
            judge="j",
        )
        for record, fact, by, label in LABELS
    ]
    write_run(tmp_path, rows)
    with open_results(str(tmp_path)) as results:
        return sheet(results).split("\r\n")


def test_a_row_has_the_texts_and_labels_of_a_record(tmp_path: Path) -> None:
    names = "human_evaluated_facts_answer,human_evaluated_facts_rag"
    assert written(tmp_path, [*TWO, RecallAnswer("r2", "rag", "B")]) == [
        f"unique_id,question,answer,rag,gt_facts,{names}",
        "r1,Q1?,T1,A,\"['F.', 'E.']\",\"{'F.': None, 'E.': None}\","
        "\"{'F.': 'True', 'E.': 'False'}\"",
        "r2,Q2?,T2,B,['G.'],,{'G.': None}",
        "",
    ]


@pytest.mark.parametrize(
    ("answers", "head"),
    [
        pytest.param([], "unique_id,question,ground_truth,gt_facts", id="no answers"),
        pytest.param(
            [RecallAnswer("r1", "answer", "other")],
            "unique_id,question,ground_truth,answer,gt_facts,human_evaluated_facts_answer",
            id="an answer of another text",
        ),
        pytest.param(
            [RecallAnswer("r1", "rag", "A")],
            "unique_id,question,answer,rag,gt_facts,human_evaluated_facts_rag",
            id="no answer of that name",
        ),
    ],
)
def test_the_column_of_the_ground_truth_is_no_variant_s(
    tmp_path: Path, answers: list[RecallAnswer], head: str
) -> None:
    assert written(tmp_path, answers)[0] == head
