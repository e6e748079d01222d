"""Draw sheets of fact units for people to label, and keep their labels beside the runs.

A unit is drawn by the rank of a hash of the seed and its ids: a simple random sample without
replacement that is the same on every machine. Rows are ordered by response. Labels given on the
page are a sheet, too, which grows by one label at a time.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import UsageError, reason_of
from ufo.schemas.label_sheets import write_sheet
from ufo.schemas.results import Results
from ufo.schemas.rows import delimiter_of
from ufo.schemas.tables import Label
from ufo.schemas.text import with_formula
from ufo.schemas.text_file import read_text

_PACKED_CSV = re.compile(r"\.csv(\.(gz|bz2|zst))?$")
_DRAWN = """
WITH drawn AS (
    SELECT *, count(*) OVER () AS stratum_size
    FROM fact_units
    WHERE run = $run
    QUALIFY
        row_number() OVER (ORDER BY sha256(concat_ws('|', $seed, response_id, unit_id))) <= $n
)

SELECT
    d.run, d.response_id, d.unit_id, 'all' AS stratum, d.stratum_size, r.question,
    r.text AS response, s.text AS sentence, d.claim, NULL AS label, NULL AS note
FROM drawn AS d
INNER JOIN responses AS r ON r.run = d.run AND r.response_id = d.response_id
LEFT JOIN sentences AS s
    ON s.run = d.run AND s.response_id = d.response_id AND s.sentence_index = d.sentence_index
ORDER BY
    sha256(concat_ws('|', $seed, d.response_id)), d.response_id, d.sentence_index, d.unit_id
