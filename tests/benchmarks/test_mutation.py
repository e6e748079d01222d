"""The small mistakes that mutation testing makes, by kind, and how many are drawn."""

import pytest

from benchmarks.mutants import ROOT, Outcome, drawn, found_again
from benchmarks.mutation.changes import KINDS, python_changes, sql_changes

PYTHON = [
    ("bound", "a < 3", "(a <= 3)"),
    ("comparison", "a == b", "(a != b)"),
    ("comparison", "a not in b", "(a in b)"),
    ("by one", "a[3]", "a[4]"),
    ("arithmetic", "a + b", "(a - b)"),
    ("condition", "a and b and c", "(a and c)"),
    ("condition", "not a", "a"),
    ("filter", "[a for a in b if a]", "[a for a in b]"),
    ("argument", "f(a, b)", "f(b, a)"),
    ("argument", "f(a, key=b)", "f(a)"),
    ("default", "a.get(b, c)", "a.get(b)"),
    ("part", "(a, b, c)", "(a, c)"),
    ("part", "f'{a}/{b}'", "f'/{b}'"),
    ("member", "{'a', 'b'}", "{'b'}"),
    ("member", "'a b c'.split()", "'a c'.split()"),
    ("flag", "f(True)", "f(False)"),
]
STATEMENTS = [
    ("guard", "def f():\n    if a:\n        return\n", "    if False:\n"),
    ("none", "def f():\n    return a\n", "    return None\n"),
    ("await", "async def f():\n    await g()\n", "    g()\n"),
    ("except", "try:\n    f()\nexcept (A, B):\n    g()\n", "except A:\n"),
    ("raise", "def f():\n    raise A\n", "    pass\n"),
    ("statement", "def f():\n    g()\n", "    pass\n"),
    ("default", "def f(a='b'): pass\n", "def f(a=''): pass\n"),
    ("member", "match a:\n    case 1 | 2:\n        f()\n", "    case 2:\n"),
]
SQL = [
    ("condition", "SELECT a FROM t WHERE b = 1 AND c", "SELECT a FROM t WHERE b = 1 "),
    ("filter", "SELECT a FROM t WHERE b GROUP BY a", "SELECT a FROM t  GROUP BY a"),
    ("filter", "SELECT count(*) FILTER (WHERE b) FROM t", "SELECT count(*)  FROM t"),
    ("filter", "SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
    ("part", "SELECT a FROM t JOIN u USING (a, b)", "SELECT a FROM t JOIN u USING (a)"),
    ("member", "SELECT a IN ('b', 'c')", "SELECT a IN ( 'c')"),
    ("bound", "SELECT a >= b", "SELECT a > b"),
    ("comparison", "SELECT a IS NOT NULL", "SELECT a IS NULL"),
    ("default", "SELECT coalesce(a, 0)", "SELECT a"),
]


@pytest.mark.parametrize(("kind", "text", "mistake"), PYTHON)
def test_an_expression_with_a_mistake(kind: str, text: str, mistake: str) -> None:
    changes = python_changes(f"{text}\n")
    assert f"{mistake}\n" in [one.applied(f"{text}\n") for one in changes if one.kind == kind]


@pytest.mark.parametrize(("kind", "text", "mistake"), STATEMENTS)
def test_a_statement_with_a_mistake(kind: str, text: str, mistake: str) -> None:
    mistaken = [one.applied(text) for one in python_changes(text) if one.kind == kind]
    assert [each for each in mistaken if mistake in each]


@pytest.mark.parametrize(("kind", "text", "mistake"), SQL)
def test_a_query_with_a_mistake(kind: str, text: str, mistake: str) -> None:
    assert mistake in [one.applied(text) for one in sql_changes(text) if one.kind == kind]


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""\n',
        "import a\n",
        "a: dict[str, int]\n",
        "assert a < b\n",
        "def f(a: list[int]) -> tuple[int, str]: ...\n",
        "a = f'{b} is not {c}'\n",
        "a = max(b, c)\n",
        "with suppress(A, B):\n    a = b\n",
    ],
    ids=[
        "documents",
        "imports",
        "declares",
        "asserts",
        "annotates",
        "words a message",
        "is symmetric",
        "is of several errors",
    ],
)
def test_a_text_in_which_no_mistake_can_be_made_when_it(text: str) -> None:
    assert python_changes(text) == []


def test_the_text_around_a_mistake_stays_as_it_is() -> None:
    text = "é = 1  # One.\nß = é < 2  # Two, ö.\n"
    (change,) = [one for one in python_changes(text) if one.kind == "bound"]
    assert change.line == 2
    assert change.applied(text) == "é = 1  # One.\nß = (é <= 2)  # Two, ö.\n"


def test_mutants_are_drawn_by_the_seed_a_line_each() -> None:
    mutants = list(drawn(["transforms/votes.py", "schemas/views"], 20, seed=1))
    assert mutants == list(drawn(["transforms/votes.py", "schemas/views"], 20, seed=1))
    assert mutants != list(drawn(["transforms/votes.py", "schemas/views"], 20, seed=2))
    assert len({(name, change.line) for name, change in mutants}) == 20
    assert {change.kind for _, change in mutants} <= KINDS.keys()


def test_a_mutant_of_another_run_is_found_where_its_code_stands_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ((name, change),) = drawn(["transforms/votes.py"], 1, 7)
    before = (ROOT / name).read_text(encoding="utf-8")[change.start : change.end]
    row = Outcome(name, change, before).row()
    assert found_again({**row, "line": change.line + 3}) == [(name, change)]
    assert found_again({**row, "before": "what was there"}) == []
    assert found_again({**row, "file": "transforms/gone.py"}) == []
    assert capsys.readouterr().err.count("gone: ") == 2
