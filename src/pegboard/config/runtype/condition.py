"""Conditions and values of our own as JavaScript, where they have a counterpart that means the same."""

import ast
import json
from collections.abc import Callable, Sequence

from pegboard.config.runtype.javascript import FALSY, Part
from pegboard.schema.expression import Expression

_EQUAL: dict[type[ast.cmpop], str] = {ast.Eq: "===", ast.NotEq: "!=="}
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def to_javascript(expression: Expression, name: Callable[[str, tuple[Part, ...]], str | None]) -> str | None:
    """A condition of ours as JavaScript, or None where it has no counterpart that means the same.

    Parameters:
        expression: the condition.
        name: how a path of ours reads in a flow: its root, and what is read of it; None where it cannot be read.
    """
    return _Writer(name, lambda said: f"{{{{{said}}}}}").said(expression.tree)


def to_script(expression: Expression, name: Callable[[str, tuple[Part, ...]], str | None]) -> str | None:
    """A value of ours as JavaScript over `input`, or None where it has no counterpart that means the same."""
    writer = _Writer(name, lambda said: "input." + said.replace(".", "?."))
    return writer.value(expression.tree)


class _Writer:
    def __init__(self, name: Callable[[str, tuple[Part, ...]], str | None], spell: Callable[[str], str]) -> None:
        self._name, self._spell = name, spell

    def value(self, tree: ast.expr) -> str | None:
        """A value: a choice between values, a condition, or an operand."""
        if isinstance(tree, ast.IfExp):
            parts = [self.said(tree.test), self.value(tree.body), self.value(tree.orelse)]
            return None if None in parts else f"({parts[0]} ? {parts[1]} : {parts[2]})"
        if isinstance(tree, ast.BoolOp | ast.Compare) or (
            isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
        ):
            said = self.said(tree)
            return None if said is None else f"Boolean({said})"
        return self._operand(tree)

    def said(self, tree: ast.expr) -> str | None:
        match tree:
            case ast.BoolOp(op=op, values=values):
                guarded = self._guarded(tree) or self._number(tree)
                return (
                    guarded if guarded is not None else self._joined("&&" if isinstance(op, ast.And) else "||", values)
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.said(operand)
                return None if inner is None else f"!({inner})"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right)
            case ast.Name(id="true" | "True"):
                return "true"
            case ast.Name(id="false" | "False"):
                return "false"
            case ast.Name():
                return self._operand(tree)  # a step that holds true, false or nothing
            case _:
                return None

    def _joined(self, mark: str, values: Sequence[ast.expr]) -> str | None:
        parts = [self.said(value) for value in values]
        if any(part is None for part in parts):
            return None
        return f" {mark} ".join(
            f"({part})" if isinstance(v, ast.BoolOp) else str(part) for part, v in zip(parts, values, strict=True)
        )

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str | None:
        match left, right:
            case ast.Call(func=ast.Name(id="json"), args=[inner]), ast.Constant(value="true" | "false" as word):
                said = self._operand(inner)
                return None if said is None or type(op) not in _EQUAL else f"{said} {_EQUAL[type(op)]} {word}"
            case _:
                pass
        if isinstance(op, ast.NotIn | ast.In) and ast.unparse(right) == FALSY.replace('"', "'"):
            inner = self._operand(left)
            return None if inner is None else inner if isinstance(op, ast.NotIn) else f"!({inner})"
        unguarded = not _reads(left) and not _reads(right)
        mark = _EQUAL.get(type(op)) or (_ORDER.get(type(op)) if unguarded else None)
        first, second = self._operand(left), self._operand(right)
        return None if None in (mark, first, second) else f"{first} {mark} {second}"

    def _number(self, tree: ast.BoolOp) -> str | None:
        """`a == 1 and json(a) != "true"`, as `condition` writes it, is `a === 1`."""
        match tree:
            case ast.BoolOp(op=ast.And(), values=[ast.Compare(left=inner, ops=[ast.Eq()], comparators=[one]), _]):
                word = {"0": "false", "1": "true"}.get(ast.unparse(one))
                expected = f"{ast.unparse(inner)} == {ast.unparse(one)} and json({ast.unparse(inner)}) != '{word}'"
                return self._compared(inner, ast.Eq(), one) if word and ast.unparse(tree) == expected else None
            case _:
                return None

    def _guarded(self, tree: ast.BoolOp) -> str | None:
        """`a != null and a < 3`, as `condition` writes it, is `a < 3`."""
        *guards, last = tree.values
        marks = _ORDER
        if not isinstance(tree.op, ast.And) or not isinstance(last, ast.Compare) or type(last.ops[0]) not in marks:
            return None
        sides = [last.left, last.comparators[0]]
        expected = [f"{ast.unparse(side)} != null" for side in sides if _reads(side)]
        if [ast.unparse(guard) for guard in guards] != expected:
            return None
        first, second = self._operand(sides[0]), self._operand(sides[1])
        return None if None in (first, second) else f"{first} {marks[type(last.ops[0])]} {second}"

    def _operand(self, tree: ast.expr) -> str | None:
        match tree:
            case ast.Constant(value=value):
                return json.dumps(value, ensure_ascii=False)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return f"-{json.dumps(value)}"
            case ast.Name(id="null" | "None"):
                return "null"
            case ast.Name(id="true" | "True" | "false" | "False" as word):
                return word.lower()
            case ast.Call(func=ast.Name(id="default"), args=[inner, ast.Name(id="null") | ast.List(elts=[])]):
                return self._path(inner)
            case ast.Call(func=ast.Name(id="len"), args=[inner]):
                said = self._operand(inner)
                return f"{said}.length" if said is not None and not said.startswith(('"', "null")) else None
            case _:
                return self._path(tree)

    def _path(self, tree: ast.expr) -> str | None:
        found = path_of(tree)
        said = None if found is None else self._name(*found)
        return None if said is None else self._spell(said)


def _reads(tree: ast.expr) -> bool:
    """Whether it is a path, which `condition` guards; a length is none."""
    is_length = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "len"
    return not isinstance(tree, ast.Constant | ast.UnaryOp) and not is_length


def path_of(tree: ast.expr) -> tuple[str, tuple[Part, ...]] | None:
    """The path that an expression is, or None."""
    parts: list[Part] = []
    while True:
        match tree:
            case ast.Name(id=root):
                return root, tuple(reversed(parts))
            case ast.Attribute(value=inner, attr=attribute):
                parts.append(attribute)
                tree = inner
            case ast.Subscript(value=inner, slice=ast.Constant(value=str() | int() as key)):
                parts.append(key)
                tree = inner
            case _:
                return None