"""
_LABELS = {
    # A column of numbers with gaps comes back from pandas as 1.0 and 0.0.
    **dict.fromkeys(("1", "1.0", "true", "yes", "supported"), 1),
    **dict.fromkeys(("0", "0.0", "false", "no", "refuted"), 0),
    **dict.fromkeys(("unsure", "unknown", "?", "")),
}
_ALLOWED = "1, true, yes or supported; 0, false, no or refuted; unsure; or nothing"
_SHEET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHOWN = 10
_LONGEST_CELL = 2**24  # a response can be longer than the 128 KiB that csv takes by default


def sample(results: Results, n: int, seed: int = 0) -> tuple[list[list[object]], str]:
    """Draw `n` units of the run for people to label. Return the lines of the sheet, without
    verdicts and evidence, and a description of the sample.

    Raises:
        UsageError: the run has no fact unit.
    """
    run = results.runs[-1].name
    rows = results.query(_DRAWN, {"run": run, "seed": str(seed), "n": n}).to_pylist()
    if not rows:
        raise UsageError(f"run {run!r} has no fact unit to label.")
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return lines, f"{len(rows):,} of {rows[0]['stratum_size']:,} units at random"


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    cells: Mapping[str, str | None]

    def get(self, name: str) -> str:
        return with_formula((self.cells.get(name) or "").strip())

    @property
    def unit(self) -> tuple[str, str]:
        # A user's id may begin or end with a space.
        return with_formula(self.cells.get("response_id") or ""), self.get("unit_id")


def import_sheet(directory: str, file: str, sheet: str | None = None) -> dict[str, Any]:
    """Read a sheet and store its labels in the folder of runs, replacing its earlier ones.

    Return the `path` of the labels, the number of `rows`, and how many of these are `true`,
    `false`, `unsure`, `blank` and `repeated` (the same label for a unit once more).

    Args:
        directory: the `--output` of `ufo evaluate`.
        file: CSV with response_id, unit_id and label, and the other columns of `ufo label sample`.
        sheet: its name (default: the file's, without its ending); an earlier one is replaced.

    Raises:
        UsageError: it is not a sheet, or some rows cannot be used; nothing was written.
    """
    name = sheet if sheet is not None else _PACKED_CSV.sub("", Path(file).name)
    if not _SHEET.fullmatch(name):
        raise UsageError(
            f"sheet {name!r}: a sheet's name is 1 to 100 letters, digits, '.', '_' and '-'; give "
            "one with --sheet NAME."
        )
    lines = _read(str(file))
    names, runs = _known(directory, [line.unit[1] for line in lines])
    first: dict[tuple[str, str], tuple[_Line, int]] = {}
    counts = dict.fromkeys(("true", "false", "unsure", "blank", "repeated"), 0)
    problems = []
    for line in lines:
        try:
            label = _label_of(line, directory, names, runs)
            if label is None:
                counts["unsure" if line.get("label") else "blank"] += 1
                continue
            before, said = first.setdefault(line.unit, (line, label))
            if said != label:
                raise UsageError(
                    f"unit {line.unit[1]!r} has another label on line {before.number}; leave one "
                    "of them out"
                )
            counts["repeated"] += before is not line
        except UsageError as error:
            problems.append(f"line {line.number}: {error.message}")
    if problems:
        more = f"\n  and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        listed = "\n  ".join(problems[:_SHOWN])
        raise UsageError(f"{file!r} cannot be read back; nothing was kept:\n  {listed}{more}")
    if not first:
        raise UsageError(f"{file!r} has no label: fill its column `label` ({_ALLOWED}).")
    sizes = Counter(line.get("stratum") for line, _ in first.values())
    labels = []
    for line, label in first.values():
        stratum = line.get("stratum") or None
        labels.append(
            Label(
                run=line.get("run") or runs[line.unit],
                response_id=line.unit[0],
                unit_id=line.unit[1],
                label=label,
                note=line.get("note") or None,
                stratum=stratum,
                # Units left blank are assumed to be like the labelled ones.
                weight=int(line.get("stratum_size")) / sizes[stratum] if stratum else None,
                annotator=name,
                sheet=name,
            )
        )
        counts["true" if label else "false"] += 1
    try:
        path = write_sheet(directory, name, labels)
    except OSError as error:
        raise UsageError(
            f"the labels cannot be kept in {directory!r}: {reason_of(error)}"
        ) from error
    return {"path": path, "rows": len(lines), **counts}


def _read(path: str) -> list[_Line]:
    """Return the lines of a CSV file, separated by comma, semicolon or tab."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        text = read_text(path)
    except ValueError as error:
        raise UsageError(f"cannot read {path!r}: {error}; a sheet is CSV in UTF-8.") from error
    stream = io.StringIO(text, newline="")
    rows = csv.DictReader(stream, delimiter=delimiter_of(text.partition("\n")[0]), strict=True)
    try:
        names = rows.fieldnames or ()
        wanted = [name for name in ("response_id", "unit_id", "label") if name not in names]
        if wanted:
            raise UsageError(
                f"{path!r} lacks the column{'s' * (len(wanted) > 1)} "
                f"{' and '.join(wanted)}; it has {', '.join(map(one_line, names)) or 'none'}. "
                "'ufo label sample' writes a sheet."
            )
        lines = [_Line(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise UsageError(f"{path!r}, after line {rows.line_num}: {error}.") from error
    return [line for line in lines if any(map(line.get, names))]


def _known(
    directory: str, units: Iterable[str]
) -> tuple[Container[str], Mapping[tuple[str, str], str]]:
    """Return the names of the runs, and the newest run that has each of the units."""
    with open_results(directory, all_runs=True) as results:
        found = results.query(
            "SELECT u.response_id, u.unit_id, arg_max(u.run, r.finished_at) AS run "
            "FROM fact_units AS u INNER JOIN runs AS r ON r.run = u.run "
            "WHERE u.unit_id IN (SELECT unnest($units)) GROUP BY ALL",
            {"units": list(units)},
        )
        names = {run.name for run in results.runs}
    return names, {(row["response_id"], row["unit_id"]): row["run"] for row in found.to_pylist()}


def _label_of(
    line: _Line, directory: str, names: Container[str], runs: Container[tuple[str, str]]
) -> int | None:
    """Return the label of a line; raises UsageError if the label, unit or run is unknown."""
    run, given, size = line.get("run"), line.get("label"), line.get("stratum_size")
    if line.unit not in runs:
        raise UsageError(
            f"no finished run in {directory!r} has unit {line.unit[1]!r} of response "
            f"{line.unit[0]!r} (a spreadsheet may have taken an id for a number: import these "
            "columns as text)"
        )
    if run and run not in names:
        raise UsageError(f"no finished run {run!r} in {directory!r}")
    if given.lower() not in _LABELS:
        raise UsageError(f"label {given!r} is not {_ALLOWED}")
    if line.get("stratum") and not (size.isdecimal() and int(size)):
        raise UsageError(f"stratum_size {size!r} is not a number of units")
    return _LABELS[given.lower()]
