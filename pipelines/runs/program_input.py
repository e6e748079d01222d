"""Write the records or the table of a Python program to an input file."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from ufo.schemas.errors import UsageError
from ufo.schemas.row import PROBLEM
from ufo.schemas.text_file import is_address, is_file, looks_like_file, read_text

if TYPE_CHECKING:
    import pyarrow as pa

_WEB: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_UNNAMED_INDEX: Final = re.compile(r"__index_level_\d+__")


class Table(Protocol):
    """A table or data frame that gives its rows to Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ProgramInput = str | Path | Table | Iterable[Mapping[str, Any] | str]
Text = str | os.PathLike[str]
References = str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None


def input_path(records: ProgramInput, name: str, folder: str) -> str:
    """Return the path of the input: the given path, or a new file in `folder`.

    `name` is the name of the parameter.

    Raises:
        UsageError: it is not a path, list or table, or it is empty or cannot be written to a file.
    """
    if isinstance(records, (str, Path)):
        return str(records)
    table = _table(records, name)
    if table is None:
        path = f"{folder}/{name}.jsonl"
        n = _write_records(records, path, name)
    else:
        import pyarrow as pa  # slow to import, and not needed to check a text
        import pyarrow.parquet as pq

        path, n = f"{folder}/{name}.parquet", table.num_rows
        try:
            pq.write_table(table, path)
        except pa.ArrowNotImplementedError:  # Parquet has no string views, which Polars uses
            pq.write_table(pa.Table.from_pylist(table.to_pylist()), path)
    if not n:
        raise UsageError(f"{name} is empty; there is nothing to evaluate")
    return path


def _is_table(content: object) -> bool:
    return hasattr(content, "columns")


def _table(content: Any, name: str) -> "pa.Table | None":
    """Return a table or data frame as Arrow; None for anything else, such as a list."""
    if not (hasattr(content, "__arrow_c_stream__") or _is_table(content)):
        return None
    import pyarrow as pa  # as above

    try:
        table = pa.table(content)
    except (TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, pa.ArrowInvalid) and not _is_table(content):
            return None
        raise UsageError(
            f"{name} is no table that Arrow can hold: {error} (of a data frame, a list of records "
            "can: frame.to_dict('records'))"
        ) from error
    # pandas keeps an index of evenly spaced numbers as a range in the metadata.
    for index in (table.schema.pandas_metadata or {}).get("index_columns", []):
        if isinstance(index, dict) and index["name"]:
            numbers = range(index["start"], index["stop"], index["step"])
            table = table.append_column(index["name"], pa.array(numbers))
    return table.drop_columns([one for one in table.column_names if _UNNAMED_INDEX.fullmatch(one)])


def _write_records(records: object, path: str, name: str) -> int:
    """Write texts and records as JSON Lines; return their number.

    A record with a value for which JSON has no type becomes a line that says so.
    """
    # A mapping is iterable, too: its keys would be taken for texts.
    if not isinstance(records, Iterable) or isinstance(records, (Mapping, bytes)):
        raise UsageError(
            f"{name} is a path, a list of texts and records, or a table, "
            f"not {type(records).__name__}"
        )
    n = 0
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as sink:
        for n, item in enumerate(records, start=1):
            try:
                record = {"response": item} if isinstance(item, str) else dict(item)
            except (TypeError, ValueError) as error:
                raise UsageError(
                    f"{name}[{n - 1}] is neither a text nor a record for JSON: {error}"
                ) from error
            sink.write(line_of(record) + "\n")
    return n


def line_of(record: Mapping[str, Any]) -> str:
    """Return a record as a line of JSON, or a line with the reason that JSON cannot hold it.

    `read` takes the NaN of a data frame for a missing value.
    """
    try:
        return json.dumps(record, default=plain_value)
    except (TypeError, ValueError, RecursionError) as error:
        texts = {
            name: value
            for name, value in record.items()
            if isinstance(name, str) and isinstance(value, str)
        }
        return json.dumps({PROBLEM: f"the record is not for JSON: {error}", **texts})


_MISSING: Final = ("NAType", "NaTType")  # of pandas, which need not be installed
_TEXTS: Final = (UUID, Path)
_TIMES: Final = (datetime, date, time)


def plain_value(value: Any) -> Any:
    """Return the JSON form of a value that JSON has no type for.

    Such are values of NumPy and pandas, dates, decimals, sets and paths.

    Raises:
        TypeError: there is none.
    """
    if type(value).__name__ in _MISSING:
        return None
    if isinstance(value, _TIMES):
        return value.isoformat()
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # an array or scalar of NumPy, a series of pandas
        return value.tolist()
    raise TypeError(f"a value of the type {type(value).__name__}")


def references_of(references: object) -> list[Any]:
    """Return the references of a text: one or several texts, or files by their `Path`.

    Raises:
        UsageError: they are a mapping, whose keys would be taken for texts, or no texts; a file
            cannot be read; or a text looks like the name of a file.
    """
    texts = (
        references.tolist() if hasattr(references, "tolist") else references
    )  # of NumPy, pandas and Arrow
    if texts is None:
        return []
    if isinstance(texts, (str, os.PathLike)):
        texts = [texts]
    if isinstance(texts, (Mapping, bytes)) or not isinstance(texts, Iterable) or _is_table(texts):
        kinds = "a text, a Path or a list of them"
        raise UsageError(f"references is {kinds}, not {type(references).__name__}")
    return [_text_of(one, "references") for one in texts]


def text_or_file(text: Any) -> Any:
    """Return the text to check: the text itself, or the content of a file named by a `Path`.

    Raises:
        UsageError: the file cannot be read, or the text is the name of a file, or one word that
            looks like one.
    """
    # A sentence may end with the name of a file.
    is_sentence = isinstance(text, str) and len(text.split()) > 1 and not is_file(text)
    return text if is_sentence else _text_of(text, "text")


def _text_of(text: Any, name: str) -> Any:
    """Return the text of the parameter `name`; a value of another type is returned unchanged."""
    if isinstance(text, os.PathLike):
        return file_text(os.fspath(text), f"{name}: the file")
    if isinstance(text, str) and is_address(text):
        raise UsageError(f"{name}: {text!r} is an address; give the text that is there")
    if isinstance(text, str) and looks_like_file(text):
        raise UsageError(
            f"{name}: {text!r} is a text that looks like a file; give Path({text!r}) to "
            "read the file"
        )
    return text


def file_text(path: Any, door: str) -> str:
    """Return the text of a file that a person named; `door` begins the message of an error.

    Raises:
        UsageError: it cannot be read, or has no text.
    """
    name = os.fsdecode(path)
    if _WEB.fullmatch(name):
        raise UsageError(f"{door} {name!r} is a web address; give the text of the page")
    if os.path.isdir(name):
        raise UsageError(f"{door} {name!r} is a folder; give the files in it")
    try:
        text = read_text(name)
    except ValueError as error:
        raise UsageError(f"{door} {name!r} cannot be read: {error}") from error
    if not text.strip():
        raise UsageError(f"{door} {name!r} is empty; give a file with a text")
    return text
