"""Conditions: the plain part of JavaScript in which flows write them, as expressions of our own, and back.

Plain are comparisons, `&&`, `||`, `!`, literals, `{{paths}}`, names and `.length`. Everything else is left to the
sandbox, so that nothing is guessed.
"""

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, TypeAlias, cast

from pegboard.schema.expression import Expression
from pegboard.schema.types import Json

Part: TypeAlias = str | int
Resolve: TypeAlias = Callable[[str, tuple[Part, ...]], str]
"""How a path of a flow reads in our language: the variable, and what is read of it."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w$])
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |\{\{(?P<placeholder>[^{}]*)\}\}
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<mark>===|!==|==|!=|<=|>=|&&|\|\||\?\.|[<>!().\[\]-])
    )""",
    re.X,
)
_SEGMENT = re.compile(r"""\s*(?:\.?\s*([^\W\d][\w$-]*|\d+)|\[\s*(\d+)\s*\]|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])\s*""")
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None, "undefined": None}
_FALSY = '[null, false, 0, ""]'
_OPERATORS = {"===": "==", "==": "==", "!==": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_KEYWORDS = frozenset(
    (
        *("new", "typeof", "instanceof", "in", "of", "void", "delete", "function", "return", "await", "async", "this"),
        *("class", "let", "const", "var", "yield", "throw", "if", "else", "for", "while", "switch", "case", "do"),
    )
)
_GLOBALS = frozenset(("Array", "Boolean", "Date", "JSON", "Math", "Number", "Object", "RegExp", "String", "input"))
_EQUAL: dict[type[ast.cmpop], str] = {ast.Eq: "===", ast.NotEq: "!=="}
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_DEEPEST = 50


class NotPlain(ValueError):
    """A condition is more than the plain part of JavaScript."""


@dataclass(frozen=True, slots=True)
class _Node:
    kind: str
    parts: tuple[Any, ...] = ()


def read_path(text: str) -> tuple[str, tuple[Part, ...]] | None:
    """A path such as `order.lines[0]["unit price"]` as its variable and what is read of it, or None."""
    at, parts = 0, list[Part]()
    while at < len(text):
        found = _SEGMENT.match(text, at)
        if (
            found is None
            or (at == 0 and found[1] is None)
            or (at > 0 and found[1] and "." not in text[at : found.start(1)])
        ):
            return None
        word, number, double, single = found.groups()
        named = word if word is not None else double if double is not None else single
        parts.append(int(number) if number else int(named) if word is not None and word.isdecimal() else str(named))
        at = found.end()
    return (parts[0], tuple(parts[1:])) if parts and isinstance(parts[0], str) else None


def write_path(root: str, parts: Sequence[Part]) -> str:
    """A path in our language."""
    return root + "".join(_step(part) for part in parts)


def plain_name(text: str) -> bool:
    """Whether a text can stand as a name in our language."""
    return text.isidentifier() and not iskeyword(text)


def _step(part: Part) -> str:
    if isinstance(part, str) and plain_name(part):
        return f".{part}"
    return f"[{json.dumps(part, ensure_ascii=False)}]"


def condition(text: str, resolve: Resolve) -> str:
    """A condition in our language.

    Parameters:
        text: JavaScript.
        resolve: how its paths read in our language.

    Raises:
        NotPlain: it is more than the plain part.
    """
    reader = _Reader(_tokens(text))
    node = reader.either(0)
    if not reader.done:
        raise NotPlain(text)
    return _said(node, resolve)


def free_names(text: str) -> list[str]:
    """The names that a piece of JavaScript may read from outside of itself, in order, each once."""
    bare = re.sub(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", '""', text, flags=re.S)
    found = [name[0] for name in re.finditer(r"(?<![\w$.])[^\W\d][\w$]*|(?<=\.\.\.)[^\W\d][\w$]*", bare)]
    return [name for name in dict.fromkeys(found) if name not in _KEYWORDS | _GLOBALS | _LITERALS.keys()]


def read_inputs(script: str) -> tuple[list[str], bool]:
    """The members of `input` that a script names, and whether it takes `input` in any other way as well."""
    named = re.findall(r"\binput\s*(?:\?\.|\.)\s*([^\W\d][\w$]*)", script)
    named += re.findall(r"""\binput\s*(?:\?\.)?\[\s*["']([^"'\\]+)["']\s*\]""", script)
    for inside in re.findall(r"\{([^{}]*)\}\s*=\s*input\b(?!\s*[.\[?])", script):
        named += [part.split(":")[0].split("=")[0].strip() for part in inside.split(",")]
    plain = [name for name in dict.fromkeys(named) if re.fullmatch(r"[^\W\d][\w$]*|[\w -]+", name)]
    whole = len(re.findall(r"\binput\b(?!\s*(?:\?\.|\.|\[))", script)) > len(
        re.findall(r"\{[^{}.]*\}\s*=\s*input\b(?!\s*[.\[?])", script)
    )
    return plain, whole


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotPlain(text)
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        at = match.end()
    return found


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens, self._at = tokens, 0

    @property
    def done(self) -> bool:
        return self._at == len(self._tokens)

    def either(self, depth: int) -> _Node:
        return self._joined("||", "or", depth, lambda: self._joined("&&", "and", depth, lambda: self._equal(depth)))

    def _joined(self, mark: str, kind: str, depth: int, inner: Callable[[], _Node]) -> _Node:
        if depth > _DEEPEST:
            raise NotPlain("nested too deeply")
        parts = [inner()]
        while self._take(mark):
            parts.append(inner())
        return parts[0] if len(parts) == 1 else _Node(kind, tuple(parts))

    def _equal(self, depth: int) -> _Node:
        left = self._unary(depth)
        for mark in _OPERATORS:
            if self._take(mark):
                right = self._unary(depth)
                if any(part.kind in ("and", "or", "not", "compare") for part in (left, right)):
                    raise NotPlain("a comparison of conditions")
                return _Node("compare", (_OPERATORS[mark], left, right))
        return left

    def _unary(self, depth: int) -> _Node:
        if depth > _DEEPEST:
            raise NotPlain("nested too deeply")
        if self._take("!"):
            return _Node("not", (self._unary(depth + 1),))
        if self._take("("):
            inner = self.either(depth + 1)
            if not self._take(")"):
                raise NotPlain("a bracket is not closed")
            return inner
        return self._value()

    def _value(self) -> _Node:
        negative = self._take("-")
        kind, text = self._next()
        if kind == "number":
            return _Node("literal", (f"-{text}" if negative else text,))
        if negative or kind == "mark":
            raise NotPlain(text)
        if kind == "string":
            return _text(text)
        if kind == "name" and text in _LITERALS:
            return _Node("literal", (json.dumps(_LITERALS[text]),))
        return self._path(kind, text)

    def _path(self, kind: str, text: str) -> _Node:
        found = read_path(text.strip())
        if found is None or (kind == "name" and text in _KEYWORDS):
            raise NotPlain(text)
        parts = list(found[1])
        while self._take("?.") or self._take(".") or self._peek("["):
            parts.append(self._member())
        root = found[0]
        if root == "input" and kind == "name":
            if not parts or not isinstance(parts[0], str):
                raise NotPlain(text)
            root = parts.pop(0)  # `input.x` is the variable x
        if self._peek("("):
            raise NotPlain("a call")
        if parts and parts[-1] == "length" and (kind == "name" or len(parts) > len(found[1])):
            return _Node("length", (root, tuple(parts[:-1])))
        return _Node("path", (root, tuple(parts)))

    def _member(self) -> Any:
        if self._take("["):
            kind, text = self._next()
            value = (
                int(text) if kind == "number" and text.isdecimal() else _unquoted(text) if kind == "string" else None
            )
            if value is None or not self._take("]"):
                raise NotPlain(text)
            return value
        kind, text = self._next()
        if kind != "name":
            raise NotPlain(text)
        return text

    def _next(self) -> tuple[str, str]:
        if self.done:
            raise NotPlain("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self, mark: str) -> bool:
        return not self.done and self._tokens[self._at] == ("mark", mark)

    def _take(self, mark: str) -> bool:
        found = self._peek(mark)
        self._at += found
        return found


def _unquoted(text: str) -> str:
    body = text[1:-1]
    if text[0] == "'":
        body = re.sub(r"\\'|\"", lambda found: "'" if found[0] == "\\'" else '\\"', body)
    try:
        return cast("str", json.loads(f'"{body}"', strict=False))
    except ValueError:
        raise NotPlain(text) from None


def _text(token: str) -> _Node:
    value = _unquoted(token)
    only = re.fullmatch(r"\{\{([^{}]*)\}\}", value)
    found = read_path(only[1].strip()) if only else None
    if found is not None:
        return _Node("path", found)
    if "{{" in value:
        raise NotPlain(token)
    return _Node("literal", (json.dumps(value, ensure_ascii=False),))


def _said(node: _Node, resolve: Resolve) -> str:
    match node.kind:
        case "and" | "or":
            return f" {node.kind} ".join(_bracketed(part, resolve) for part in node.parts)
        case "not":
            return f"not ({_said(node.parts[0], resolve)})"
        case "compare":
            return _compared(node.parts[0], node.parts[1], node.parts[2], resolve)
        case "literal":
            return _truth(node.parts[0])
        case _:
            return f"{_operand(node, resolve)} not in {_FALSY}"


def _bracketed(node: _Node, resolve: Resolve) -> str:
    said = _said(node, resolve)
    return f"({said})" if node.kind in ("and", "or") else said


def _truth(literal: str) -> str:
    return "false" if literal in ("false", "null", '""') or re.fullmatch(r"-?0+(\.0+)?([eE].*)?", literal) else "true"


def _compared(operator: str, left: _Node, right: _Node, resolve: Resolve) -> str:
    said = f"{_operand(left, resolve)} {operator} {_operand(right, resolve)}"
    if operator in ("==", "!="):
        return said
    # In JavaScript what is not there is neither less nor more.
    guards = [f"{_operand(each, resolve)} != null" for each in (left, right) if each.kind == "path"]
    return f"({' and '.join([*guards, said])})" if guards else said


def _operand(node: _Node, resolve: Resolve) -> str:
    if node.kind == "literal":
        return str(node.parts[0])
    said = resolve(node.parts[0], node.parts[1])
    if node.kind != "length":
        return said
    return f"len({said.removesuffix(', null)')}, []))" if said.endswith(", null)") else f"len({said})"


# The way back


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
                guarded = self._guarded(tree)
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
        if isinstance(op, ast.NotIn | ast.In) and ast.unparse(right) == _FALSY.replace('"', "'"):
            inner = self._operand(left)
            return None if inner is None else inner if isinstance(op, ast.NotIn) else f"!({inner})"
        unguarded = not _reads(left) and not _reads(right)
        mark = _EQUAL.get(type(op)) or (_ORDER.get(type(op)) if unguarded else None)
        first, second = self._operand(left), self._operand(right)
        return None if None in (mark, first, second) else f"{first} {mark} {second}"

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
