"""Make input records of published label files: one module a format.

A further format is a function from one object of its file to a record, and a line in IMPORTERS.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from pipelines.importers.factcheck_gpt import factcheck_gpt
from pipelines.importers.factscore import factscore
from pipelines.importers.fava import fava
from pipelines.importers.reading import Record, Unusable, read_objects
from pipelines.importers.ufo_system import ufo_system
from schemas.errors import UsageError, unknown_value

# (an object of the file, the file, the object's number) → a record.
Importer = Callable[[Record, Path, int], Record]

IMPORTERS: dict[str, Importer] = {
    "factcheck_gpt": factcheck_gpt,
    "factscore": factscore,
    "fava": fava,
    "ufo": ufo_system,
}


def import_records(kind: str, path: str | Path, report: Callable[[str], None]) -> Iterator[Record]:
    """Give the records of a label file (JSON Lines or an array, also `.gz`), in order.

    Args:
        kind: one of IMPORTERS.
        path: the file; factscore and ufo take the model's name from it (`ChatGPT.jsonl`, or
            `ChatGPT/test.jsonl`).
        report: called with a message for each line that cannot be used; other lines go on.

    Raises:
        UsageError: an unknown kind, a file that cannot be read, or one without a usable line.
    """
    if kind not in IMPORTERS:
        raise UsageError(unknown_value("format", kind, IMPORTERS))
    file = Path(path)
    problems: list[str] = []
    found = False
    for number, value in read_objects(file):
        try:
            if isinstance(value, Unusable):
                raise value
            record = IMPORTERS[kind](value, file, number)
        except Unusable as problem:
            problems.append(f"{file}:{number}: {problem}")
        else:
            found = True
            yield record
        # A file of another format is one problem, not one a line: told when a line has fitted.
        while found and problems:
            report(problems.pop(0))
    if problems:
        raise UsageError(f"none of {len(problems)} lines is {kind}; {problems[0]}.")
    if not found:
        raise UsageError(f"nothing to import: {str(file)!r} has no lines.")
