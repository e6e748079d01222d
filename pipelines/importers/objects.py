"""Read published files, and what their importers share.

The fields of an object are checked, and the sentences and claims of annotators are placed in the
response that they are of.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ufo.pipelines.runs.inputs import HEAD_BYTES, as_json_lines, format_of
from ufo.schemas.errors import UsageError
from ufo.transforms.extract import align
from ufo.transforms.read import OF_CELLS, UnusableValue, kind_of, object_of
from ufo.transforms.sentences import Span, segment

Record = dict[str, Any]

# Such a file says nothing by its own name: it is named after its folder.
_PLAIN = ("test", "train", "dev", "data", "result")


LEFT_OUT: Final = "left out"
"""The key of a record under which an importer names what has no place in it: each thing once."""
NEITHER: Final = "labels that are neither true nor false"
UNPLACED: Final = "labels of stretches that are not in the response"


def read_objects(path: Path) -> Iterator[tuple[int, Record | UnusableValue]]:
    """Yield each object, or why it is unusable, with its line number (else its position) from 1.

    Raises:
        UsageError: a file that cannot be read.
    """
    try:
        with path.open("rb") as stream:
            form = format_of(stream.read(HEAD_BYTES))
            stream.seek(0)
            for number, line in enumerate(_lines(as_json_lines(form, stream)), start=1):
                if line.strip():
                    yield number, _object(line)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UsageError(f"cannot read {str(path)!r}: {error}.") from error


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    yield rest


def _object(line: bytes) -> Record | UnusableValue:
    try:
        found = object_of(line)
    except UnusableValue as problem:
        return problem
    found.pop(OF_CELLS, None)
    return found


def named_after(file: Path) -> tuple[str, str]:
    """Return the stem of a file's name, usually a model, and the name of its folder."""
    name, folder = file.name.split(".")[0], file.absolute().parent
    return (folder.name, folder.parent.name) if name in _PLAIN else (name, folder.name)


def get(raw: Record, name: str, kind: type) -> Any:
    """Return a value of that type; raises UnusableValue if it is missing."""
    if name not in raw:
        raise UnusableValue(f"expected `{name}`, found only: {', '.join(raw) or 'nothing'}"[:300])
    if not isinstance(raw[name], kind):
        raise UnusableValue(
            f"expected `{name}` to be {kind_of(kind())}, found {kind_of(raw[name])}"
        )
    return raw[name]


def text_of(raw: Record, name: str) -> str:
    """Return a text; raises UnusableValue if it is missing."""
    return as_text(name, get(raw, name, str))


def response_text(raw: Record, name: str) -> str:
    """Return a text that is not blank; raises UnusableValue if it is missing."""
    text = text_of(raw, name)
    if not text.strip():
        raise UnusableValue(f"expected `{name}` to be a response, found an empty text")
    return text


def as_text(name: str, value: object) -> str:
    """Return the value, which belongs to `name`; raises UnusableValue if it is not a text."""
    if not isinstance(value, str):
        raise UnusableValue(f"expected `{name}` to hold texts, found {kind_of(value)}")
    return value


def list_of(raw: Record, name: str, kind: type) -> list[Any]:
    """Return a list of texts or objects, empty if it is missing; UnusableValue for others."""
    items = [] if raw.get(name) is None else get(raw, name, list)
    for item in items:
        if not isinstance(item, kind):
            what = "texts" if kind is str else "objects"
            raise UnusableValue(f"expected `{name}` to hold {what}, found {kind_of(item)}")
    return items


def record(kind: str, place: object, text: str, left_out: Sequence[str], **given: Any) -> Record:
    """Return a record with those of the fields `given` that have a value."""
    known = {name: value for name, value in given.items() if value is not None}
    return {"id": f"{kind}-{place}", "dataset": kind, "response": text, **known, LEFT_OUT: left_out}


def places_of(sentences: Sequence[str], text: str) -> list[Span | None]:
    """Return where each sentence stands in the text: after the one before it, if it can.

    White space, case and the final mark may differ, as annotators tidied them; a sentence that they
    rewrote has no place.
    """
    places: list[Span | None] = []
    after = 0
    for sentence in sentences:
        words = sentence.strip().rstrip(".").split()
        pattern = re.compile(r"\s+".join(map(re.escape, words)) + r"\.?", re.IGNORECASE)
        match = (pattern.search(text, after) or pattern.search(text)) if words else None
        places.append(Span(*match.span()) if match else None)
        after = match.end() if match else after
    return places


def labelled_places(
    labelled: Iterable[tuple[Span | None, object]], left_out: list[str]
) -> list[Record]:
    """Return the labels of the stretches that have a place; others are told in `left_out`."""
    found = []
    for place, label in labelled:
        if place is None:
            left_out.append(UNPLACED)
        else:
            found.append({"start": place.start, "end": place.end, "label": bool(label)})
    return found


def claims_of(
    texts: Sequence[str],
    labels: Sequence[object],
    place: Span | None,
    response: str,
    left_out: list[str],
) -> list[Record]:
    """Return the claims of an annotated sentence with their sentence indexes, and their labels
    where those are true or false; others are told in `left_out`."""
    indices = _our_sentences(texts, place, response) if place else [None] * len(texts)
    claims = []
    for text, label, index in zip(texts, labels, indices, strict=True):
        claim: Record = {"claim": text}
        if isinstance(label, bool):
            claim["label"] = label
        else:
            left_out.append(NEITHER)
        if index is not None:
            claim["sentence_index"] = index
        claims.append(claim)
    return claims


def _our_sentences(claims: Sequence[str], place: Span, response: str) -> list[int | None]:
    """Return the index of our sentence for each claim that was made from the text at `place`.

    Where that text is several sentences of ours (a list, mostly), each claim goes to the one it
    shares its words with, or to none.
    """
    covered = []
    for index, span in enumerate(segment(response)):
        overlap = min(span.end, place.end) - max(span.start, place.start)
        if overlap * 2 > min(span.end - span.start, place.end - place.start):
            covered.append((index, response[span.start : span.end]))
    if len(covered) == 1:
        return [covered[0][0]] * len(claims)
    chosen = align(claims, [text for _, text in covered])
    return [None if at is None else covered[at][0] for at in chosen]


def share_of_true(claims: Sequence[Record]) -> float | None:
    """Return the share of true claims among those with a label, None where none has one."""
    labels = [claim["label"] for claim in claims if "label" in claim]
    return sum(labels) / len(labels) if labels else None
