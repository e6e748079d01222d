"""Check labelled sheets, and store them beside the runs that they were sampled from.

What people say on the page is a sheet too, which gets one label after another.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from filelock import FileLock

from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.runs.inputs import delimiter_of
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import UsageError
from ufo.schemas.storage import join, make_folder, writing
from ufo.schemas.tables import LABELS, TAGS, Label, from_arrow, sort_key, to_arrow
from ufo.schemas.text import with_formula

_LABELS = {
    # A column of numbers with gaps comes back from pandas as 1.0 and 0.0.
    **dict.fromkeys(("1", "1.0", "true", "yes", "supported"), 1),
    **dict.fromkeys(("0", "0.0", "false", "no", "refuted"), 0),
}
_UNSURE = ("unsure", "unknown", "?")
_ALLOWED = "1, true, yes or supported; 0, false, no or refuted; unsure; or nothing"
_SHEET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHOWN = 10
_LONGEST_CELL = 2**24  # a response can be longer than the 128 KiB that csv takes by default


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    cells: Mapping[str, str]

    def get(self, name: str) -> str:
        return with_formula(self.cells.get(name, "").strip())

    @property
    def unit(self) -> tuple[str, str]:
        # An id of the user's may begin or end with a space.
        return with_formula(self.cells.get("response_id", "")), self.get("unit_id")


def import_sheet(
    directory: str, file: str, sheet: str | None = None, annotator: str | None = None
) -> dict[str, Any]:
    """Read a sheet and store its labels in the folder of runs, replacing its earlier ones.

    Return where they were written (`path`), and how many of its rows (`rows`) found their claim
    `true` and `false`, were `tagged`, `unsure` and `blank`, and those that say of a unit once more
    what was said (`repeated`).

    Args:
        directory: the `--output` of `ufo evaluate`.
        file: CSV with response_id, unit_id, and label or tag; more columns are what `ufo label
            sample` wrote.
        sheet: its name (default: the file's, without its ending); one of that name is replaced.
        annotator: who labelled (default: the sheet's name).

    Raises:
        UsageError: it is no such sheet, or some of its rows cannot be used; nothing was written.
    """
    name = sheet if sheet is not None else Path(file).name.removesuffix(".csv")
    if not _SHEET.fullmatch(name):
        raise UsageError(
            f"sheet {name!r}: a sheet's name is 1 to 100 letters, digits, '.', '_' and '-'; give "
            "one with --sheet NAME."
        )
    lines = list(_read(Path(file)))
    problems: list[str] = []
    runs = _known(directory, lines, problems)
    kept, counts = _checked(lines, problems)
    if problems:
        more = f"\n  and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        listed = "\n  ".join(problems[:_SHOWN])
        raise UsageError(f"{file!r} cannot be read back; nothing was kept:\n  {listed}{more}")
    if not kept:
        raise UsageError(
            f"{file!r} has no label: fill its column `label` ({_ALLOWED}) or `tag` "
            f"({', '.join(TAGS)})."
        )
    sizes = Counter(line.get("stratum") for line, label, _ in kept if label is not None)
    labels = [
        Label(
            run=line.get("run") or runs[line.unit],
            response_id=line.unit[0],
            unit_id=line.unit[1],
            label=label,
            tag=tag,
            note=line.get("note") or None,
            stratum=line.get("stratum") or None,
            weight=_weight(line, label, sizes),
            annotator=annotator or name,
            sheet=name,
        )
        for line, label, tag in kept
    ]
    try:
        path = write_sheet(directory, name, labels)
    except OSError as error:
        raise UsageError(f"the labels cannot be kept in {directory!r}: {error}") from error
    said = ("true", "false", "tagged", "unsure", "blank", "repeated")
    return {"path": path, "rows": len(lines), **{what: counts[what] for what in said}}


def write_sheet(directory: str, sheet: str, labels: Iterable[Label]) -> str:
    """Write a sheet's labels, replacing its earlier ones; equal labels give equal files."""
    make_folder(join(directory, LABELS))
    path = join(directory, LABELS, f"{sheet}.parquet")
    with writing(path) as file:
        pq.write_table(to_arrow(LABELS, sorted(labels, key=sort_key(LABELS))), file)
    return path


def keep_label(directory: Path, label: Label) -> None:
    """Store a label in its sheet, replacing the unit's earlier one; an empty one removes it.

    Safe with several services on one folder of runs.
    """
    folder = directory / LABELS
    folder.mkdir(exist_ok=True)
    with FileLock(folder / f".{label.sheet}.lock"):
        path = folder / f"{label.sheet}.parquet"
        before = from_arrow(LABELS, pq.read_table(path)) if path.exists() else []
        of = label.response_id, label.unit_id
        rows = [row for row in before if (row.response_id, row.unit_id) != of]
        if label.label is not None or label.tag is not None:
            rows.append(label)
        write_sheet(str(directory), label.sheet, rows)


def _read(path: Path) -> Iterator[_Line]:
    """Yield the lines of a CSV file, separated by comma, semicolon or tab."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            head = stream.readline()
            delimiter = delimiter_of(head)
            names = next(csv.reader([head], delimiter=delimiter), [])
            rows = csv.reader(stream, delimiter=delimiter, strict=True)
            _check_columns(path, names)
            before = 1
            for row in rows:
                number, before = before + 1, rows.line_num + 1
                if any(cell.strip() for cell in row):
                    yield _Line(number, dict(zip(names, row, strict=False)))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}; a sheet is CSV in UTF-8.") from error
    except csv.Error as error:
        raise UsageError(f"{str(path)!r}, after line {rows.line_num}: {error}.") from error


def _check_columns(path: Path, names: Sequence[str]) -> None:
    missing = [name for name in ("response_id", "unit_id") if name not in names]
    if missing or not {"label", "tag"} & set(names):
        wanted = missing or ["label (or tag)"]
        raise UsageError(
            f"{str(path)!r} lacks the column{'s' * (len(wanted) > 1)} {' and '.join(wanted)}; it "
            f"has {', '.join(map(one_line, names)) or 'none'}. 'ufo label sample' writes a sheet."
        )


def _known(
    directory: str, lines: Sequence[_Line], problems: list[str]
) -> dict[tuple[str, str], str]:
    """Return the newest run that has each unit; add a problem for a unit that no run has."""
    with open_results(directory, all_runs=True) as results:
        names = {run.name for run in results.runs}
        found = results.query(
            "SELECT u.response_id, u.unit_id, arg_max(u.run, r.finished_at) AS run "
            "FROM fact_units AS u INNER JOIN runs AS r ON r.run = u.run "
            "WHERE u.unit_id IN (SELECT unnest($units)) GROUP BY ALL",
            {"units": [line.get("unit_id") for line in lines]},
        )
    units = {(row["response_id"], row["unit_id"]): row["run"] for row in found.to_pylist()}
    for line in lines:
        run = line.get("run")
        if line.unit not in units:
            problems.append(
                f"line {line.number}: no finished run in {directory!r} has unit "
                f"{line.unit[1]!r} of response {line.unit[0]!r} (a spreadsheet may have taken "
                "an id for a number: import these columns as text)"
            )
        elif run and run not in names:
            problems.append(f"line {line.number}: no finished run {run!r} in {directory!r}")
    return units


def _checked(
    lines: Sequence[_Line], problems: list[str]
) -> tuple[list[tuple[_Line, int | None, str | None]], Counter[str]]:
    """Return each labelled or tagged line with its label and tag, and counts of all lines."""
    seen: dict[tuple[str, str], tuple[int, int | None, str | None]] = {}
    kept = []
    counts: Counter[str] = Counter()
    for line in lines:
        given, tagged = line.get("label").lower(), line.get("tag").lower()
        tag = re.sub(r"[\s-]+", "_", tagged) or None
        if given and given not in _LABELS and given not in _UNSURE:
            problems.append(f"line {line.number}: label {line.get('label')!r} is not {_ALLOWED}")
            continue
        if tag and tag not in TAGS:
            problems.append(
                f"line {line.number}: tag {line.get('tag')!r} is not one of {', '.join(TAGS)}"
            )
            continue
        size = line.get("stratum_size")
        if line.get("stratum") and not (size.isdecimal() and int(size)):
            problems.append(f"line {line.number}: stratum_size {size!r} is not a number of units")
            continue
        label = _LABELS.get(given)
        if label is None and tag is None:
            counts["unsure" if given else "blank"] += 1
            continue
        first = seen.setdefault(line.unit, (line.number, label, tag))
        if first[1:] != (label, tag):
            problems.append(
                f"line {line.number}: unit {line.unit[1]!r} has another label on line {first[0]}; "
                "leave one of them out"
            )
        elif first[0] == line.number:
            kept.append((line, label, tag))
            counts["tagged"] += tag is not None
            if label is not None:
                counts["true" if label else "false"] += 1
        else:
            counts["repeated"] += 1
    return kept, counts


def _weight(line: _Line, label: int | None, sizes: Counter[str]) -> float | None:
    """Return how many units of its stratum a labelled one stands for: those left blank are taken
    to be like the others."""
    stratum = line.get("stratum")
    if label is None or not stratum:
        return None
    return int(line.get("stratum_size")) / sizes[stratum]
