"""Convert published data sets to input records.

A further format is a function from one object of its file to a record (`formats.py`), and a line
in IMPORTERS with the fields that its objects have.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import NamedTuple

from ufo.pipelines.importers import formats
from ufo.pipelines.importers.objects import LEFT_OUT, Record, read_objects
from ufo.schemas.errors import UsageError, unknown_value
from ufo.transforms.read import UnusableValue

# (an object of the file, the file, the object's number) → a record, or several.
Importer = Callable[[Record, Path, int], Record | list[Record]]


class Format(NamedTuple):
    """A published format: what converts its objects, and the fields that they alone have."""

    importer: Importer
    known_by: Set[str] | None = None


# An object is of the first format whose fields it has.
IMPORTERS: dict[str, Format] = {
    "factcheck_gpt": Format(formats.factcheck_gpt, {"prompt", "response", "sentences"}),
    "felm": Format(formats.felm, {"response", "segmented_response", "labels"}),
    "factool": Format(formats.factool, {"prompt", "response", "claims", "label"}),
    "ragtruth": Format(formats.ragtruth, {"source_id", "response", "labels"}),
    "factscore": Format(formats.factscore, {"input", "output", "annotations"}),
    "expertqa": Format(formats.expertqa, {"question", "annotator_id", "answers"}),
    "halueval": Format(formats.halueval, {"chatgpt_response", "hallucination"}),
    "wice": Format(formats.ONE_TEXT["wice"], {"claim", "evidence", "supporting_sentences"}),
    "llm_aggrefact": Format(formats.ONE_TEXT["llm_aggrefact"], {"dataset", "doc", "claim"}),
    "begin": Format(formats.ONE_TEXT["begin"], {"knowledge", "response", "begin_label"}),
    "fool_me_twice": Format(formats.ONE_TEXT["fool_me_twice"], {"text", "gold_evidence", "label"}),
    "fever": Format(formats.ONE_TEXT["fever"], {"claim", "evidence"}),
    "ufo": Format(formats.ufo),
}


def import_records(
    kind: str,
    path: str | Path,
    report: Callable[[str], None],
    left_out: Counter[str],
) -> Iterator[Record]:
    """Yield the records of a published file in any form that `ufo evaluate` reads, in order.

    Args:
        kind: one of IMPORTERS.
        path: the file; factscore and ufo take the model's name from it (`ChatGPT.jsonl`, or
            `ChatGPT/test.jsonl`), ragtruth the sources from `source_info.jsonl` beside it.
        report: called with a message for each line that cannot be used; other lines go on.
        left_out: gets the number of labels and other things that have no place in a record.

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
            if isinstance(value, UnusableValue):
                raise value
            _check_kind(kind, value)
            made = IMPORTERS[kind].importer(value, file, number)
        except UnusableValue as problem:
            problems.append(f"{file}:{number}: {problem}")
        else:
            found = True
            for one in made if isinstance(made, list) else [made]:
                left_out.update(one.pop(LEFT_OUT, ()))
                yield one
        # A file of another format is one problem, not one per line: reported once a line fits.
        while found and problems:
            report(problems.pop(0))
    if problems:
        raise UsageError(f"none of {len(problems)} records is {kind}; {problems[0]}.")
    if not found:
        raise UsageError(f"nothing to import: {str(file)!r} has no records.")


def _check_kind(kind: str, raw: Record) -> None:
    """Raise UnusableValue for an object of another format that this one would read only in part."""
    known = ((name, one.known_by) for name, one in IMPORTERS.items() if one.known_by)
    other = next((name for name, fields in known if raw.keys() >= fields), None)
    if other not in (None, kind):
        raise UnusableValue(f"this looks like {other}: ufo import {other}")
