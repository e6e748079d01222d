"""Import the labels of a sheet that people filled in.

A sheet that is imported changes only what it names: a label replaces the earlier one of the same
annotator, `unsure` withdraws it, and an empty cell leaves it as it is. Labels given on the page are
a sheet, too, which grows by one label at a time.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ufo.pipelines.draw_sheet import ALL_UNITS, REST_OF
from ufo.pipelines.reports.tabular import one_line
from ufo.pipelines.runs.remote_results import open_results
from ufo.schemas.errors import UsageError, reason_of
from ufo.schemas.label_sheets import (
    add_weights,
    labels_of,
    lock_sheet,
    write_population,
    write_sheet,
)
from ufo.schemas.label_words import ALLOWED, EMPTY, label_of, word_of
from ufo.schemas.labels import Label, LabelPopulation
from ufo.schemas.results import Results
from ufo.schemas.rows import delimiter_of
from ufo.schemas.text import quantity, unescape_formula
from ufo.schemas.text_file import read_text

_PACKED_CSV = re.compile(r"\.csv(\.(gz|bz2|zst))?$")
_SHEET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SIZE = re.compile(r"0*[1-9][0-9]{0,14}(\.0+)?")  # with gaps, pandas writes numbers as 60.0
_READ = ("run", "response_id", "unit_id", "stratum", "stratum_size", "label", "note", "annotator")
_SHOWN = 10
_LONGEST_CELL = 2**24  # a response can be longer than the 128 KiB that csv takes by default
_Unit = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a sheet, with the columns that are read as people wrote them."""

    number: int
    unit: _Unit
    cells: Mapping[str, str]

    def get(self, name: str) -> str:
        return self.cells.get(name, "")


@dataclass
class _Folder:
    """The units, runs and labels in a folder of runs that matter for a sheet.

    `units` has the runs of each of the sheet's units, the newest last, and `sizes` the number of
    units of each run, the newest last. `before` are the sheet's earlier labels, `others` those of
    its units on other sheets. `population` has the units that the sheet was drawn from, by run.
    """

    units: Mapping[_Unit, Sequence[str]]
    sizes: Mapping[str, int]
    before: Sequence[Label]
    others: Sequence[Label]
    population: dict[str, set[_Unit]]


@dataclass
class _SheetLines:
    """The content of a sheet's lines: labels by unit and annotator, withdrawals, problems.

    `usable` are the lines without a problem, also those without a label.
    """

    usable: list[_Line] = field(default_factory=list)
    labels: dict[tuple[_Unit, str], tuple[_Line, float]] = field(default_factory=dict)
    withdrawn: set[tuple[_Unit, str]] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    n_unsure: int = 0
    n_blank: int = 0
    n_repeated: int = 0


def import_sheet(directory: str, file: str, sheet: str | None = None) -> dict[str, Any]:
    """Import a sheet's labels into the folder of runs; other labels are not changed.

    Return the `path` of the labels and the number of `rows`. Of the rows, so many are `true`,
    `false`, `partly` (between the two), `unsure`, `blank` and `repeated` (the same label for a unit
    once more). Of the labels, `added` are new, and `replaced` took the place of one by the same
    annotator, which for `changed` of them was another. `withdrawn` were removed. `contradicted` is
    the number of units of which another annotator says something else. `problems` lists the lines
    that were left out, `notices` what should be known.

    Args:
        directory: the `--output` of `ufo evaluate`.
        file: CSV with response_id, unit_id and label, and the other columns of `ufo label sample`;
            with a column `annotator` it may have a row for each.
        sheet: its name (default: the file's, without its ending), and its annotator without such a
            column.

    Raises:
        UsageError: it is not a sheet, or no row can be used; nothing was written.
    """
    name = sheet if sheet is not None else _PACKED_CSV.sub("", Path(file).name)
    if not _SHEET.fullmatch(name):
        raise UsageError(
            f"sheet {name!r}: a sheet's name is 1 to 100 letters, digits, '.', '_' and '-'; give "
            "one with --sheet NAME."
        )
    lines, notices = _read(str(file))
    with open_results(directory, all_runs=True) as results:
        # Nothing is written for a sheet that cannot be used, not even what locks it.
        _check_lines(_folder(results, name, lines), lines, directory, str(file), name)
        try:
            with lock_sheet(directory, name):
                return _import_lines(results, directory, str(file), name, lines, notices)
        except OSError as error:
            raise UsageError(
                f"the labels cannot be kept in {directory!r}: {reason_of(error)}"
            ) from error


