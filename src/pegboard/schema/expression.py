"""A small safe language over JSON values, for `when`, field maps and `${...}` in steps.

It has paths (`users[0].id`, `users.0.id`, `row["a-b"]`), literals, arithmetic, comparisons, `and`/`or`/`not`,
`a if c else b`, list and object displays, one-level comprehensions, and the functions of `schema.functions`.
It reads what it is given and nothing else: no attributes of objects, no imports, no calls of anything that is not
in the table; its work and the size of its values are bounded.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from pegboard.errors import DefinitionError, PegboardError, nearest
from pegboard.schema.functions import FUNCTIONS, LARGEST
from pegboard.schema.types import Json

LONGEST = 4_000
_STEPS = 200_000
_DEEPEST = 100
_GREATEST = 1 << 256
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\d+\])*")
_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


class ExpressionError(PegboardError):
    """An expression met a value that it cannot work with, such as a path that leads nowhere."""


@dataclass(frozen=True)
class Expression:
    """An expression, read once. Make it with `Expression.parse`.

    Parameters:
        text: the expression as written.
        tree: its syntax tree, checked to hold only what the language has.
    """

    text: str
    tree: ast.expr = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Read an expression.

        Raises:
            DefinitionError: it is not an expression of the language.
        """
        return _parse(text)

    def evaluate(self, scope: Mapping[str, Json]) -> Json:
        """The value in a scope.

        Parameters:
            scope: the values by name (`input`, the ids of steps, `value` ...).

        Raises:
            ExpressionError: a path leads nowhere, or an operation does not fit its operands.
        """
        return _Evaluation(self.text, scope).value(self.tree)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it reads from its scope, in order of appearance, each once."""
        return tuple(dict.fromkeys(root for root, _ in self.paths))

    @property
    def paths(self) -> tuple[tuple[str, tuple[str | int, ...]], ...]:
        """Every path that it reads, as root and constant keys after it."""
        return tuple(dict.fromkeys(_paths(self.tree, frozenset())))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Expression:
    if len(text) > LONGEST:
        raise DefinitionError(f"The expression has more than {LONGEST} characters.", where=text[:40] + "...")
    source = text.strip()
    if _PATH.fullmatch(source):
        source = re.sub(r"\.(\d+)(?=[.\[]|$)", r"[\1]", source)
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DefinitionError(
            f"The expression cannot be read: {error.args[0] if error.args else error}.",
            where=text,
            next_step='Write for example `users[0].id`, `len(users) > 0` or `"open" if done == false else "closed"`.',
        ) from None
    for node in ast.walk(tree):
        _check(node, text)
    if _depth(tree) > _DEEPEST:
        raise DefinitionError(f"The expression is nested more than {_DEEPEST} deep.", where=text[:40] + "...")
    return Expression(text, tree)


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


_ALLOWED = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.ListComp,
    ast.comprehension,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)


def _check(node: ast.AST, text: str) -> None:
    problem: str | None = None
    if not isinstance(node, _ALLOWED) or isinstance(node, ast.Pow | ast.BitOr | ast.LShift | ast.MatMult):
        problem = f"The language has no {type(node).__name__}"
    elif isinstance(node, ast.Constant) and not isinstance(node.value, str | int | float | bool | None):
        problem = f"A constant of type {type(node.value).__name__} is no JSON value"
    elif isinstance(node, ast.comprehension) and (node.is_async or not isinstance(node.target, ast.Name)):
        problem = "A comprehension takes one plain name"
    elif isinstance(node, ast.Call):
        problem = _call_problem(node)
    if problem:
        raise DefinitionError(f"{problem}.", where=text, next_step=f"Functions: {', '.join(FUNCTIONS)}, default.")


def _call_problem(node: ast.Call) -> str | None:
    if node.keywords or not isinstance(node.func, ast.Name):
        return "Only functions of the language can be called, with plain arguments"
    if node.func.id not in FUNCTIONS and node.func.id != "default":
        near = nearest(node.func.id, FUNCTIONS)
        return f"There is no function {node.func.id!r}" + (f" (did you mean {' or '.join(near)}?)" if near else "")
    return None


def _key(node: ast.expr) -> str | int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return node.value
    return None


def _chain(node: ast.expr) -> tuple[str, tuple[str | int, ...]] | None:
    keys: list[str | int] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        key = node.attr if isinstance(node, ast.Attribute) else _key(node.slice)
        if key is None:
            return None
        keys.append(key)
        node = node.value
    return (node.id, tuple(reversed(keys))) if isinstance(node, ast.Name) else None


def _paths(node: ast.AST, bound: frozenset[str]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    if isinstance(node, ast.Attribute | ast.Subscript | ast.Name):
        chain = _chain(node)
        if chain is not None:
            if chain[0] not in bound and chain[0] not in _CONSTANTS:
                yield chain
            return
    if isinstance(node, ast.ListComp):
        bound = bound | {generator.target.id for generator in node.generators if isinstance(generator.target, ast.Name)}
    children = node.args if isinstance(node, ast.Call) else list(ast.iter_child_nodes(node))
    for child in children:
        yield from _paths(child, bound)


class _Evaluation:
    """One evaluation: the scope, and how much work is left."""

    def __init__(self, text: str, scope: Mapping[str, Json]) -> None:
        self.text = text
        self.scope = scope
        self.left = _STEPS

    def value(self, node: ast.expr) -> Json:
        self.left -= 1
        if self.left < 0:
            raise self.error("The expression takes too much work")
        method = cast("Callable[[ast.expr], Json]", getattr(self, f"_{type(node).__name__.lower()}"))
        return method(node)

    def error(self, message: str, next_step: str | None = None) -> ExpressionError:
        return ExpressionError(f"{message}.", where="${" + self.text + "}", next_step=next_step)

    def attempt(self, what: str, operation: Callable[..., Json], *operands: Json) -> Json:
        try:
            found = operation(*operands)
        except (TypeError, ValueError, KeyError, IndexError, ArithmeticError, OSError, AttributeError) as error:
            raise self.error(f"{what}: {error}") from None
        if isinstance(found, str | list | dict) and len(cast("str", found)) > LARGEST:
            raise self.error(f"{what}: the result is too large")
        if isinstance(found, int) and abs(found) > _GREATEST:
            raise self.error(f"{what}: the number is too large")
        return cast("Json", found)

    def _constant(self, node: ast.Constant) -> Json:
        return node.value

    def _name(self, node: ast.Name) -> Json:
        if node.id in self.scope:
            return self.scope[node.id]
        if node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        near = nearest(node.id, self.scope) or list(self.scope)[:5]
        raise self.error(f"There is no {node.id!r} here", f"Known: {', '.join(near)}." if near else None)

    def _attribute(self, node: ast.Attribute) -> Json:
        return self._member(self.value(node.value), node.attr, ast.unparse(node.value))

    def _subscript(self, node: ast.Subscript) -> Json:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = [self.value(part) if part else None for part in (node.slice.lower, node.slice.upper)]
            return self.attempt("The slice", lambda: owner[slice(*ends)])
        return self._member(owner, self.value(node.slice), ast.unparse(node.value))

    def _member(self, owner: Json, key: Json, place: str) -> Json:
        if isinstance(owner, Mapping) and key in owner:
            return cast("Mapping[Json, Json]", owner)[key]
        if isinstance(owner, list | str) and isinstance(key, int) and not isinstance(key, bool):
            size = len(cast("list[Json]", owner))
            if -size <= key < size:
                return cast("list[Json]", owner)[key]
            raise self.error(f"{place} has {size} entries, so there is no [{key}]")
        if isinstance(owner, Mapping):
            known = [str(name) for name in cast("Mapping[Json, Json]", owner)]
            near = nearest(str(key), known) or known[:8]
            raise self.error(f"{place} has no {key!r}", f"It has: {', '.join(near)}." if near else None)
        raise self.error(f"{place} is {_kind(owner)}, so it has no {key!r}")

    def _list(self, node: ast.List | ast.Tuple) -> Json:
        return [self.value(part) for part in node.elts]

    _tuple = _list

    def _dict(self, node: ast.Dict) -> Json:
        if any(key is None for key in node.keys):
            raise self.error("An object display takes plain keys")
        return {str(self.value(key)): self.value(part) for key, part in zip(node.keys, node.values, strict=True) if key}

    def _binop(self, node: ast.BinOp) -> Json:
        left, right = self.value(node.left), self.value(node.right)
        numbers = all(isinstance(side, int | float) for side in (left, right))
        joinable = isinstance(node.op, ast.Add) and type(left) is type(right) and isinstance(left, str | list)
        if not numbers and not joinable:
            what = f"{type(node.op).__name__} does not work on {_kind(left)} and {_kind(right)}"
            raise self.error(what, "Turn one into the other with str(), int() or float().")
        return self.attempt(ast.unparse(node), _BINARY[type(node.op)], left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Json:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not operand
        if not isinstance(operand, int | float):
            raise self.error(f"{ast.unparse(node)} needs a number, not {_kind(operand)}")
        number = cast("float", operand)
        return -number if isinstance(node.op, ast.USub) else number

    def _boolop(self, node: ast.BoolOp) -> Json:
        stop = isinstance(node.op, ast.Or)
        found: Json = None
        for part in node.values:
            found = self.value(part)
            if bool(found) is stop:
                return found
        return found

    def _compare(self, node: ast.Compare) -> Json:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if not self.attempt(ast.unparse(node), _COMPARE[type(op)], left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Json:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _listcomp(self, node: ast.ListComp) -> Json:
        if len(node.generators) != 1:
            raise self.error("A comprehension takes one `for`")
        generator = node.generators[0]
        name = cast("ast.Name", generator.target).id
        values = self.value(generator.iter)
        if not isinstance(values, list):
            raise self.error(f"{ast.unparse(generator.iter)} is {_kind(values)}, not a list")
        outer, found = self.scope, list[Json]()
        try:
            for value in cast("list[Json]", values):
                self.scope = {**outer, name: value}
                if all(self.value(condition) for condition in generator.ifs):
                    found.append(self.value(node.elt))
        finally:
            self.scope = outer
        return found

    def _call(self, node: ast.Call) -> Json:
        name = cast("ast.Name", node.func).id
        if name == "default":
            return self._default(node.args)
        operands = [self.value(part) for part in node.args]
        return self.attempt(f"{name}()", FUNCTIONS[name], *operands)

    def _default(self, parts: list[ast.expr]) -> Json:
        for part in parts[:-1]:
            try:
                found = self.value(part)
            except ExpressionError:
                continue
            if found is not None:
                return found
        return self.value(parts[-1]) if parts else None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
