"""Declare the records of the tables of labels, which stand beside the runs of a folder."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Label:
    """A row of `labels`: what one annotator says of one fact unit on a sheet.

    `run` is the run from which the sheet was drawn. `label` is from 0 (false) to 1 (true), or None.
    `stratum_size` is the number of units of the `stratum`, and `weight` how many of these a
    labelled unit represents; None if the sheet was not drawn as a sample.
    """

    run: str
    response_id: str
    unit_id: str
    label: float | None
    note: str | None
    stratum: str | None
    weight: float | None
    annotator: str
    sheet: str
    stratum_size: int | None = None


@dataclass(frozen=True, slots=True)
class LabelPopulation:
    """A row of `label_populations`: a fact unit that could have been drawn for a sheet.

    A sheet that was not drawn as a sample counts as one of the `run` on which it was labelled.
    """

    run: str
    response_id: str
    unit_id: str
    sheet: str