def _import_lines(
    results: Results,
    directory: str,
    file: str,
    sheet: str,
    lines: Sequence[_Line],
    notices: list[str],
) -> dict[str, Any]:
    folder = _folder(results, sheet, lines)
    run = _run_of_lines(lines, folder)
    reading = _check_lines(folder, lines, directory, file, sheet)
    earlier = {_key(row): row for row in folder.before}
    withdrawn = reading.withdrawn & earlier.keys()

    def run_of(line: _Line) -> str:
        return line.get("run") or run or folder.units[line.unit][-1]

    new = {
        key: Label(
            run=run_of(line),
            response_id=line.unit[0],
            unit_id=line.unit[1],
            label=label,
            note=line.get("note") or None,
            stratum=line.get("stratum") or None,
            weight=None,
            annotator=key[1],
            sheet=sheet,
        )
        for key, (line, label) in reading.labels.items()
    }
    kept = {key: row for key, row in earlier.items() if key not in withdrawn} | new
    lines_by_stratum: dict[tuple[str, str | None], list[_Line]] = defaultdict(list)
    for line in reading.usable:
        lines_by_stratum[run_of(line), line.get("stratum") or None].append(line)
    sizes = _sizes(results, folder, sheet, lines_by_stratum, notices)
    rows = add_weights(
        replace(row, stratum_size=sizes.get((row.run, row.stratum), row.stratum_size))
        for row in kept.values()
    )
    for row in rows:
        folder.population[row.run].add((row.response_id, row.unit_id))
    write_population(
        directory,
        sheet,
        [
            LabelPopulation(run, *unit, sheet)
            for run, units in folder.population.items()
            for unit in units
        ],
    )
    path = write_sheet(directory, sheet, rows)
    replaced = new.keys() & earlier.keys()
    by_unit: dict[_Unit, dict[str, set[float | None]]] = defaultdict(lambda: defaultdict(set))
    for row in (*folder.others, *rows):
        by_unit[row.response_id, row.unit_id][row.annotator].add(row.label)
    contradicted = {
        unit
        for (unit, annotator), row in new.items()
        if any(labels != {row.label} for who, labels in by_unit[unit].items() if who != annotator)
    }
    twice = {
        (row.response_id, row.unit_id)
        for row in folder.others
        if _key(row) in new and new[_key(row)].label != row.label
    }
    if twice:
        notices.append(
            f"{quantity(len(twice), 'claim')} with another label by the same annotator on another "
            "sheet, which counts as much; see the report label_conflicts"
        )
    counts = Counter(
        "true" if label == 1 else "false" if label == 0 else "partly"
        for _, label in reading.labels.values()
    )
    return {
        "path": path,
        "rows": len(lines),
        **{word: counts[word] for word in ("true", "false", "partly")},
        "unsure": reading.n_unsure,
        "blank": reading.n_blank,
        "repeated": reading.n_repeated,
        "added": len(new) - len(replaced),
        "replaced": len(replaced),
        "changed": sum(new[key].label != earlier[key].label for key in replaced),
        "withdrawn": len(withdrawn),
        "contradicted": len(contradicted),
        "problems": reading.problems,
        "notices": notices + _notices_on_runs(folder, {row.run for row in new.values()}, results),
    }


def _check_lines(
    folder: _Folder, lines: Sequence[_Line], directory: str, file: str, sheet: str
) -> _SheetLines:
    """Return the parsed lines; raise a UsageError if they change no label."""
    reading = _parse_lines(lines, directory, sheet, folder)
    if reading.labels or not reading.withdrawn.isdisjoint(map(_key, folder.before)):
        return reading
    if reading.problems:
        raise UsageError(
            f"{file!r} cannot be read back; nothing was kept:\n  {list_problems(reading.problems)}"
        )
    raise UsageError(f"{file!r} has no label: fill its column `label` ({ALLOWED}).")


def _key(row: Label) -> tuple[_Unit, str]:
    return (row.response_id, row.unit_id), row.annotator


def list_problems(problems: Sequence[str]) -> str:
    """Return the first problems, a line each, and the number of further ones."""
    more = f"\n  and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return "\n  ".join(problems[:_SHOWN]) + more


