"""`{{path}}` in the texts of a flow, as `${path}` of ours, and back."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from pegboard.config.runtype.condition import path_of
from pegboard.config.runtype.finding import Findings
from pegboard.config.runtype.javascript import Part, read_path
from pegboard.schema.template import Template, whole
from pegboard.schema.types import Json

_HOLE = re.compile(r"\{\{(.*?)\}\}", re.S)
SECRET = re.compile(r"\{\{\s*secret:([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
At = tuple[str | int, ...]
Read = Callable[[str, tuple[Part, ...]], str]


def filled(value: Json, read: Read, findings: Findings, at: At) -> Json:
    """A value of a flow with its templates in our language; null is written as a template, since TOML has none.

    Parameters:
        value: texts at any depth.
        read: how a path reads in our language.
        findings: hears of what cannot be read.
        at: where the value stands.
    """
    if isinstance(value, str):
        return _text(value, read, findings, at)
    if isinstance(value, Mapping):
        rows = cast("Mapping[str, Json]", value)
        return {key: filled(part, read, findings, (*at, key)) for key, part in rows.items()}
    if isinstance(value, list):
        return [filled(part, read, findings, (*at, n)) for n, part in enumerate(cast("list[Json]", value))]
    return "${null}" if value is None else value


def _text(text: str, read: Read, findings: Findings, at: At) -> str:
    def put(found: re.Match[str]) -> str:
        path = hole(found[0], found[1], findings, at)
        return found[0] if path is None else "\0{" + read(*path) + "}"

    return _HOLE.sub(put, text).replace("${", "$${").replace("\0{", "${")


def hole(whole_text: str, inside: str, findings: Findings, at: At) -> tuple[str, tuple[Part, ...]] | None:
    """The path that a template reads; what is no path is refused."""
    path = read_path(inside.strip())
    if path is not None:
        return path
    if SECRET.fullmatch(whole_text):
        findings.refuse(
            "SECRET_OUT_OF_PLACE",
            at,
            f"{whole_text} stands where its value would be kept with the run.",
            "Use secrets in the url, the headers or the body of an api-call only.",
        )
    elif re.match(r"\s*secrets?\b", inside):
        findings.refuse("SECRET_FORM", at, f"{whole_text} is no reference to a secret.", "Write {{secret:KEY}}.")
    else:
        findings.refuse(
            "TEMPLATE_UNSUPPORTED",
            at,
            f"{whole_text} is more than a path.",
            "Compute it in a transform-data step before, and read its output variable.",
        )
    return None


def emptied(value: Json, name: Callable[[str, tuple[Part, ...]], str | None]) -> Json:
    """A template of ours as a flow writes it, the other way round.

    Raises:
        ValueError: an expression in it is no path that a flow can read; it says which.
    """
    return _emptied(Template.parse(value).parsed, name)


def _emptied(parsed: Any, name: Callable[[str, tuple[Part, ...]], str | None]) -> Json:
    if isinstance(parsed, tuple):
        pieces = cast("tuple[Any, ...]", parsed)
        only = whole(pieces)
        if only is not None and only.text.strip() in ("null", "None"):
            return None
        return "".join(_literal(piece) if isinstance(piece, str) else _hole(piece, name) for piece in pieces)
    if isinstance(parsed, dict):
        return {key: _emptied(part, name) for key, part in cast("dict[str, Any]", parsed).items()}
    if isinstance(parsed, list):
        return [_emptied(part, name) for part in cast("list[Any]", parsed)]
    return _literal(parsed) if isinstance(parsed, str) else parsed


def _literal(text: str) -> str:
    if "{{" in text:
        raise ValueError(f"the text {text!r}, which a flow would take for a template")
    return text


def _hole(expression: Any, name: Callable[[str, tuple[Part, ...]], str | None]) -> str:
    import ast

    tree = expression.tree
    match tree:
        case ast.Call(func=ast.Name(id="default"), args=[inner, ast.Name(id="null")]):
            tree = inner
        case _:
            pass
    path = path_of(tree)
    said = None if path is None else name(*path)
    if said is None:
        raise ValueError(f"the expression {expression.text!r}")
    return f"{{{{{said}}}}}"
