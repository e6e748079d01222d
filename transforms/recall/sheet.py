"""Write a sheet for human annotation: the facts of a recall run in the columns of WikiEvalFacts.

A row is a record. Its columns are `unique_id`, `question`, `answer` (the ground truth), the text of
each variant, and `human_evaluated_facts_VARIANT` for each variant. The latter is a Python
dictionary as text: the annotator replaces `None` by `True` or `False`, and may reword, add or
delete facts. `gt_facts` repeats the facts. `ufo recall` reads the annotated sheet.
"""

import csv
import io
from collections import defaultdict
from typing import Any

from ufo.schemas.results import Results
from ufo.transforms.recall.recall_input import ANSWER, GROUND_TRUTHS, LABELS

Row = dict[str, Any]
_WORDS = {1: "True", 0: "False"}

_LABELLED = """
SELECT a.record_id, a.variant, a.text, f.fact, v.label
FROM recall_answers AS a
LEFT JOIN recall_facts AS f USING (record_id)
LEFT JOIN recall_verdicts AS v
    ON v.record_id = a.record_id AND v.variant = a.variant AND v.fact_id = f.fact_id
    AND v.formulation = 'human'
ORDER BY a.record_id, a.variant, f.fact_index
"""


def sheet(results: Results) -> str:
    """Return the sheet of the single run in `results`, as CSV."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    labels: dict[str, dict[str, dict[str, str | None]]] = defaultdict(dict)
    for row in results.query(_LABELLED).to_pylist():
        record, variant = row["record_id"], row["variant"]
        texts[record][variant] = row["text"]
        fact_labels = labels[record].setdefault(LABELS + variant, {})
        if row["fact"] is not None:
            fact_labels[row["fact"]] = _WORDS.get(row["label"])
    facts: dict[str, list[str]] = defaultdict(list)
    for row in results.query("FROM recall_facts ORDER BY record_id, fact_index").to_pylist():
        facts[row["record_id"]].append(row["fact"])
    records = results.query("FROM recall_records ORDER BY record_id").to_pylist()
    variants = sorted({variant for found in texts.values() for variant in found})
    truth = _truth_column(records, texts)
    columns = ["unique_id", "question", truth]
    columns += [variant for variant in variants if variant not in columns]
    columns += ["gt_facts", *(LABELS + variant for variant in variants)]
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, columns)
    writer.writeheader()
    for record in records:
        name = record["record_id"]
        cells = {"unique_id": name, "question": record["question"], truth: record["ground_truth"]}
        cells["gt_facts"] = repr(facts[name])
        label_cells = {column: repr(by_fact) for column, by_fact in labels[name].items()}
        writer.writerow({**texts[name], **cells, **label_cells})
    return sink.getvalue()


def _truth_column(records: list[Row], texts: dict[str, dict[str, str]]) -> str:
    """Return the column of the ground truth: `answer`, as in WikiEvalFacts, or `ground_truth`.

    It is the latter where `answer` would be read as a variant: if a variant of this name has
    another text, or if there are no variants.
    """
    if not any(texts.values()):
        return GROUND_TRUTHS[0]
    for record in records:
        variants = texts[record["record_id"]]
        if variants.get(ANSWER, record["ground_truth"]) != record["ground_truth"]:
            return GROUND_TRUTHS[0]
    return ANSWER
