"""Store people's labels of fact units beside the runs of a folder: `DIR/labels/SHEET.parquet`.

A run's folder is never changed once it is finished, so labels that come later have a table of their
own. Its keys, response and unit, are functions of the content: a label holds for every run in the
folder that has the unit.
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = "labels"
PAGE_SHEET = "page"  # what people said on the page of `ufo serve`
# Why a verdict is wrong, as a person tags it.
TAGS = ("wrong_claim", "wrong_evidence", "wrong_judgement")


@dataclass(frozen=True, slots=True)
class Label:
    """A row of `labels`: what one sheet says of one fact unit.

    `run` is the run that the sheet was drawn from. `label` is 1 (true), 0 (false) or None, `tag`
    one of TAGS or None. `weight` is how many units of its `stratum` a labelled one stands for; None
    where the sheet was not drawn as a sample.
    """

    run: str
    response_id: str
    unit_id: str
    label: int | None
    tag: str | None
    note: str | None
    stratum: str | None
    weight: float | None
    annotator: str
    sheet: str


def label_files(directory: Path) -> tuple[Path, ...]:
    """Return the imported sheets of a folder of runs, by name."""
    return tuple(sorted((directory / FOLDER).glob("*.parquet")))
