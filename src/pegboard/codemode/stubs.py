"""Declarations of tools for code: TypeScript for JavaScript, signatures for Python."""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import cast

from pegboard.core import ToolSpec
from pegboard.schema.types import Json, Schema

DEEPEST = 6
"""Objects deeper than this are shown without their properties."""
_WIDEST = 40
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)


class Language(StrEnum):
    """The languages that code can be in."""

    JAVASCRIPT = "javascript"
    PYTHON = "python"


def stub(spec: ToolSpec, language: Language) -> str:
    """How code declares, and so calls, a tool: its parameters, what it gives back, what it does."""
    if language is Language.PYTHON:
        return _python(spec)
    takes, gives = _typed(spec.input, spec.input, _SCRIPT), _gives(spec, _SCRIPT)
    optional = "?" if not spec.input.get("required") else ""
    about = _about(spec)
    path = call_path(spec)
    return f"/** {about.replace('*/', '* /')} */\ntools{path}(args{optional}: {takes}): Promise<{gives}>"


def call_path(spec: ToolSpec) -> str:
    """How JavaScript names a tool below `tools`: `.ns.tool`, or `["ns.t-1"]` where it has to be quoted."""
    parts = [part for part in (spec.name.namespace, spec.name.name) if part]
    if all(_IDENTIFIER.fullmatch(part) for part in parts):
        return "".join(f".{part}" for part in parts)
    return f"[{json.dumps(spec.name.qualified)}]"


def _about(spec: ToolSpec) -> str:
    first = " ".join(spec.description.split())
    return first if len(first) <= 200 else f"{first[:199]}…"


def _python(spec: ToolSpec) -> str:
    name = re.sub(r"\W", "_", f"{spec.name.namespace}__{spec.name.name}" if spec.name.namespace else spec.name.name)
    required = {str(each) for each in cast("Sequence[Json]", spec.input.get("required") or ())}
    rows = sorted(spec.properties.items(), key=lambda row: row[0] not in required)
    parts = [
        f"{key}: {_typed(inner, spec.input, _PYTHON)}" + ("" if key in required else " = None") for key, inner in rows
    ]
    star = "*, " if parts else ""
    head = f"async def {name}({star}{', '.join(parts)}) -> {_gives(spec, _PYTHON)}: ..."
    return f"# {_about(spec)}\n{head}"


class _Dialect:
    """How one language writes types."""

    def __init__(self, names: Mapping[str, str], unknown: str, null: str, listed: str, record: str) -> None:
        self.names, self.unknown, self.null, self.listed, self.record = names, unknown, null, listed, record


_SCRIPT = _Dialect(
    {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"},
    "unknown",
    "null",
    "Array<{}>",
    "Record<string, {}>",
)
_PYTHON = _Dialect(
    {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"},
    "Any",
    "None",
    "list[{}]",
    "dict[str, {}]",
)


def _gives(spec: ToolSpec, dialect: _Dialect) -> str:
    return _typed(spec.output, spec.output, dialect) if spec.output else dialect.unknown


def _typed(schema: Json, root: Schema, dialect: _Dialect, depth: int = 0) -> str:
    if not isinstance(schema, Mapping):
        return dialect.unknown
    node = _referred(cast("Schema", schema), root)
    if node is None or depth > DEEPEST:
        return dialect.unknown
    if "const" in node or "enum" in node:
        return _literals(node, dialect)
    for key in ("anyOf", "oneOf"):
        if isinstance(node.get(key), Sequence):
            return _union([_typed(each, root, dialect, depth + 1) for each in node[key]], dialect)
    kind = node.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kinds = cast("Sequence[Json]", kind)
        return _union([_typed({**node, "type": each}, root, dialect, depth) for each in kinds], dialect)
    if kind == "array":
        return dialect.listed.format(_typed(node.get("items"), root, dialect, depth + 1))
    if kind == "object" or "properties" in node:
        return _object(node, root, dialect, depth)
    return dialect.names.get(str(kind), dialect.unknown)


def _referred(node: Schema, root: Schema) -> Schema | None:
    for _ in range(DEEPEST):
        pointer = node.get("$ref")
        if not isinstance(pointer, str):
            return node
        found: Json = root if pointer.startswith("#") else None
        for part in pointer.removeprefix("#").strip("/").split("/") if pointer not in ("#", "#/") else ():
            key = part.replace("~1", "/").replace("~0", "~")
            found = cast("Schema", found).get(key) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping):
            return None
        node = cast("Schema", found)
    return None


def _literals(node: Schema, dialect: _Dialect) -> str:
    values = [node["const"]] if "const" in node else list(cast("Sequence[Json]", node["enum"]))
    shown = [json.dumps(value, ensure_ascii=False) for value in values[:_WIDEST]]
    if dialect is _SCRIPT:
        return " | ".join([*shown, *(["string"] if len(values) > _WIDEST else [])])
    words = {"null": "None", "true": "True", "false": "False"}
    return f"Literal[{', '.join(words.get(text, text) for text in shown)}]"


def _union(parts: Sequence[str], dialect: _Dialect) -> str:
    distinct = list(dict.fromkeys(parts))
    return dialect.unknown if dialect.unknown in distinct else " | ".join(distinct) or dialect.unknown


def _object(node: Schema, root: Schema, dialect: _Dialect, depth: int) -> str:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or not properties or depth >= DEEPEST:
        more = node.get("additionalProperties")
        inner = _typed(more, root, dialect, depth + 1) if isinstance(more, Mapping) else dialect.unknown
        return dialect.record.format(inner)
    required = {str(each) for each in cast("Sequence[Json]", node.get("required") or ())}
    rows = list(cast("Mapping[str, Json]", properties).items())
    parts = [_property(key, inner, key in required, root, dialect, depth) for key, inner in rows[:_WIDEST]]
    if dialect is _PYTHON:
        return "{" + ", ".join(parts) + "}"
    return "{ " + "; ".join([*parts, *(["…"] if len(rows) > _WIDEST else [])]) + " }"


def _property(key: str, inner: Json, required: bool, root: Schema, dialect: _Dialect, depth: int) -> str:
    kind = _typed(inner, root, dialect, depth + 1)
    if dialect is _PYTHON:
        return f"{json.dumps(key, ensure_ascii=False)}{'' if required else '?'}: {kind}"
    name = key if _IDENTIFIER.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{name}{'' if required else '?'}: {kind}"
