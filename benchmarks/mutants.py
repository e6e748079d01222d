"""Count how many small faults in the core the tests find: mutation testing of five files.

    python benchmarks/mutants.py [--number 100] [--seed 7] [--jobs 2] [--quick]

A mutant is one of the files with one change: a comparison, `and` or `or` exchanged, `not` doubled,
a number one higher, a constant of truth turned, `+` and `-` exchanged, a statement left out. As
many are drawn of each file, by the seed. Each is tested in a copy of the project by the tests of
its own file, and then by those of what uses it, until one fails. `survived` names each mutant that
no test failed on. The last line is JSON.
"""

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import setitem
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
FILES = {  # each with its own tests
    "transforms/check.py": "tests/transforms/test_check*.py",
    "transforms/votes.py": "tests/transforms/test_votes.py",
    "transforms/scores.py": "tests/transforms/test_votes.py",
    "transforms/read.py": "tests/transforms/test_read.py",
    "transforms/judges/llm/parsing.py": "tests/transforms/judges/llm/test_pars*.py",
}
USERS = (
    *(
        "tests/transforms/test_*.py",
        "tests/golden",
        "tests/transforms/judges",
        "tests/transforms/beam",
    ),
    *("tests/pipelines/test_input_forms.py", "tests/pipelines/test_bad_input.py"),
)
OTHERS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip
SECONDS = 900  # in which a mutant that hangs is killed
STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Continue)


def changes(tree: ast.Module) -> Iterator[tuple[int, str, Callable[[], None]]]:
    """Yield each change that can be made: its line, its name, and what makes it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and (other := OTHERS.get(type(node.ops[0]))):
            yield node.lineno, other.__name__, partial(setitem, node.ops, 0, other())
        elif isinstance(node, ast.BoolOp | ast.BinOp) and (other := OTHERS.get(type(node.op))):
            yield node.lineno, other.__name__, partial(setattr, node, "op", other())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            twice = ast.UnaryOp(ast.Not(), node.operand)
            yield node.lineno, "not not", partial(setattr, node, "operand", twice)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):  # bool is one
            value = not node.value if isinstance(node.value, bool) else node.value + 1
            yield node.lineno, str(value), partial(setattr, node, "value", value)
        for body in [getattr(node, name, None) for name in ("body", "orelse")]:
            for at, one in enumerate(body if isinstance(body, list) else []):
                documents = isinstance(getattr(one, "value", None), ast.Constant)
                if isinstance(one, STATEMENTS) and not documents:
                    yield one.lineno, "left out", partial(setitem, body, at, ast.Pass())


def mutants(number: int, seed: int) -> Iterator[tuple[str, int, str, str]]:
    """Yield a file, a line, a change and the changed text, as many of each file."""
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        known = [(line, what) for line, what, _ in changes(ast.parse(text))]
        draw = random.Random(f"{seed} {name}")
        for at in sorted(draw.sample(range(len(known)), min(len(known), number // len(FILES)))):
            tree = ast.parse(text)
            list(changes(tree))[at][2]()
            yield name, *known[at], ast.unparse(ast.fix_missing_locations(tree))


def survives(copy: Path, name: str, text: str | None, users: Sequence[str]) -> bool:
    """Return whether all tests pass in the copy with this text of the file, its own by None."""
    own = (ROOT / name).read_text(encoding="utf-8")
    (copy / name).write_text(own if text is None else text, encoding="utf-8")
    paths = [path for pattern in (FILES[name], *users) for path in sorted(copy.glob(pattern))]
    if not paths:
        sys.exit(f"there are no tests of {name}")
    words = ("-m", "pytest", "-qx", "-n0", "-p", "no:cacheprovider", *map(str, paths))
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=copy, capture_output=True, timeout=SECONDS,
            env={"PYTHONPATH": str(copy), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    finally:
        (copy / name).write_text(own, encoding="utf-8")
    return done.returncode == 0


def main() -> None:
    """Print the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="of mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are tested at a time")
    parser.add_argument("--quick", action="store_true", help="one a file, by its own tests alone")
    options = parser.parse_args()
    number, users = (len(FILES), ()) if options.quick else (options.number, USERS)
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "ls-files"]
        tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
        free: SimpleQueue[Path] = SimpleQueue()
        for at in range(options.jobs):
            copy = Path(folder, str(at))
            for path in filter(None, tracked.split("\n")):
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / path, copy / path, follow_symlinks=False)
            free.put(copy)

        def tried(mutant: tuple[str, int, str, str]) -> str | None:
            name, line, what, text = mutant
            copy = free.get()
            passed = survives(copy, name, text, users)
            free.put(copy)
            print(f"{name}:{line} {what}: {'survived' if passed else 'killed'}", file=sys.stderr)
            return f"{name}:{line} {what}" if passed else None

        if not survives(copy, "transforms/votes.py", None, users):
            sys.exit("the tests fail without any change")
        drawn = list(mutants(number, options.seed))
        with ThreadPoolExecutor(options.jobs) as pool:
            survived = [one for one in pool.map(tried, drawn) if one]
    killed = len(drawn) - len(survived)
    print(json.dumps({"mutants": len(drawn), "killed": killed, "survived": survived}))


if __name__ == "__main__":
    main()
