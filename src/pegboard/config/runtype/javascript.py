"""Conditions: the plain part of JavaScript in which flows write them, as expressions of our own.

Plain are comparisons, `&&`, `||`, `!`, literals, `{{paths}}`, names and `.length`. Everything else is left to the
sandbox, so that nothing is guessed.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, TypeAlias, cast

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
FALSY = '[null, false, 0, ""]'
"""What counts as no in JavaScript, of the values that JSON has."""
_MARKS = ("===", "!==", "==", "!=", "<=", ">=", "<", ">")
_KEYWORDS = frozenset(
    (
        *("new", "typeof", "instanceof", "in", "of", "void", "delete", "function", "return", "await", "async", "this"),
        *("class", "let", "const", "var", "yield", "throw", "if", "else", "for", "while", "switch", "case", "do"),
    )
)
_GLOBALS = frozenset(("Array", "Boolean", "Date", "JSON", "Math", "Number", "Object", "RegExp", "String", "input"))
_DEEPEST = 50
_LONGEST = 2000


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
    said = _said(node, resolve)
    if len(said) > _LONGEST:
        raise NotPlain("too long for one expression")
    return said


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
        for mark in _MARKS:
            if self._take(mark):
                found = _Node("compare", (mark, left, self._unary(depth)))
                if not _means_the_same(*found.parts):
                    raise NotPlain("a comparison that converts types")
                return found
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
            return f"{_operand(node, resolve)} not in {FALSY}"


def _bracketed(node: _Node, resolve: Resolve) -> str:
    said = _said(node, resolve)
    return f"({said})" if node.kind in ("and", "or") else said


def _truth(literal: str) -> str:
    return "false" if literal in ("false", "null", '""') or re.fullmatch(r"-?0+(\.0+)?([eE].*)?", literal) else "true"


def _means_the_same(mark: str, left: _Node, right: _Node) -> bool:
    """Whether a comparison means the same in our language, whatever the values are, or fails where it would not."""
    kinds = {_kind(left), _kind(right)}
    if kinds & {"condition"} or not kinds & {"path", "length"}:
        return False
    if mark in ("<", "<=", ">", ">="):
        return kinds <= {"path", "length", "number"}
    if kinds == {"path"}:
        return False  # lists are equal to themselves alone there
    if mark in ("===", "!=="):
        return "length" not in kinds or kinds <= {"length", "number"}
    return kinds <= {"length", "number"} or kinds in ({"path", "null"}, {"path", "word"})


def _kind(node: _Node) -> str:
    if node.kind != "literal":
        return node.kind if node.kind in ("path", "length") else "condition"
    text = str(node.parts[0])
    if text[0] != '"':
        return {"null": "null", "true": "boolean", "false": "boolean"}.get(text, "number")
    try:
        float(json.loads(text).strip() or "0")
    except ValueError:
        return "word"
    return "digits"


def _compared(mark: str, left: _Node, right: _Node, resolve: Resolve) -> str:
    if mark[0] in "=!" and left.kind == "literal":
        left, right = right, left
    one, other = _operand(left, resolve), _operand(right, resolve)
    said = f"{one} {mark[:2]} {other}"
    if mark[0] in "=!":
        return _equal(one, mark, other) if _kind(right) in ("boolean", "number") else said
    # In JavaScript what is not there is neither less nor more.
    guards = [f"{_operand(each, resolve)} != null" for each in (left, right) if each.kind == "path"]
    return f"({' and '.join([*guards, said])})" if guards else said


def _equal(one: str, mark: str, literal: str) -> str:
    """A comparison with a number, or true or false: those are no numbers there, and are 1 and 0 here."""
    if literal in ("true", "false"):
        return f'json({one}) {mark[0]}= "{literal}"'
    boolean = {"0": "false", "1": "true"}.get(literal)
    if boolean is None or one.startswith("len("):
        return f"{one} {mark[0]}= {literal}"
    said = f'({one} == {literal} and json({one}) != "{boolean}")'
    return said if mark[0] == "=" else f"not ({said})"


def _operand(node: _Node, resolve: Resolve) -> str:
    if node.kind == "literal":
        return str(node.parts[0])
    said = resolve(node.parts[0], node.parts[1])
    if node.kind != "length":
        return said
    return f"len({said.removesuffix(', null)')}, []))" if said.endswith(", null)") else f"len({said})"
