"""Count the variables whose names do not say what they hold; the words and the limit: names.toml.

python scripts/names.py            exit 1 where there are too many, and print each with its line
python scripts/names.py FILE ...   print those of these files
"""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = Path(__file__).with_suffix(".toml")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def vague_names(source: str, words: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each use of a vague variable in a Python file's source.

    A variable of a comprehension on one line may have any name. A name that is imported from a
    package is that package's.
    """
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
    yield from _uses(tree, words - imported)


def _uses(node: ast.AST, words: frozenset[str]) -> Iterator[tuple[int, str]]:
    if isinstance(node, _COMPREHENSIONS) and node.lineno == node.end_lineno:
        words = words - {name for part in node.generators for name in _names_of(part.target)}
    name = _variable(node)
    if name in words:
        yield getattr(node, "lineno", 0), str(name)
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, words)


def _variable(node: ast.AST) -> str | None:
    """Return the name of a variable, an argument or a function, where the node is one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.arg | ast.keyword):
        return node.arg
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.MatchAs | ast.MatchStar):
        return node.name
    return None


def _names_of(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def tracked() -> list[Path]:
    """Return the Python files of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / name for name in listed.splitlines()]


def main() -> int:
    """Print the vague names of the files and their number; return the exit code."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    words = frozenset(settings["words"])
    files = [Path(name) for name in sys.argv[1:]]
    uses = [
        (path, line, name)
        for path in files or tracked()
        for line, name in vague_names(path.read_text(encoding="utf-8"), words)
    ]
    too_many = len(uses) > settings["limit"]
    if files or too_many:
        print("\n".join(f"{path}:{line}: {name}" for path, line, name in uses))
    counts = Counter(name for _, _, name in uses).most_common()
    each = ", ".join(f"{name} {count}" for name, count in counts)
    print(f"{len(uses)} vague names, at most {settings['limit']}: {each or 'none'}")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
