"""List the small mistakes that can be made in a file of Python or SQL, one at a time.

A change replaces one piece of the text; the rest, comments included, stays as it is. Each kind
is a mistake that people make: see `KINDS`.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard, TypeVar

KINDS = {
    "bound": "`<` for `<=`, `>` for `>=`, and the other way round",
    "comparison": "`==` for `!=`, `in` for `not in`, `is` for `is not`, NULL for NOT NULL",
    "by one": "a number one higher",
    "arithmetic": "`+` for `-`, `*` for `/`",
    "condition": "one of the conditions joined by `and` or `or` left out, or `not` left out",
    "filter": "the `if` of a comprehension, a WHERE, FILTER, HAVING or DISTINCT left out",
    "guard": "an `if` that returns, raises or goes on to the next item left out",
    "argument": "two arguments exchanged, or an argument by name left out",
    "default": "the default of a parameter or of `get` changed or left out",
    "none": "None returned in place of the value",
    "part": "one item of a tuple, a list, a dictionary, a name or of USING left out",
    "member": "one member of an enumeration of constants left out, or of a split text",
    "await": "`await` left out",
    "except": "an error no longer caught, or one type of several",
    "raise": "an error no longer raised",
    "statement": "a call for its effect, or a count, left out",
    "flag": "True for False, and the other way round",
}
"""What each kind of change is."""


@dataclass(frozen=True, slots=True)
class Change:
    """One mistake: what stands from `start` to `end` (characters of the text) is `after`.

    `first` and `last` are the lines, from 1, of the statement in which it is made; `inside` says
    whether that statement is within a function, and so executed by a call.
    """

    kind: str
    line: int
    first: int
    last: int
    inside: bool
    start: int
    end: int
    after: str

    def applied(self, text: str) -> str:
        """Return the text with this mistake."""
        return text[: self.start] + self.after + text[self.end :]


_BOUNDS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(), ast.GtE: ast.Gt(),
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(), ast.NotIn: ast.In(),
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(), ast.Sub: ast.Add(), ast.Mult: ast.Div(), ast.Div: ast.Mult(),
}  # fmt: skip
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SYMMETRIC = ("max", "min", "suppress")
"""Functions whose arguments have no order."""
T = TypeVar("T")
_Functions = ast.FunctionDef | ast.AsyncFunctionDef
_Placed = ast.expr | ast.stmt | ast.pattern
Found = Iterator[tuple[str, _Placed, str]]  # kind, the node that is replaced, what by


def python_changes(text: str) -> list[Change]:
    """Return every change of a Python file, in the order of its text."""
    encoded = text.encode()
    starts = [0]
    for line in encoded.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)

    def place(line: int, column: int) -> int:
        before: bytes = encoded[: starts[line - 1] + column]
        return len(before.decode())

    changes: list[Change] = []

    def visit(node: ast.AST, first: int, last: int, inside: bool) -> None:
        """Add the changes at a node and below it, in a statement of these lines."""
        if _does_nothing(node):
            return
        if isinstance(node, ast.stmt):
            first, last = node.lineno, _head(node)
        elif isinstance(node, ast.ExceptHandler):  # its line is executed where its body is
            first, last = node.lineno, node.end_lineno or node.lineno
        for kind, replaced, after in _changes_of(node):
            if replaced.end_lineno is None or replaced.end_col_offset is None:
                continue
            start = place(replaced.lineno, replaced.col_offset)
            end = place(replaced.end_lineno, replaced.end_col_offset)
            if text[start:end] != after:
                line = replaced.lineno
                changes.append(Change(kind, line, first, last, inside, start, end, after))
        function = isinstance(node, _Functions | ast.Lambda)
        if isinstance(node, _Functions):  # what a default does is seen when the body is executed
            last = node.end_lineno or last
        for child in _children(node):
            visit(child, first, last, inside or function)

    for statement in ast.parse(text).body:
        visit(statement, 0, 0, False)
    return sorted(changes, key=lambda change: (change.start, change.end, change.after))


def _head(statement: ast.stmt) -> int:
    """Return the last line of a statement, of a compound one without its body."""
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        return max(statement.lineno, int(body[0].lineno) - 1)
    return statement.end_lineno or statement.lineno


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is executed below a node: no types, no names that are given values."""
    if isinstance(node, ast.JoinedStr):
        return  # before Python 3.12 what is inside has no place of its own
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "targets"):
            continue
        if isinstance(node, ast.Subscript) and isinstance(value, ast.Tuple):
            continue  # the parameters of a type, or the axes of an array
        for child in value if isinstance(value, list) else [value]:
            assigned = isinstance(getattr(child, "ctx", None), ast.Store | ast.Del)
            if isinstance(child, ast.AST) and not assigned:
                yield child