def _read(path: str) -> tuple[list[_Line], list[str]]:
    """Return the lines of a CSV file, separated by comma, semicolon or tab, and notices."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        text = read_text(path)
    except ValueError as error:
        raise UsageError(f"cannot read {path!r}: {error}; a sheet is CSV in UTF-8.") from error
    stream = io.StringIO(text, newline="")
    rows = csv.reader(stream, delimiter=delimiter_of(text.partition("\n")[0]), strict=True)
    try:
        names = [name.strip().lower() for name in next(rows, ())]
        wanted = [name for name in ("response_id", "unit_id", "label") if name not in names]
        if wanted:
            raise UsageError(
                f"{path!r} lacks the column{'s' * (len(wanted) > 1)} "
                f"{' and '.join(wanted)}; it has {', '.join(map(one_line, names)) or 'none'}. "
                "'ufo label sample' writes a sheet."
            )
        twice = [column for column, count in Counter(names).items() if count > 1 and column]
        if both := [column for column in twice if column in _READ]:
            raise UsageError(
                f"{path!r} has more than one column {' and '.join(both)}: which one counts? Leave "
                "one, or make a row for each label, with a column `annotator`."
            )
        lines = [_line(rows.line_num, names, row) for row in rows if any(map(str.strip, row))]
    except csv.Error as error:
        raise UsageError(f"{path!r}, after line {rows.line_num}: {error}.") from error
    notices = [
        f"there is more than one column {one_line(column)}; none of them is read"
        for column in twice
    ]
    return lines, notices


def _line(number: int, names: Sequence[str], row: Sequence[str]) -> _Line:
    written = dict(zip(names, row, strict=False))
    cells = {name: unescape_formula(written[name].strip()) for name in _READ if name in written}
    # A user's id may begin or end with a space.
    response_id = unescape_formula(written["response_id"])
    return _Line(number, (response_id, cells.get("unit_id", "")), cells)


def _folder(results: Results, sheet: str, lines: Sequence[_Line]) -> _Folder:
    ids: dict[str, object] = {"units": [line.unit[1] for line in lines], "sheet": sheet}
    units = results.query(
        "SELECT u.response_id, u.unit_id, list(u.run ORDER BY r.finished_at, r.run) AS runs "
        "FROM fact_units AS u INNER JOIN runs AS r ON r.run = u.run "
        "WHERE u.unit_id IN (SELECT unnest($units)) GROUP BY ALL",
        {"units": ids["units"]},
    ).to_pylist()
    before = labels_of(results.query("SELECT * FROM labels WHERE sheet = ?", [sheet]))
    others = results.query(
        "SELECT * FROM labels WHERE sheet != $sheet AND label IS NOT NULL "
        "AND unit_id IN (SELECT unnest($units))",
        ids,
    )
    population: dict[str, set[_Unit]] = defaultdict(set)
    drawn = results.query(
        "SELECT run, response_id, unit_id FROM sheet_populations WHERE sheet = ?", [sheet]
    )
    for row in drawn.to_pylist():
        population[row["run"]].add((row["response_id"], row["unit_id"]))
    return _Folder(
        units={(row["response_id"], row["unit_id"]): row["runs"] for row in units},
        sizes={run.name: run.counts.get("units", 0) for run in results.runs},
        before=before,
        others=labels_of(others),
        population=population,
    )


def _run_of_lines(lines: Sequence[_Line], folder: _Folder) -> str | None:
    """Return the run from which lines that name none were drawn: the smallest with all of them.

    A larger run that took over these units has others, which nobody could have labelled.
    """
    known = [
        folder.units[line.unit]
        for line in lines
        if line.unit in folder.units and not line.get("run")
    ]
    if not known:
        return None
    with_all = set(known[0]).intersection(*known)
    newest_first = [run for run in reversed(list(folder.sizes)) if run in with_all]
    return min(newest_first, key=folder.sizes.__getitem__, default=None)


def _parse_lines(
    lines: Sequence[_Line], directory: str, sheet: str, folder: _Folder
) -> _SheetLines:
    """Return the parsed lines; an unusable line is a problem, and has no label."""
    reading = _SheetLines()
    places: dict[tuple[_Unit, str], _Line] = {}
    differing = set()
    for line in lines:
        of = line.unit, line.get("annotator") or sheet
        try:
            label = _label_of(line, directory, folder)
        except ValueError as error:
            reading.problems.append(f"line {line.number}: {error}")
            continue
        reading.usable.append(line)
        if word_of(line.get("label")) in EMPTY:
            reading.n_blank += 1
            continue
        if of in places:
            before = places[of]
            if reading.labels.get(of, (before, None))[1] != label:
                differing.add(of)
                reading.problems.append(
                    f"line {line.number}: claim {line.unit[1]!r} has another label on line "
                    f"{before.number}; neither is taken"
                )
            else:
                reading.n_repeated += 1
            continue
        places[of] = line
        if label is None:
            reading.n_unsure += 1
            reading.withdrawn.add(of)
        else:
            reading.labels[of] = line, label
    for of in differing:
        reading.labels.pop(of, None)
        reading.withdrawn.discard(of)
    return reading


def _label_of(line: _Line, directory: str, folder: _Folder) -> float | None:
    """Return the label of a line; raise a ValueError if the label, unit or run is unknown."""
    run, size = line.get("run"), line.get("stratum_size")
    stored = line.unit in folder.population.get(run, ())  # of a run that may be gone
    if line.unit not in folder.units and not stored:
        raise ValueError(
            f"no finished run in {directory!r} has claim {line.unit[1]!r} of response "
            f"{line.unit[0]!r} (a spreadsheet may have taken an id for a number: import these "
            "columns as text)"
        )
    if run and run not in folder.sizes and not stored:
        raise ValueError(
            f"no finished run {run!r} in {directory!r} (if it was deleted, leave out the column "
            "run)"
        )
    if run and not stored and run not in folder.units[line.unit]:
        raise ValueError(f"run {run!r} has no claim {line.unit[1]!r} of response {line.unit[0]!r}")
    if line.get("stratum") and not _SIZE.fullmatch(size):
        raise ValueError(f"stratum_size {size!r} is not a number of claims")
    return label_of(line.get("label"))


def _sizes(
    results: Results,
    folder: _Folder,
    sheet: str,
    lines_by_stratum: Mapping[tuple[str, str | None], Sequence[_Line]],
    notices: list[str],
) -> dict[tuple[str, str | None], int]:
    """Return the sizes of the sheet's strata by run, and add their units to the population.

    A size that differs from the sheet's becomes a notice.
    """
    sizes: dict[tuple[str, str | None], int] = {
        (row.run, row.stratum): row.stratum_size
        for row in folder.before
        if row.stratum_size is not None
    }
    own: list[tuple[str, str]] = []
    for (run, stratum), lines in lines_by_stratum.items():
        if stratum is None:
            continue
        size = _stratum_size(folder, run, stratum, lines, notices)
        drawn = _stratum_units(results, folder, sheet, run, stratum)
        # Lines that name no run may be of a smaller one that has gone.
        of_this_run = size >= len(drawn) or all(line.get("run") for line in lines)
        if drawn and of_this_run:
            if _sizes_written(lines).keys() != {len(drawn)}:
                notices.append(
                    f"stratum_size of {stratum!r} is {size:,}, but run {run} has "
                    f"{quantity(len(drawn), 'such claim')}; {len(drawn):,} is taken"
                )
            size = len(drawn)
            folder.population[run] |= drawn
        else:
            own.append((run, stratum))
        sizes[run, stratum] = size
    for run in dict.fromkeys(run for run, _ in lines_by_stratum):
        strata = {stratum: size for (of, stratum), size in sizes.items() if of == run}
        if not strata:
            folder.population[run] |= _units_without(results, folder, sheet, run, frozenset())
            continue
        whole, units = sum(strata.values()), folder.sizes.get(run, 0)
        if units and whole > units:
            notices.append(
                f"the strata of run {run} have {quantity(whole, 'claim')} by their stratum_size, "
                f"and the run has {units:,}"
            )
        for stratum in (stratum for of, stratum in own if of == run):
            if whole >= units:
                folder.population[run] |= _units_without(results, folder, sheet, run, frozenset())
            else:
                lines = lines_by_stratum[run, stratum]
                part = _part(results, run, stratum, strata[stratum], lines, notices)
                folder.population[run] |= part
    return sizes


def _sizes_written(lines: Sequence[_Line]) -> Counter[int]:
    return Counter(int(float(line.get("stratum_size"))) for line in lines)


def _stratum_size(
    folder: _Folder, run: str, stratum: str, lines: Sequence[_Line], notices: list[str]
) -> int:
    """Return the size of a stratum that most lines state; other sizes become notices."""
    written = _sizes_written(lines)
    if len(written) > 1:
        each = ", ".join(f"{size:,} (in {quantity(n, 'row')})" for size, n in written.most_common())
        notices.append(f"stratum {stratum!r} has more than one stratum_size: {each}")
    most = max(written, key=lambda size: (written[size], size))
    before = {row.stratum_size for row in folder.before if (row.run, row.stratum) == (run, stratum)}
    if changed := sorted(before - {most, None}, key=str):
        notices.append(
            f"stratum_size of {stratum!r} was {', '.join(map(str, changed))}, and is {most:,} now"
        )
    return most


def _stratum_units(
    results: Results, folder: _Folder, sheet: str, run: str, stratum: str
) -> set[_Unit]:
    """Return the units of a stratum of `ufo label sample`, as its name defines them.

    These are all of the run, or those that the named sheets do not have. A user's own stratum has
    none, and so has one with a sheet that is not in the folder.
    """
    if stratum == ALL_UNITS:
        return _units_without(results, folder, sheet, run, frozenset())
    if not stratum.startswith(REST_OF):
        return set()
    others = frozenset(stratum.removeprefix(REST_OF).split(", "))
    known = results.query("SELECT DISTINCT sheet FROM sheet_populations").column(0).to_pylist()
    return _units_without(results, folder, sheet, run, others) if others <= {*known} else set()


def _units_without(
    results: Results, folder: _Folder, sheet: str, run: str, others: frozenset[str]
) -> set[_Unit]:
    """Return the units of a run without those of other sheets.

    Units from an earlier import stay if the run is gone, or if other sheets are left out.
    """
    kept = folder.population.get(run, set())
    if run not in folder.sizes or (others and kept):
        return kept
    rows = results.query(
        "SELECT response_id, unit_id FROM fact_units WHERE run = $run AND NOT EXISTS ("
        "  SELECT 1 FROM sheet_populations AS p WHERE list_contains($others, p.sheet) "
        "  AND (p.sheet, p.run) != ($sheet, $run) "
        "  AND p.response_id = fact_units.response_id AND p.unit_id = fact_units.unit_id)",
        {"run": run, "others": sorted(others), "sheet": sheet},
    )
    return {(row["response_id"], row["unit_id"]) for row in rows.to_pylist()}


def _part(
    results: Results,
    run: str,
    stratum: str,
    size: int,
    lines: Sequence[_Line],
    notices: list[str],
) -> set[_Unit]:
    """Return the units of a user's own stratum, which is a part of a run.

    These are the units of the model, of the data set or of both that all its lines share, where
    there are as many; else those of its lines.
    """
    rows = results.query(
        "SELECT u.response_id, u.unit_id, r.model, r.dataset FROM fact_units AS u "
        "INNER JOIN responses AS r ON r.run = u.run AND r.response_id = u.response_id "
        "WHERE u.run = ?",
        [run],
    ).to_pylist()
    drawn = {line.unit for line in lines}
    for names in (("model",), ("dataset",), ("model", "dataset")):
        parts: dict[tuple[str | None, ...], set[_Unit]] = defaultdict(set)
        for row in rows:
            parts[tuple(row[name] for name in names)].add((row["response_id"], row["unit_id"]))
        for units in parts.values():
            if len(units) == size and drawn <= units:
                return units
    if len(drawn) < size:
        notices.append(
            f"the sheet has {len(drawn):,} of the {size:,} claims of stratum {stratum!r}, and the "
            f"others are not known: its labels speak for these {len(drawn):,}. For the others, "
            "too, give each claim of the stratum a row, with an empty label where nobody gave one"
        )
    return drawn


def _notices_on_runs(folder: _Folder, runs: Iterable[str], results: Results) -> list[str]:
    """Return a notice for each older run: how many of the units drawn from it the newest has."""
    newest = results.runs[-1].name
    if newest in runs:
        return []
    rows = results.query("SELECT response_id, unit_id FROM fact_units WHERE run = ?", [newest])
    units = {(row["response_id"], row["unit_id"]) for row in rows.to_pylist()}
    notices = []
    for run in sorted(runs):
        population = folder.population[run]
        there, whole = len(population & units), quantity(len(population), "claim")
        verb = "is" if there == 1 else "are"
        notices.append(f"drawn from run {run}; {there:,} of its {whole} {verb} in run {newest}")
    return notices
