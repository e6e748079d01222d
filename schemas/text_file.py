"""Read a file that is one text: a reference, a configuration, prices, a prompt, a sheet of labels.

It is taken as rows are: on this machine or in a bucket, compressed by gzip, bzip2 or zstd, in UTF-8
or in UTF-16 with a byte order mark.
"""

import os
import re
from typing import Final

from ufo.schemas import storage
from ufo.schemas.errors import reason_of
from ufo.schemas.text import decode

_NAMED: Final = re.compile(
    r"""(?: [^\n]{0,250} \. (?:txt|text|md|markdown|rst)
          | \S{0,250} \. (?:html?|pdf|docx?|rtf|odt|csv|tsv|jsonl?|xml)
          | (?:~|\.{1,2})?/\S{1,250} )
        (?: \. (?:gz|bz2|zst) )?""",
    re.IGNORECASE | re.VERBOSE,
)
"""The form of a file's name, which may have blanks only with the extension of a text file."""
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_LONGEST: Final = 4_096
"""The length of the longest path on Linux, in bytes."""


def is_file(text: str) -> bool:
    """Return whether a text is an existing path on this machine, or an address (`gs://…`)."""
    try:
        return is_address(text) or (len(text) < _LONGEST and os.path.exists(text))
    except ValueError:  # a NUL
        return False


def is_address(text: str) -> bool:
    """Return whether a text is an address and nothing else: of a file in a bucket, or of a page."""
    return _ADDRESS.fullmatch(text.strip()) is not None


def looks_like_file(text: str) -> bool:
    """Return whether a text is the path of a file, or has the form of one, such as `about.txt`."""
    return is_file(text) or _NAMED.fullmatch(text.strip()) is not None


def read_text(path: str) -> str:
    """Return the text of a file.

    Raises:
        ValueError: there is no such text; the message says why, and does not name the file.
    """
    try:
        body = storage.read(path)
    except OSError as error:
        raise ValueError(reason_of(error)) from error
    return text_of(body)


def text_of(body: bytes) -> str:
    """Return the text in the bytes of a file.

    Raises:
        ValueError: there is no text in them; the message says why.
    """
    # Both import pyarrow, which is slow and large. `import ufo` and readers of web pages import
    # this module, and do without.
    from ufo.schemas.compression import compression_of, decompress
    from ufo.schemas.rows import HEAD_BYTES, PARQUET, format_of

    if compression := compression_of(body):
        body = b"".join(decompress(compression, [body]))
    form = format_of(body[:HEAD_BYTES])
    if form == PARQUET:
        raise ValueError("it is Parquet; give text")
    if compression_of(body):
        raise ValueError("it is compressed twice")
    return decode(body)
