"""The product uses its dependencies, and Python's import system, by what they document."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("ufo", "schemas", "indexes", "transforms", "webapp", "pipelines", "examples")

ALLOWED = {
    "transforms/plugins.py": "a user's file is a module that pickle finds again",
    "schemas/temporary.py": "tempfile.tempdir is documented as what a program may set",
    "pipelines/streams.py": "sys.stdout and sys.stderr are documented as what a program may set",
    "transforms/beam/files.py": "Beam has no other way to give a row type an id of our own",
}
"""Files that may, and why."""

NAMES = {"sys.modules", "sys.meta_path", "sys.path_hooks", "os._exit"}
NAMES |= {"gc.freeze", "gc.disable", "gc.set_threshold", "gc.collect"}
OWN = {"self", "cls", "other"}
DOCUMENTED = {"_asdict", "_replace", "_fields", "_make"}  # of named tuples


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED


def tricks(code: str) -> Iterator[str]:
    """Yield each line of the code that reaches behind what is documented."""
    tree = ast.parse(code)
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            names = [f"{module}.{alias.name}" if module else alias.name for alias in node.names]
            is_trick = any(name in NAMES or any(map(private, name.split("."))) for name in names)
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            of_ours = owner in OWN or owner == "super()"
            is_trick = private(node.attr) and not of_ours
            is_trick |= f"{owner}.{node.attr}" in NAMES
            # An attribute of a module, or of a class or function, that is another file's.
            of_another = "(" not in owner and owner.partition(".")[0] in imported
            is_trick |= isinstance(node.ctx, ast.Store) and of_another
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
            is_trick = ast.unparse(node.args[0]).partition(".")[0] in imported
        else:
            continue
        if is_trick:
            yield f"{node.lineno}: {ast.unparse(node)}"


def test_no_file_of_the_product_has_tricks() -> None:
    paths = [path for top in PRODUCT for path in (ROOT / top).rglob("*.py")]
    assert len(paths) > 200
    assert not {
        f"{path}:{line}"
        for path in paths
        if path.relative_to(ROOT).as_posix() not in ALLOWED
        for line in tricks(path.read_text(encoding="utf-8"))
    }


def test_tricks_are_seen_and_what_is_ordinary_is_not() -> None:
    code = """
import os, sys, beam, pyarrow._compute
from gc import collect
sys.modules["x"] = None
beam.core.check = None
setattr(beam, "check", None)
self.parser._actions
os.environ["x"] = pair._asdict()
sys.path.append(self._rows)
super()._act()
"""
    assert sorted(int(found.partition(":")[0]) for found in tricks(code)) == [2, 3, 4, 5, 6, 7]