def _does_nothing(node: ast.AST) -> bool:
    """Return whether a node is a docstring, an import, an assertion or only for type checkers."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "__all__"
    return False


def _changes_of(node: ast.AST) -> Found:
    """Yield the changes that are made at this node, not below it."""
    match node:
        case ast.Compare(ops=[op, *_]):
            for kind, others in (("bound", _BOUNDS), ("comparison", _COMPARISONS)):
                if type(op) in others:
                    other = ast.Compare(
                        node.left, [others[type(op)], *node.ops[1:]], node.comparators
                    )
                    yield kind, node, _inner(other)
        case ast.BoolOp(op=joined, values=values):
            for left_out in range(len(values)):
                rest = _without(values, left_out)
                remainder = rest[0] if len(rest) == 1 else ast.BoolOp(joined, rest)
                yield "condition", node, _inner(remainder)
        case ast.UnaryOp(op=ast.Not()):
            yield "condition", node, _inner(node.operand)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
            texts = (ast.JoinedStr, ast.List, ast.Tuple)
            constants = [side.value for side in (left, right) if isinstance(side, ast.Constant)]
            if (
                not isinstance(left, texts)
                and not isinstance(right, texts)
                and not any(isinstance(value, str | bytes) for value in constants)
            ):
                yield "arithmetic", node, _inner(ast.BinOp(left, _ARITHMETIC[type(op)], right))
        case ast.Constant(value=bool() as value):
            yield "flag", node, repr(not value)
        case ast.Constant(value=int() as number):
            yield "by one", node, repr(number + 1)
        case ast.Await():
            yield "await", node, _inner(node.value)
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield "none", node, "return None"
        case ast.Raise():
            yield "raise", node, "pass"
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())) | ast.AugAssign():
            yield "statement", node, "pass"
        case ast.If() if not node.orelse and isinstance(node.body[-1], _ENDS):
            yield "guard", node.test, "False"
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for at, generator in enumerate(node.generators):
                for left_out in range(len(generator.ifs)):
                    fields = {name: getattr(node, name) for name in node._fields}
                    fields["generators"] = [*node.generators]
                    fields["generators"][at] = ast.comprehension(
                        generator.target,
                        generator.iter,
                        _without(generator.ifs, left_out),
                        generator.is_async,
                    )
                    yield "filter", node, ast.unparse(type(node)(**fields))
        case ast.Call():
            yield from _of_call(node)
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.JoinedStr():
            yield from _of_display(node)
        case ast.MatchOr(patterns=patterns):
            for left_out in range(len(patterns)):
                yield "member", node, ast.unparse(ast.MatchOr(_without(patterns, left_out)))
        case ast.arguments():
            yield from _of_defaults(node)
        case ast.ExceptHandler(type=caught) if caught is not None:
            if isinstance(caught, ast.Tuple):
                for left_out in range(len(caught.elts)):
                    rest = _without(caught.elts, left_out)
                    remainder = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
                    yield "except", caught, ast.unparse(remainder)
            else:
                yield "except", caught, "()"


def _of_call(node: ast.Call) -> Found:
    positional = [one for one in node.args if not isinstance(one, ast.Starred)]
    symmetric = isinstance(node.func, ast.Name) and node.func.id in _SYMMETRIC
    if len(positional) >= 2 and len(positional) == len(node.args) and not symmetric:
        exchanged = [node.args[1], node.args[0], *node.args[2:]]
        yield "argument", node, ast.unparse(ast.Call(node.func, exchanged, node.keywords))
    for left_out, keyword in enumerate(node.keywords):
        if keyword.arg:
            rest = _without(node.keywords, left_out)
            yield "argument", node, ast.unparse(ast.Call(node.func, node.args, rest))
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "get" and len(node.args) == 2:
            yield "default", node, ast.unparse(ast.Call(node.func, node.args[:1], node.keywords))
        words = node.func.value
        if node.func.attr == "split" and not node.args and isinstance(words, ast.Constant):
            split = str(words.value).split()
            for left_out in range(len(split)):
                yield "member", words, repr(" ".join(_without(split, left_out)))


def _of_display(node: ast.Tuple | ast.List | ast.Set | ast.Dict | ast.JoinedStr) -> Found:
    """Yield a display without one of its items, where it has several."""
    shorter: ast.expr
    if isinstance(node, ast.Dict):
        for left_out in range(len(node.keys) if len(node.keys) > 1 else 0):
            kind = "member" if isinstance(node.values[left_out], ast.Constant) else "part"
            shorter = ast.Dict(_without(node.keys, left_out), _without(node.values, left_out))
            yield kind, node, ast.unparse(shorter)
    elif isinstance(node, ast.JoinedStr):
        values = [at for at, one in enumerate(node.values) if isinstance(one, ast.FormattedValue)]
        if len(values) < 2 or any(" " in str(one.value) for one in node.values if _is_text(one)):
            return  # a message, not a key or a name
        for left_out in values:
            yield "part", node, ast.unparse(ast.JoinedStr(_without(node.values, left_out)))
    else:
        kind = "member" if all(isinstance(one, ast.Constant) for one in node.elts) else "part"
        for left_out in range(len(node.elts) if len(node.elts) > 1 else 0):
            rest = _without(node.elts, left_out)
            if isinstance(node, ast.Set):
                shorter = ast.Set(rest)
            else:
                shorter = type(node)(rest, ast.Load())
            yield kind, node, ast.unparse(shorter)


def _of_defaults(node: ast.arguments) -> Found:
    for default in [*node.defaults, *filter(None, node.kw_defaults)]:
        if _is_none(default):
            continue
        if isinstance(default, ast.Constant) and isinstance(default.value, str) and default.value:
            yield "default", default, "''"


def _without(items: Sequence[T], left_out: int) -> list[T]:
    return [item for at, item in enumerate(items) if at != left_out]


def _is_text(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _inner(node: ast.expr) -> str:
    """Return an expression that can stand anywhere in another."""
    plain = isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    return ast.unparse(node) if plain else f"({ast.unparse(node)})"


# --- SQL -----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|<>|!=|<=|>=|->>?|=>|\S"
)
_CLAUSE = {
    "GROUP",
    "ORDER",
    "HAVING",
    "WHERE",
    "LIMIT",
    "UNION",
    "JOIN",
    "LEFT",
    "QUALIFY",
    "WINDOW",
    "THEN",
    "WHEN",
    "ELSE",
    "END",
    "SELECT",
    "FROM",
    "AND",
    "OR",
    "ON",
    "AS",
    "CROSS",
    "INNER",
    "FULL",
    "ANTI",
    "SEMI",
}
_OTHER_SIGN = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "!=": "="}


_Add = Callable[[str, int, int, str], None]  # kind, first and last token, what stands there then


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def sql_changes(text: str) -> list[Change]:
    """Return every change of a SQL file, in the order of its text."""
    tokens = [
        _Token(match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if not match[0].startswith("--")
    ]
    words = [token.text.upper() for token in tokens]
    changes: list[Change] = []

    def add(kind: str, first: int, last: int, after: str) -> None:
        start, end = tokens[first].start, tokens[last].end
        line = text.count("\n", 0, start) + 1
        changes.append(Change(kind, line, line, line, False, start, end, after))

    def until(at: int, stops: set[str]) -> int:
        """Return the last token before one of these words, or before the end of the brackets."""
        depth = 0
        for index in range(at, len(tokens)):
            if depth == 0 and (words[index] in stops or words[index] in (")", ",", ";")):
                return index - 1
            depth += {"(": 1, ")": -1}.get(words[index], 0)
        return len(tokens) - 1

    for at, word in enumerate(words):
        if word in ("AND", "OR") and "BETWEEN" not in words[max(0, at - 6) : at]:
            add("condition", at, until(at + 1, _CLAUSE), "")
        elif word == "WHERE" and words[at - 2 : at] != ["FILTER", "("]:
            add("filter", at, until(at + 1, _CLAUSE - {"AND", "OR", "AS", "LEFT"}), "")
        elif word == "FILTER":
            add("filter", at, until(at + 2, set()) + 1, "")
        elif word == "HAVING":
            add("filter", at, until(at + 1, {"ORDER", "QUALIFY", "LIMIT"}), "")
        elif word == "DISTINCT":
            add("filter", at, at, "")
        elif word == "USING" and words[at + 1] == "(":
            _columns(at + 2, until(at + 2, set()), words, add)
        elif word == "IN" and words[at + 1] == "(" and words[at + 2] != "SELECT":
            _members(at + 2, words, add)
        elif word in _OTHER_SIGN:
            add(
                "bound" if word in ("<", "<=", ">", ">=") else "comparison",
                at,
                at,
                _OTHER_SIGN[word],
            )
        elif word == "IS" and words[at + 1 : at + 2] == ["NULL"]:
            add("comparison", at, at, "IS NOT")
        elif word == "IS" and words[at + 1 : at + 3] == ["NOT", "NULL"]:
            add("comparison", at, at + 1, "IS")
        elif word.isdigit():
            add("by one", at, at, str(int(word) + 1))
        elif word == "COALESCE" and words[at + 1] == "(":
            last = until(at + 2, set())
            add(
                "default",
                at,
                _closing(at + 1, words),
                text[tokens[at + 2].start : tokens[last].end],
            )
        elif word in ("+", "-") and at and words[at - 1] not in ("(", ","):
            add("arithmetic", at, at, {"+": "-", "-": "+"}[word])
    return changes


def _closing(at: int, words: Sequence[str]) -> int:
    """Return where the bracket that opens at a token is closed."""
    depth = 0
    for index in range(at, len(words)):
        depth += {"(": 1, ")": -1}.get(words[index], 0)
        if depth == 0:
            return index
    return len(words) - 1


def _columns(at: int, last_of_first: int, words: Sequence[str], add: _Add) -> None:
    """Leave out the first, and then the last, of several columns."""
    if words[last_of_first + 1 : last_of_first + 2] == [","]:
        add("part", at, last_of_first + 1, "")
        closing = _closing(at - 1, words)
        add("part", closing - 2, closing - 1, "")


def _members(at: int, words: Sequence[str], add: _Add) -> None:
    closing = _closing(at - 1, words)
    for index in range(at, closing):
        if words[index + 1] == ",":
            add("member", index, index + 1, "")
        elif index > at and index + 1 == closing:
            add("member", index - 1, index, "")
