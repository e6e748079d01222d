"""What people see has the words of docs/semantics.md, and no others for the same things."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ufo.schemas.records import ERROR, NOANS, REFUTED, SUPPORTED
from ufo.transforms.scores import STATES

ROOT = Path(__file__).parents[1]
FOLDERS = ("pipelines", "webapp", "transforms", "schemas", "indexes")
PAGE = sorted((ROOT / "webapp" / "page").rglob("*.js"))
TEMPLATES = sorted((ROOT / "pipelines" / "reports" / "templates").glob("*.html"))

FORBIDDEN = {
    r"(?:fact )?units?": "claim",
    r"refut\w*": "contradicted, contradicts",
    r"noans": "does not answer",
    r"not decided": "undecided",
    r"no difference": "no significant difference",
    r"cannot decide": "cannot be decided",
    r"hypothes[ie]s": "claim",
    r"classifiers?": "verifier",
}
WRONG = {word: re.compile(rf"\b(?:{word})\b", re.IGNORECASE) for word in FORBIDDEN}

# Files whose texts are not for people, or are about another thing of that name.
EXCEPTIONS = {
    # Instructions and replies of models.
    "transforms/judges/llm": tuple(FORBIDDEN),
    # The grammar of quantities: a unit is a metre or a day.
    "transforms/english": (r"(?:fact )?units?",),
    # Names of labels in the files of models.
    "transforms/verifiers": (r"refut\w*", r"noans", r"hypothes[ie]s"),
    # Names of columns.
    "schemas/statistics.py": (r"(?:fact )?units?",),
    # The vocabulary of labels, as people may write it.
    "schemas/label_words.py": (r"refut\w*",),
}
OUTCOMES = {
    SUPPORTED: "supports",
    REFUTED: "contradicts",
    NOANS: "does not answer",
    ERROR: "error",
}
"""What people see for an outcome of the tables."""

_SQL = re.compile(r"\b(?:SELECT|FROM|CREATE|INSERT|WHERE|CASE|JOIN)\b")
_NAME = re.compile(r"[\w./:*-]*")
"""One word without a space is a name or a value of the code, which the tables have, too."""


def is_text(literal: str) -> bool:
    """Return whether a literal may be words for people, not a name, a pattern or SQL."""
    return not (_NAME.fullmatch(literal) or literal.startswith("^") or _SQL.search(literal))


def of_python(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines and texts of a module's literals, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


def without(pattern: str, path: Path) -> str:
    """Return a file's text without what matches, with all of its line ends."""
    return re.sub(pattern, _ends, path.read_text(encoding="utf-8"), flags=re.DOTALL)


def _ends(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def of_page(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines and texts of the literals of the page's JavaScript, without comments."""
    text = without(r"/\*.*?\*/", path)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', text):
        text_shown = re.sub(r"\$\{[^{}]*\}", "{}", match[0][1:-1])
        yield text.count("\n", 0, match.start()) + 1, text_shown


def of_template(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines and texts of a template: its words, and the literals of its expressions."""
    text = without(r"\{#.*?#\}", path)
    for code in re.finditer(r"\{[{%].*?[}%]\}", text, re.DOTALL):
        for literal in re.findall(r'"([^"]*)"', code[0]):
            yield text.count("\n", 0, code.start()) + 1, literal
    words = re.sub(r"\{[{%].*?[}%]\}|<[^>]*>", _ends, text, flags=re.DOTALL)
    yield from enumerate(words.splitlines(), 1)


def literals() -> Iterator[tuple[str, int, str]]:
    """Yield file, line and text of each literal that people may see."""
    modules = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    readers = ((modules, of_python), (PAGE, of_page), (TEMPLATES, of_template))
    for paths, read in readers:
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            yield from ((name, line, text) for line, text in read(path) if is_text(text))


def is_excepted(name: str, word: str) -> bool:
    """Return whether a file may have a word."""
    return any(name.startswith(path) and word in words for path, words in EXCEPTIONS.items())


def test_nothing_that_people_see_has_a_word_outside_the_glossary() -> None:
    words = [
        f"{name}:{line}: {text.strip()[:80]!r}: say {FORBIDDEN[word]}"
        for name, line, text in literals()
        for word, wrong in WRONG.items()
        if wrong.search(text) and not is_excepted(name, word)
    ]
    assert words == []


@pytest.mark.parametrize("word", FORBIDDEN)
def test_a_forbidden_word_is_found(word: str, tmp_path: Path) -> None:
    wrong = {"(?:fact )?units?": "fact units", "refut": "refuted"}
    example = wrong.get(word, re.sub(r"\\w\*|\?$|\[ie\]", "", word))
    module = tmp_path / "module.py"
    module.write_text(f'"""Of {example}."""\nprint(f"{{n}} {example} more")\n')
    page = tmp_path / "page.js"
    page.write_text(f'/** "Of {example}." */\nconst said = `${{n}} {example} more`;\n')
    assert len([1 for _, text in of_python(module) if is_text(text)]) == 1
    assert [line for line, text in of_page(page) if is_text(text)] == [2]


def words() -> set[str]:
    """Return the words of the glossary's table."""
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    table = text.partition("\n## Words\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| ")]
    return {word.strip() for row in rows for word in row.split(",")}


def test_the_glossary_has_every_state_and_outcome() -> None:
    labels = (ROOT / "webapp" / "page" / "labels.js").read_text(encoding="utf-8")
    # A state may have its reason behind it.
    names = {
        re.split(r" \(|: ", name)[0] for name in re.findall(r'label\("[^\d]", "([^"%]+)"', labels)
    }
    # Of what the page shows of the selection of evidence; no verdict or outcome has them.
    names -= {"no evidence", "sources disagree"}
    assert {*STATES, *OUTCOMES.values(), *names} <= words()
