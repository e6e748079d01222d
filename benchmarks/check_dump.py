"""Check how a dump is read against slower parsers, and what hostile inputs do. Last line: JSON.

Pages are counted with an XML parser, disambiguation pages and sections with mwparserfromhell (a
development dependency), which takes templates, tables and references out before it is asked what
a section says. Megabytes are of the XML, seconds of one processor.

    python benchmarks/check_dump.py [--quick] [--data DIR]
"""

import argparse
import bz2
import io
import json
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mwparserfromhell

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ufo.indexes.blocks import BlockResult, process_block  # noqa: E402
from ufo.indexes.reader import Slice, read_blocks  # noqa: E402

# What is markup in a text, and not what an article on markup or mathematics may say.
LEFTOVER = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|'''|''|</?(?:ref|br|div|span|small|sub|sup|nowiki|table|p)\b"
    r"|&(?:nbsp|amp|lt|gt|quot|ndash|mdash);|^\s*(?:\||!)|^=+[^=]+=+$|\b(?:File|Image|Category):\w"
    r"|__[A-Z]+__|\b(?:rowspan|colspan|cellpadding|style)\s*=",
    re.MULTILINE,
)
SAYING = 12  # words that a section must have to say something


def ours(path: Path) -> tuple[BlockResult, float]:
    """Return what the index makes of a dump, and the processor's seconds."""
    total = BlockResult()
    started = time.process_time()
    for block in read_blocks(Slice(0, str(path))):
        result = process_block(block)
        total.passages += result.passages
        total.failures += result.failures
        total.counts.update(result.counts)
    return total, time.process_time() - started


def theirs(path: Path) -> tuple[Counter[str], dict[str, str]]:
    """Return the counts of pages, and the wikitext of the articles."""
    counts: Counter[str] = Counter()
    articles: dict[str, str] = {}
    for _, element in ET.iterparse(io.BytesIO(bz2.decompress(path.read_bytes()))):
        if not element.tag.endswith("}page") and element.tag != "page":
            continue
        space = element.tag.removesuffix("page")
        counts["pages"] += 1
        text = element.findtext(f"{space}revision/{space}text") or ""
        if element.findtext(f"{space}ns") != "0":
            counts["other_namespaces"] += 1
        elif element.find(f"{space}redirect") is not None:
            counts["redirects"] += 1
        elif _says_disambiguation(text):
            counts["disambiguations"] += 1
        else:
            counts["articles"] += 1
            articles[element.findtext(f"{space}title") or ""] = text
        element.clear()
    return counts, articles


def _says_disambiguation(text: str) -> bool:
    names = {
        str(template.name).strip().lower()
        for template in mwparserfromhell.parse(text).ifilter_templates()
    }
    return any(name in ("dab", "hndis", "geodis") or "disambig" in name for name in names)


def lost_sections(articles: dict[str, str], found: BlockResult) -> tuple[int, list[str]]:
    """Return the number of sections that say something, and those of them that are not there."""
    headings: dict[str, set[str]] = {}
    for passage in found.passages:
        headings.setdefault(passage.title, set()).update(passage.section.split(" > "))
    lost, checked = [], 0
    for title, text in articles.items():
        code = mwparserfromhell.parse(text)
        for section in code.get_sections(flat=True, include_lead=False):
            heading = " ".join(section.filter_headings()[0].title.strip_code().split())
            if len(_prose(section).split()) < SAYING:
                continue
            checked += 1
            if heading not in headings.get(title, ()):
                lost.append(f"{title} › {heading}")
    return checked, lost


def _prose(section: Any) -> str:
    """Return what a section says beside its heading, tables, references and templates."""
    for node in section.filter(
        recursive=False,
        matches=lambda node: (
            type(node).__name__ in ("Template", "Heading")
            or (
                type(node).__name__ == "Tag"
                and str(node.tag).lower() in ("table", "ref", "references", "gallery", "div")
            )
            or str(node).lower().startswith(("[[file:", "[[image:", "[[category:"))
        ),
    ):
        section.remove(node)
    return str(section.strip_code())


def check(path: Path, most: int | None) -> dict[str, Any]:
    result, seconds = ours(path)
    counts, articles = theirs(path)
    some = dict(list(articles.items())[:most])
    checked, lost = lost_sections(some, result)
    leftovers = [
        f"{passage.title}: …{passage.text[max(0, match.start() - 30) : match.end() + 30]}…"
        for passage in result.passages
        for match in LEFTOVER.finditer(passage.text)
    ]
    megabytes = len(bz2.decompress(path.read_bytes())) / 1e6
    return {
        "counts": {name: [result.counts[name], counts[name]] for name in sorted(counts)},
        "counts_agree": all(result.counts[name] == counts[name] for name in counts),
        "passages": len(result.passages),
        "leftovers": len(leftovers),
        "leftovers_are": leftovers[:10],
        "sections_checked": checked,
        "sections_lost": len(lost),
        "sections_lost_are": lost[:10],
        "mb_per_second": round(megabytes / seconds, 1),
    }


# --- hostile inputs -------------------------------------------------------------------------------


def _page(title: str, text: str) -> str:
    return (
        f"<page><title>{title}</title><ns>0</ns><id>1</id><revision><id>2</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def _dump(*pages: str) -> bytes:
    last = _page("Last", "The last page is whole.")
    return ("<mediawiki>\n" + "".join(pages) + last + "</mediawiki>").encode()


def hostile() -> dict[str, bytes]:
    words = "A sentence of some words. "
    table = "{|\n|-\n| cell\n" * 50 + "\n|}" * 50 + "\nAfter the tables."
    return {
        "truncated_bz2": bz2.compress(_dump(*(_page(f"T{n}", words * 400) for n in range(200))))[
            :-400
        ],
        "page_of_10_mb": _dump(_page("Large", words * (10_000_000 // len(words)))),
        "tables_nested_50_deep": _dump(_page("Tables", table)),
        "templates_left_open": _dump(_page("Open", "{{a|[[b|" * 20_000 + words)),
        "broken_utf_8": _dump(_page("Broken", "A caf@ here.")).replace(b"@", b"\xc3\x28\xff"),
        "control_characters": _dump(_page("Control", "A \x00\x08 word.")),
        "page_without_an_end": _dump("<page><title>Cut</title>", _page("Next", words)),
        "entities_of_its_own": b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + _dump(_page("E", "&a;&a;")),
    }


def survive(content: bytes) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump"
        path.write_bytes(content)
        result, seconds = ours(path)
    titles = {passage.title for passage in result.passages}
    return {
        "articles": result.counts["articles"],
        "failures": [failure.message[:80] for failure in result.failures],
        "last_page_read": "Last" in titles,
        "seconds": round(seconds, 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="compare 20 articles of each dump")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    given = parser.parse_args()
    most = 20 if given.quick else None
    compared: Callable[[Path], dict[str, Any]] = lambda path: check(path, most)  # noqa: E731
    dumps = sorted((given.data / "enwiki").glob("*.xml*.bz2"))
    result = {
        "dumps": {path.name: compared(path) for path in dumps},
        "hostile": {name: survive(content) for name, content in hostile().items()},
    }
    print(json.dumps(result, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
