"""The dialects. Sources: OpenAI structured outputs and function calling, Anthropic tool use and structured outputs,
google-genai's `Schema` and `JSONSchema` types, the MCP specification 2026-07-28."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.lower import (
    arrays,
    closed,
    conditions,
    keep,
    keys,
    kinds,
    limits,
    literals,
    normal,
    patterns,
    refs,
    root,
    split,
    unions,
)
from pegboard.schema.lower.dialect import Dialect, Pass
from pegboard.schema.lower.node import Node, bottom_up, plain
from pegboard.schema.lower.vocabulary import BOUNDS, OF_NUMBERS, SIZES
from pegboard.schema.lower.work import Work

Rewrite = Callable[[Node, Work], None]


def each(*rewrites: Rewrite) -> Pass:
    """A pass that takes every node through some rewritings, children before parents."""

    def run(work: Work) -> None:
        def change(node: Node) -> None:
            for rewrite in rewrites:
                rewrite(node, work)

        bottom_up(work.root, change)

    return run


_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

_SHAPE: tuple[Pass, ...] = (
    refs.forget,
    refs.into_definitions,
    each(conditions.to_words, unions.one_to_any),
    root.plain_root,
    normal.normal_form,
    refs.prune,
    refs.inline_small,
    normal.normal_form,
    each(
        conditions.show_declared,
        conditions.side_to_words,
        conditions.simple_names,
        conditions.patterns_into_properties,
    ),
    normal.normal_form,
    each(unions.tidy, literals.to_enum, kinds.fit_keywords, kinds.name_type, kinds.declare_required),
    normal.without_never,
    each(arrays.untuple),
    root.plain_root,
    each(kinds.complete, kinds.fit_keywords, unions.tidy),
    refs.prune,
    refs.inline_small,
    each(unions.tidy),
)
"""From JSON Schema to typed nodes with nothing but `anyOf` between them; the root is one object."""

_END: tuple[Pass, ...] = (each(keep.filter_keywords, keep.write_words), each(unions.tidy), refs.prune)

_OPENAI: tuple[Pass, ...] = (*_SHAPE, each(kinds.any_as_union), *_END)
_OPENAI_STRICT: tuple[Pass, ...] = (
    *_SHAPE,
    each(kinds.any_is_no_strict, split.split_maps, unions.tidy),
    each(closed.close),
    each(literals.name_structures),
    each(unions.tidy, closed.separate),
    each(closed.as_text),
    each(closed.all_required),
    limits.openai_limits,
    *_END,
    refs.wrap_described,
)
_ANTHROPIC: tuple[Pass, ...] = (
    refs.forget,
    refs.into_definitions,
    root.plain_root,
    each(keep.drop_unreadable_patterns, keys.rename_keys, keep.write_words),
    refs.prune,
)
_ANTHROPIC_STRICT: tuple[Pass, ...] = (
    *_SHAPE,
    limits.no_recursion,
    each(kinds.any_is_no_strict, split.split_maps, unions.tidy),
    each(closed.close),
    each(literals.name_structures),
    each(unions.tidy, closed.separate),
    each(closed.as_text, keys.rename_keys),
    *_END,
    refs.wrap_described,
)
_GEMINI: tuple[Pass, ...] = (
    *_SHAPE,
    refs.inline_everything,
    each(split.split_types, unions.tidy, split.describe_branches),
    each(kinds.any_as_text, split.null_into_branches),
    each(closed.open_to_entries),
    each(literals.name_everything),
    each(unions.tidy, closed.separate),
    root.unset_root,
    each(closed.as_text, keys.rename_keys, keep.whole_bounds, keep.filter_keywords, keep.write_words),
    each(split.describe_branches),
    each(unions.tidy),
)
_GEMINI_JSON: tuple[Pass, ...] = (
    *_SHAPE,
    each(closed.patterns_to_rest),
    refs.prune,
    refs.inline_small,
    each(unions.tidy),
    each(kinds.any_as_union),
    root.unset_root,
    each(keys.rename_keys, keep.whole_bounds),
    *_END,
)
_MCP: tuple[Pass, ...] = (root.be_object, each(keep.drop_unreadable_patterns, keep.write_words))


def _openai_format(name: str, kinds_: tuple[str, ...]) -> bool:
    return name in _FORMATS


def _anthropic_format(name: str, kinds_: tuple[str, ...]) -> bool:
    return name in _FORMATS or name == "uri"


def _gemini_format(name: str, kinds_: tuple[str, ...]) -> bool:
    if "string" in kinds_:
        return name in ("enum", "date-time")
    if "integer" in kinds_:
        return name in ("int32", "int64")
    return "number" in kinds_ and name in ("float", "double")


def _unless_empty(emit: Callable[[Node], dict[str, Any]]) -> Callable[[Node], dict[str, Any] | None]:
    return lambda node: emit(node) if node.get("properties") or node.get("additionalProperties") else None


_openai = Dialect(
    name="openai-responses",
    keywords=BOUNDS | {"additionalProperties", "patternProperties", "propertyNames", "format", "default"},
    patterns=patterns.linear,
    passes=_OPENAI,
    emit=plain,
    tools_limit=128,
)
_openai_strict = replace(
    _openai,
    name="openai-responses-strict",
    strict=True,
    loose="openai-responses",
    keywords=OF_NUMBERS | {"minItems", "maxItems", "additionalProperties", "pattern", "format"},
    formats=_openai_format,
    passes=_OPENAI_STRICT,
)
_anthropic = Dialect(
    name="anthropic",
    key_pattern=r"[a-zA-Z0-9_.-]{1,64}",
    top_keys_only=True,
    hoists_root=True,
    passes=_ANTHROPIC,
    emit=plain,
)
_anthropic_strict = replace(
    _anthropic,
    name="anthropic-strict",
    strict=True,
    loose="anthropic",
    keywords=frozenset({"minItems", "additionalProperties", "pattern", "format", "default"}),
    formats=_anthropic_format,
    patterns=patterns.simple,
    most_min_items=1,
    passes=_ANTHROPIC_STRICT,
)
_gemini = Dialect(
    name="gemini",
    keywords=SIZES | {"minimum", "maximum", "pattern", "format"},
    formats=_gemini_format,
    patterns=patterns.linear,
    key_pattern=r"[A-Za-z_][A-Za-z0-9_]{0,63}",
    hoists_root=True,
    passes=_GEMINI,
    emit=_unless_empty(split.emit_gemini),
    name_pattern=r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}",
    tools_limit=512,
)
_gemini_json = replace(
    _gemini,
    name="gemini-json",
    keywords=SIZES | {"minimum", "maximum", "pattern", "format", "additionalProperties", "uniqueItems", "default"},
    hoists_root=False,
    passes=_GEMINI_JSON,
    emit=_unless_empty(plain),
)

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        _openai,
        _openai_strict,
        replace(_openai, name="openai-chat"),
        replace(_openai_strict, name="openai-chat-strict", loose="openai-chat"),
        _anthropic,
        _anthropic_strict,
        _gemini,
        _gemini_json,
        replace(_anthropic, name="bedrock", tools_limit=128),
        Dialect(name="codex", passes=(), emit=plain),
        Dialect(name="mcp", passes=_MCP, emit=plain, name_pattern=r"[A-Za-z0-9_.-]{1,128}"),
    )
}
"""Every dialect by its name."""


def dialect(name: str) -> Dialect:
    """The dialect of a name.

    Raises:
        DefinitionError: there is none of that name.
    """
    found = DIALECTS.get(name)
    if found is None:
        near = nearest(name, DIALECTS) or list(DIALECTS)
        raise DefinitionError(f"There is no dialect {name!r}.", next_step=f"Use {' or '.join(near)}.")
    return found
