"""Convert a block of raw pages to passages, page names, redirects and failures, in files.

Sections are split into passages of about 100 words, at sentence ends.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from ufo.indexes.names import normal_name
from ufo.indexes.reader import Block, PageBroken, RawPage, parse_page, title_in
from ufo.indexes.store import PASSAGE_SCHEMA, StoredPassage
from ufo.indexes.tokens import word_count
from ufo.indexes.wikis import is_disambiguation
from ufo.indexes.wikitext import article_of, sentences_of
from ufo.schemas.documents import Columns, Document, RawDocument, ReadFile, document_of
from ufo.schemas.records import Failure

WORDS = 100

# A longer "sentence" is a list without full stops, or a script without spaces: cut by length.
_LONG_WORDS = 150
_LONG_CHARACTERS = 2_000
# A piece is a word with the white space around it; no number is cut.
_PIECE = re.compile(r"\s*(?:\S{1,500}(?!(?<=[\d.,])[\d.,])|\S{1,500})\s*")


def passages_of(lines: Sequence[str], language: str = "en", words: int = WORDS) -> list[str]:
    """Return the passages of one section, given its paragraphs and list items.

    Their number is the section's words divided by `words`, rounded, and they have about equal
    lengths. Lines are joined by a line feed; no text is lost or repeated.
    """
    if _is_one(lines, words):
        whole = "\n".join(line for line in map(str.strip, lines) if line)
        return [whole] if whole else []
    sentences = [
        (piece, n_words, number)
        for number, line in enumerate(lines)
        for sentence in sentences_of(line.strip(), language)
        for piece, n_words in _cut(sentence, words)
    ]
    total = sum(n_words for _, n_words, _ in sentences)
    target = total / max(1, round(total / words))
    passages: list[str] = []
    current, position, last_line = -1, 0, -1
    size = 0
    for sentence, n_words, line in sentences:
        # A sentence belongs to the passage that contains its middle.
        number = int((position + n_words / 2) / target)
        position += n_words
        if number != current or size > _LONG_CHARACTERS:
            passages.append(sentence)
            current, size = number, 0
        elif line == last_line:
            passages[-1] += sentence
        else:
            passages[-1] = f"{passages[-1].rstrip()}\n{sentence}"
        size += len(sentence.strip())
        last_line = line
    return [passage.strip() for passage in passages]


def _is_one(lines: Sequence[str], words: int) -> bool:
    """Return whether a section is one passage, so that it need not be segmented."""
    if sum(map(len, lines)) > _LONG_CHARACTERS:
        return False
    return round(sum(map(word_count, lines)) / words) <= 1


def _cut(sentence: str, words: int) -> list[tuple[str, int]]:
    """Return the parts of a long sentence, or a short one whole, each with its number of words."""
    count = word_count(sentence)
    if not count:
        return []
    if count <= _LONG_WORDS and len(sentence.strip()) < _LONG_CHARACTERS:
        return [(sentence, count)]
    parts = [("", 0)]
    for piece in _PIECE.findall(sentence):
        n_words = word_count(piece)
        part, filled = parts[-1]
        if filled and (filled + n_words > words or len(part) + len(piece) >= _LONG_CHARACTERS):
            parts.append((piece, n_words))
        else:
            parts[-1] = (part + piece, filled + n_words)
    return parts


STEP = "index"
_COUNTED = """
    pages articles redirects disambiguations other_namespaces failures empty_articles
    other_namespace_redirects sentences_left_out
