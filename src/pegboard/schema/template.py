"""JSON values with `${expression}` in their texts: how one tool's output becomes another one's input."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

from pegboard.errors import DefinitionError
from pegboard.schema.expression import Expression
from pegboard.schema.functions import text_of
from pegboard.schema.types import Json

_Piece: TypeAlias = str | Expression


@dataclass(frozen=True)
class Template:
    """A JSON value whose texts may hold `${...}`, read once. Make it with `Template.parse`.

    A text that is one `${...}` becomes the value itself, with its type; inside a longer text the value is written
    out (strings bare, the rest as JSON). `$${` stands for a plain `${`.

    Parameters:
        source: the value as written.
        parsed: the same, each text as its pieces.
    """

    source: Json
    parsed: Json

    @classmethod
    def parse(cls, source: Json) -> "Template":
        """Read a value.

        Raises:
            DefinitionError: a `${` has no end, or what it holds is no expression.
        """
        return cls(source, _read(source))

    def render(self, scope: Mapping[str, Json]) -> Json:
        """The value in a scope. Raises `ExpressionError` where a path leads nowhere."""
        return _render(self.parsed, scope)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Every expression in it, in order."""
        return tuple(_expressions(self.parsed))

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it reads from its scope, each once."""
        return tuple(dict.fromkeys(name for expression in self.expressions for name in expression.names))


def whole(template: Json) -> Expression | None:
    """The expression of a parsed text that is nothing but one `${...}`, else None."""
    pieces = cast("tuple[_Piece, ...]", template) if isinstance(template, tuple) else ()
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], Expression) else None


def _read(value: Json) -> Json:
    if isinstance(value, str):
        return _pieces(value) if "${" in value else value
    if isinstance(value, Mapping):
        return {str(key): _read(part) for key, part in cast("Mapping[str, Json]", value).items()}
    if isinstance(value, list | tuple):
        return [_read(part) for part in cast("list[Json]", value)]
    return value


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[_Piece, ...] | str:
    pieces: list[_Piece] = []
    plain, at = "", 0
    while (start := text.find("${", at)) != -1:
        if start > 0 and text[start - 1] == "$":
            plain += text[at : start - 1] + "${"
            at = start + 2
            continue
        plain += text[at:start]
        end = _end(text, start + 2)
        if plain:
            pieces.append(plain)
        pieces.append(Expression.parse(text[start + 2 : end]))
        plain, at = "", end + 1
    plain += text[at:]
    if plain:
        pieces.append(plain)
    return plain if not any(isinstance(piece, Expression) for piece in pieces) else tuple(pieces)


def _end(text: str, at: int) -> int:
    depth, quote, start = 0, "", at
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    raise DefinitionError(
        "A `${` has no closing brace.", where=text[start - 2 :], next_step="Write `$${` for a plain one."
    )


def _render(parsed: Json, scope: Mapping[str, Json]) -> Json:
    if isinstance(parsed, tuple):
        pieces = cast("tuple[_Piece, ...]", parsed)
        expression = whole(pieces)
        if expression is not None:
            return expression.evaluate(scope)
        return "".join(piece if isinstance(piece, str) else text_of(piece.evaluate(scope)) for piece in pieces)
    if isinstance(parsed, dict):
        return {key: _render(part, scope) for key, part in cast("dict[str, Json]", parsed).items()}
    if isinstance(parsed, list):
        return [_render(part, scope) for part in cast("list[Json]", parsed)]
    return parsed


def _expressions(parsed: Json) -> Iterator[Expression]:
    if isinstance(parsed, tuple):
        yield from (piece for piece in cast("tuple[_Piece, ...]", parsed) if isinstance(piece, Expression))
    elif isinstance(parsed, dict):
        for part in cast("dict[str, Json]", parsed).values():
            yield from _expressions(part)
    elif isinstance(parsed, list):
        for part in cast("list[Json]", parsed):
            yield from _expressions(part)
