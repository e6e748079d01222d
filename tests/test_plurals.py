"""A number in a message has its noun in singular or plural: "1 page", "2 pages"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("pipelines", "webapp", "transforms", "schemas", "indexes")
TEMPLATES = sorted((ROOT / "pipelines" / "reports" / "templates").glob("*.html"))
PAGE = sorted((ROOT / "webapp" / "page").rglob("*.js"))

PLURAL = re.compile(
    r" (?:(?!(?:of|is|was|as|with) )[a-z]+ )?(?!(?:is|was|has|as|this)\b)[a-z]{2,}s\b"
)

# Numbers that are never 1, or are told apart from it where they stand.
EXCEPTIONS = {
    "bytes": "a size in bytes",
    "tokens": "a size in tokens",
    "is {} times": "a count of repetitions",
    "the orders of {} sources": "two sources have an order",
    "of the {} claims of stratum": "a part of it is there",
    "all {} pairs drop": "one pair has words of its own",
    "{} of {} claims": "a part of them",
    "these {} claims": "one claim has words of its own",
    "any of {} claims": "one claim has words of its own",
    "it called": "the figures of a measurement",
    "{} statements: ": "one statement is no error",
    "requests in a row": "one request is in no row",
}


def counts_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each f-string with a number and a noun that is always plural."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for number, after in zip(node.values, node.values[1:], strict=False):
                is_count = isinstance(number, ast.FormattedValue) and _is_count(number)
                if is_count and isinstance(after, ast.Constant) and PLURAL.match(str(after.value)):
                    yield node.lineno, _text(node)


def _is_count(number: ast.FormattedValue) -> bool:
    """Return whether a value is a number that is not a constant."""
    if isinstance(number.value, ast.Name) and number.value.id.isupper():
        return False
    counted = isinstance(number.value, ast.Call) and ast.unparse(number.value.func) == "len"
    grouped = number.format_spec is not None and "," in ast.unparse(number.format_spec)
    return counted or grouped


def _text(node: ast.JoinedStr) -> str:
    parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return "".join(map(str, parts))


def test_every_count_agrees_with_its_noun() -> None:
    mistakes = [
        f"{path.relative_to(ROOT)}:{line}: {text[:90]!r}: use ufo.schemas.text.quantity"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in counts_in(ast.parse(path.read_text(encoding="utf-8")))
        if not any(known in text for known in EXCEPTIONS)
    ]
    assert mistakes == []


def test_every_count_of_the_page_agrees_with_its_noun() -> None:
    wrong = re.compile(r"\$\{[\w.]*(?:length|size|count|errors|total)\} [a-z]+s\b")
    allowed = "characters, and"  # of a text that is too long
    mistakes = [
        f"{path.name}: {match[0]}: use counted"
        for path in PAGE
        for match in wrong.finditer(path.read_text(encoding="utf-8"))
        if allowed not in path.read_text(encoding="utf-8")[match.start() :][:60]
    ]
    assert mistakes == []


def test_every_count_of_the_report_agrees_with_its_noun() -> None:
    wrong = re.compile(r"\{\{ [^{}]*(?:length|format\([^{}]*\)|n_\w+) \}\} [a-z]+s\b")
    allowed = ("judgements are shown", "claims are shown")  # of more than are shown
    mistakes = [
        f"{path.name}: {match[0]}: use many"
        for path in TEMPLATES
        for match in wrong.finditer(path.read_text(encoding="utf-8"))
        if not path.read_text(encoding="utf-8")[match.start() :].startswith(
            tuple(f"{match[0].rpartition('}} ')[0]}}}}} {words}" for words in allowed)
        )
    ]
    assert mistakes == []


@pytest.mark.parametrize(
    ("code", "n"),
    [
        pytest.param('f"{n:,} rows"', 1, id="with thousands"),
        pytest.param('f"{len(rows)} rows"', 1, id="a length"),
        pytest.param('f"{n:,} damaged lines"', 1, id="with an adjective"),
        pytest.param("f\"{quantity(n, 'row')} left\"", 0, id="in singular or plural"),
        pytest.param('f"{n:,} of them"', 0, id="without a noun"),
        pytest.param('f"{MOST:,} rows"', 0, id="a constant"),
    ],
)
def test_a_noun_that_does_not_agree_is_found(code: str, n: int) -> None:
    assert len(list(counts_in(ast.parse(code)))) == n