"""
COUNTS = _COUNTED.split()

_MAX_INPUT = 4096
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(slots=True)
class BlockResult:
    """The content of a block.

    `pages` are (title, number of passages), in the order of `passages`; `redirects` are (target,
    alias), both normalised; `latest` is the date in the dump's name, else of the newest revision.
    `left_out` counts the sentences of articles that a template has taken with it, by its name.
    `language` is that of the wiki, "" for documents.
    """

    passages: list[StoredPassage] = field(default_factory=list)
    pages: list[tuple[str, int]] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    latest: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    language: str = ""


def process_block(
    block: Block,
    words: int = WORDS,
    columns: Columns = MappingProxyType({}),
    read_file: ReadFile | None = None,
) -> BlockResult:
    """Return the content of a block's pages, with a failure row for each page that is invalid.

    `columns` are those of rows, and `read_file` reads the files of text.
    """
    result = BlockResult(latest=block.date or "")
    for position, item in enumerate(block.items, start=block.first):
        if isinstance(item, RawDocument) and not (item.problem or item.path or item.json.strip()):
            continue
        try:
            if isinstance(item, RawPage):
                _add_page(result, item, block, words)
            elif item.problem:
                raise PageBroken(item.problem)
            else:
                if item.path and read_file:
                    document = read_file(item.path, item.name)
                else:
                    document = document_of(item.json, columns)
                _add_article(result, block, words, document)
        except Exception as error:  # one page must not fail the build
            result.failures.append(_failure(error, item, block, position))
    result.counts["failures"] = len(result.failures)
    return result


def _add_page(result: BlockResult, raw: RawPage, block: Block, words: int) -> None:
    page = parse_page(raw)
    result.language = block.site.language
    result.counts["pages"] += 1
    if page.namespace != 0:
        result.counts["other_namespaces"] += 1
        result.counts["other_namespace_redirects"] += page.redirect is not None
    elif page.redirect is not None:
        result.counts["redirects"] += 1
        wanted = normal_name(page.redirect.partition("#")[0])
        result.redirects.append((wanted, normal_name(page.title)))
    elif is_disambiguation(page.text, block.site.language):
        result.counts["disambiguations"] += 1
    else:
        result.counts["pages"] -= 1
        date = _DATE.match(page.timestamp or "")
        article = article_of(page.text, block.site.dropped_links, block.site.language)
        result.counts["sentences_left_out"] += article.left_out
        result.left_out.update(article.by_name)
        url = block.site.url_of(page.title)
        document = Document(page.title, article.sections, url, page.page_id)
        published = date[0] if date else block.date
        _add_article(result, block, words, document, page.revision_id, published)


def _add_article(
    result: BlockResult,
    block: Block,
    words: int,
    document: Document,
    revision_id: int | None = None,
    published_at: str | None = None,
) -> None:
    texts = [
        (section.heading, text)
        for section in document.sections
        for text in passages_of(section.lines, block.site.language, words)
    ]
    title, url, number = document.title, document.url, document.page_id
    result.passages.extend(
        StoredPassage(title, heading, url, number, revision_id, published_at, text, ordinal)
        for ordinal, (heading, text) in enumerate(texts)
    )
    result.pages.append((title, len(texts)))
    result.counts["pages"] += 1
    result.counts["articles"] += 1
    result.counts["empty_articles"] += not texts
    if not block.date:
        result.latest = max(result.latest, published_at or "")


def _failure(error: Exception, item: RawPage | RawDocument, block: Block, position: int) -> Failure:
    if isinstance(item, RawPage):
        key = title_in(item.xml) or f"{block.name}: page {position + 1}"
        raw = item.xml
    else:
        key, raw = item.name or f"{block.name}:{position + 1}", item.json
    text = raw[:_MAX_INPUT].decode("utf-8", "replace") or None
    return Failure(STEP, key, type(error).__name__, str(error) or "no message", text)


# --- on disk ------------------------------------------------------------------------------------


def write_block(folder: Path, block: Block, result: BlockResult) -> None:
    """Write a block's passages to STEM.arrow and then the rest to STEM.json; deterministic."""
    stem = f"{block.file:05d}-{block.number:012d}"
    columns = {name: [getattr(p, name) for p in result.passages] for name in PASSAGE_SCHEMA.names}
    with pa.ipc.new_file(folder / f"{stem}.arrow", PASSAGE_SCHEMA) as writer:
        writer.write_table(pa.Table.from_pydict(columns, PASSAGE_SCHEMA))
    names = ("pages", "redirects", "counts", "latest", "left_out", "language")
    rest: dict[str, Any] = {name: getattr(result, name) for name in names}
    rest["failures"] = [asdict(failure) for failure in result.failures]
    (folder / f"{stem}.json").write_text(json.dumps(rest))
