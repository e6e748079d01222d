"""Check every number in the passages of a dump against the wikitext of its page.

A number must stand in the wikitext with no digit before or after it, or follow from a template by a
rule: the digits of `{{gaps}}` are joined, a day or month loses its leading zero, `{{e}}` and
`{{val|e=}}` are powers of 10, `{{frac|8}}` has the numerator 1. The rules are written anew here, so
that a mistake of the product shows.

    python benchmarks/accuracy/templates.py [--data FOLDER] [--quick] [DUMP ...]

It prints what violates that, the share of sentences that were left out, and the ten templates that
cost most of them; the last line is JSON.
"""

import argparse
import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sentencex

from ufo.indexes.reader import Page, RawPage, parse_page, read_blocks, slices_of
from ufo.indexes.wikis import is_disambiguation
from ufo.indexes.wikitext import Article, article_of

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_GAPS = re.compile(r"\{\{\s*gaps\s*\|([^{}]*)\}\}", re.IGNORECASE)
_POWER = re.compile(
    r"\{\{\s*(?:(?:e|e-sp|10\^)\s*\||(?:val|gaps|convert|cvt)\s*\|[^{}]*(?:\be\s*=|\de))",
    re.IGNORECASE,
)
_ONE = re.compile(r"\{\{\s*(?:frac|sfrac|fraction)\s*\|[^{}|]*\}\}", re.IGNORECASE)
_MARKUP = re.compile(r"''+|<[^<>]*>|\[\[[^\[\]|]*\|")


def articles_of(paths: Sequence[Path]) -> Iterator[tuple[Page, Article]]:
    """Yield the articles of dumps, each with its page."""
    for path in paths:
        for part in slices_of(path, 0, 1):
            for block in read_blocks(part):
                site = block.site
                pages = [parse_page(raw) for raw in block.items if isinstance(raw, RawPage)]
                for page in pages:
                    leads = page.redirect is not None or is_disambiguation(page.text, site.language)
                    if page.namespace == 0 and not leads:
                        yield page, article_of(page.text, site.dropped_links, site.language)


def allowed_numbers(wikitext: str) -> set[str]:
    """Return the numbers that may stand in a passage of a page."""
    text = html.unescape(html.unescape(wikitext))
    # Digits on both sides of markup are one number to a reader: 10'''5''' is 105.
    numbers = {
        match[0] for form in (text, _MARKUP.sub("", text)) for match in _NUMBER.finditer(form)
    }
    numbers |= {number.lstrip("0") for number in numbers}
    numbers |= {
        "".join(part.split("=")[-1] for part in match[1].split("|"))
        for match in _GAPS.finditer(text)
    }
    numbers |= {number.replace(".", ",") for number in numbers}  # {{formatnum:1.5}} in German
    if _POWER.search(text):
        numbers.add("10")
    if _ONE.search(text):
        numbers.add("1")
    return numbers


def violations(page: Page, article: Article) -> list[str]:
    """Return the numbers of an article, with what is around them, that its wikitext lacks."""
    allowed = allowed_numbers(page.text)
    lacking = []
    for section in article.sections:
        for line in (section.heading, *section.lines):
            for match in _NUMBER.finditer(line):
                if match[0] not in allowed and not _is_list(match[0], allowed):
                    around = line[max(0, match.start() - 40) : match.end() + 40]
                    lacking.append(f"{page.title}: {match[0]} in “{around}”")
    return lacking


def _is_list(number: str, allowed: set[str]) -> bool:
    """Return whether several numbers with commas between them were taken for one: 1,2,3."""
    return "," in number and set(number.split(",")) <= allowed


def measured(paths: Sequence[Path]) -> dict[str, Any]:
    """Return the counts of all articles."""
    by_name: Counter[str] = Counter()
    numbers = kept = left_out = articles = 0
    wrong: list[str] = []
    for page, article in articles_of(paths):
        articles += 1
        left_out += article.left_out
        by_name += article.by_name
        wrong += violations(page, article)
        for section in article.sections:
            for line in section.lines:
                kept += sum(1 for _ in sentencex.segment("en", line))
                numbers += sum(1 for _ in _NUMBER.finditer(line))
    for line in wrong:
        print(line, file=sys.stderr)
    return {
        "articles": articles,
        "numbers": numbers,
        "violations": len(wrong),
        "sentences": kept + left_out,
        "left_out": left_out,
        "share_left_out": round(left_out / max(1, kept + left_out), 4),
        "by_template": dict(by_name.most_common(10)),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    root = Path(__file__).resolve().parents[2]
    parser.add_argument(
        "dumps", type=Path, nargs="*", metavar="DUMP", help="in place of the data's"
    )
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="the smallest dump alone")
    options = parser.parse_args()
    dumps = options.dumps or sorted((options.data / "enwiki").glob("*.xml*"))
    if not dumps:
        parser.error(f"{options.data / 'enwiki'} has no dump; name one, or the folder with --data")
    if options.quick:
        dumps = [min(dumps, key=lambda path: path.stat().st_size)]
    print(json.dumps(measured(dumps)))


if __name__ == "__main__":
    main()
