"""Read a file that is one text: a reference, a configuration, prices, a prompt, a sheet of labels.

It is taken as rows are: on this machine or in a bucket, compressed by gzip, bzip2 or zstd, in UTF-8
or in UTF-16 with a byte order mark.
"""

from ufo.schemas import storage
from ufo.schemas.errors import reason_of
from ufo.schemas.text import decoded


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
    # Both import pyarrow, which is slow and large: `import ufo` and the readers of web pages come
    # here, and read no such file.
    from ufo.schemas.compression import compression_of, decompressed
    from ufo.schemas.rows import HEAD_BYTES, PARQUET, format_of

    if compression := compression_of(body):
        body = b"".join(decompressed(compression, [body]))
    form = format_of(body[:HEAD_BYTES])
    if form == PARQUET:
        raise ValueError("it is Parquet; give text")
    if compression_of(body):
        raise ValueError("it is compressed twice")
    return decoded(body)
