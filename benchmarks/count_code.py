"""Count the code: lines, imports inside functions, import cycles, and the files of one evaluation.

Lines are those of tracked Python files, and SQL, JavaScript and CSS beside them. `one_evaluate` are
the files of this project whose functions run while `ufo.evaluate` judges one response offline in
this process: what has to be read to understand it. The last line is JSON.

    python benchmarks/count_code.py [--files]
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import grimp

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PRODUCT = ("schemas", "indexes", "transforms", "webapp", "pipelines", "scripts", "benchmarks")
LONGEST = 300
RECORD = {
    "response": "Marie Curie was born in Warsaw. She won the Nobel Prize in Physics in 1903.",
    "reference_answers": ["Marie Curie, born in Warsaw, won the Nobel Prize in Physics in 1903."],
}


def tracked(*suffixes: str) -> list[Path]:
    """Return the tracked files with these endings."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.splitlines() if name.endswith(suffixes)]


def lines_of(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_text(encoding="utf-8").count("\n")


def imports_inside(path: Path) -> int:
    """Return how many import statements of a file stand inside functions."""

    def within(node: ast.AST, inside: bool) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if inside and isinstance(child, ast.Import | ast.ImportFrom):
                yield child
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from within(child, inside or is_function)

    return sum(1 for _ in within(ast.parse(path.read_text(encoding="utf-8")), False))


def cycles(packages: tuple[str, ...]) -> list[list[str]]:
    """Return the groups of modules that import each other, type checking aside."""
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True)
    after = {module: graph.find_upstream_modules(module) for module in graph.modules}
    groups = {
        tuple(sorted({module, *(other for other in after[module] if module in after[other])}))
        for module in graph.modules
    }
    return [list(group) for group in sorted(groups) if len(group) > 1]


def files_of_one_evaluate() -> list[str]:
    """Return the project's files whose functions run during one evaluation."""
    import ufo  # after the path is set

    seen: set[str] = set()

    def importing(frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename != __file__

    def note(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name not in seen and not importing(frame):
            seen.add(name)

    threading.setprofile(note)
    sys.setprofile(note)
    with tempfile.TemporaryDirectory() as folder:
        ufo.evaluate([RECORD], output=folder, sources=["reference"], judge="offline", quiet=True)
    sys.setprofile(None)
    threading.setprofile(None)
    return sorted(
        str(Path(name).relative_to(ROOT))
        for name in seen
        if name.startswith(f"{ROOT}/") and "/.venv" not in name and name != __file__
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="name the files")
    files = parser.parse_args().files
    code = tracked(".py", ".sql", ".js", ".css")
    by_folder = Counter[str]()
    for path in code:
        by_folder[path.relative_to(ROOT).parts[0]] += lines_of(path)
    python = [path for path in code if path.suffix == ".py"]
    product = [path for path in python if path.relative_to(ROOT).parts[0] in (*PRODUCT, "ufo")]
    ran = files_of_one_evaluate()
    found: dict[str, Any] = {
        "product_lines": sum(by_folder[name] for name in (*PRODUCT, "ufo")),
        "test_lines": by_folder["tests"],
        "lines": dict(sorted(by_folder.items())),
        "transforms_llm_lines": sum(lines_of(p) for p in product if "transforms/llm/" in str(p)),
        "imports_inside_functions": sum(map(imports_inside, product)),
        "cycles": cycles(("schemas", "indexes", "transforms", "webapp", "pipelines")),
        "files_over_300_lines": [
            str(path.relative_to(ROOT)) for path in product if lines_of(path) > LONGEST
        ],
        "one_evaluate": {
            "files": len(ran),
            "lines": sum(lines_of(ROOT / name) for name in ran),
            "files_of_pipelines": sum(name.startswith("pipelines/") for name in ran),
        },
    }
    if files:
        found["one_evaluate"]["names"] = ran
    print(json.dumps(found))


if __name__ == "__main__":
    main()
