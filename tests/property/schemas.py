"""Hypothesis strategies for schemas: any JSON, and schemas that mean something."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "kind", "$ref", "type", "items", "a/b", "x~y", "é"])
TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"]

json_scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.floats() | st.text(max_size=6)
any_json = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
small_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["", "a", "b", "kind", "2020-01-01", 0.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)

_WORDS = (
    "$defs $id $ref $schema additionalItems additionalProperties allOf anyOf const contains default definitions "
    "dependencies dependentRequired dependentSchemas description else enum example examples exclusiveMaximum "
    "exclusiveMinimum format id if items maxItems maxLength maximum minItems minLength minProperties minimum "
    "multipleOf not nullable oneOf pattern patternProperties prefixItems properties propertyNames required then "
    "title type uniqueItems unevaluatedProperties $anchor $dynamicRef"
)
KEYWORDS = _WORDS.split()
REFS = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/definitions/a",
    "#/properties/a",
    "#a",
    "a",
    "https://x.invalid/y",
    "#/$defs/a/items",
]


def broken_schemas() -> st.SearchStrategy[Any]:
    """Objects whose keys are schema keywords and whose values may be anything."""
    leaf = json_scalars | st.sampled_from([*TYPES, *REFS, "int", "str[]", "date|null", True, False])
    return st.recursive(
        leaf,
        lambda inner: st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner | st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
            max_size=5,
        ),
        max_leaves=20,
    )


@st.composite
def sound_schemas(draw: st.DrawFn, depth: int = 3, defs: tuple[str, ...] = ("a", "b")) -> dict[str, Any]:
    """Schemas that are sound JSON Schema 2020-12, with every keyword that tools use."""
    root = draw(_node(depth, defs))
    root["$defs"] = {name: draw(_node(1, defs, in_place_refs=False)) for name in defs}
    return root


def _node(depth: int, defs: tuple[str, ...], *, in_place_refs: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    return st.composite(_draw_node)(depth, defs, in_place_refs)  # type: ignore[arg-type]


def _draw_node(draw: st.DrawFn, depth: int, defs: tuple[str, ...], in_place_refs: bool) -> dict[str, Any]:
    kind = draw(st.sampled_from(["scalar", "scalar", "object", "object", "array", "union", "enum", "any", "ref"]))
    if depth <= 0 and kind in ("object", "array", "union"):
        kind = "scalar"
    if kind == "ref" and not in_place_refs:
        kind = "any"
    node: dict[str, Any] = {"description": draw(st.text("ab .é", max_size=8))} if draw(st.booleans()) else {}
    node |= draw(_KINDS[kind](depth, defs))
    return node


def _scalar(_depth: int, _defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("string")},
            optional={
                "minLength": st.integers(0, 2),
                "maxLength": st.integers(1, 5),
                "pattern": st.sampled_from(["^a", "b$", "^[ab]*$"]),
                "format": st.sampled_from(["date", "uri", "int64", "date-time"]),
                "default": st.just("a"),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["integer", "number"])},
            optional={
                "minimum": st.integers(-3, 3),
                "maximum": st.integers(2, 12),
                "exclusiveMinimum": st.integers(-4, 2),
                "exclusiveMaximum": st.integers(3, 12),
                "multipleOf": st.sampled_from([1, 2, 0.5]),
            },
        ),
        st.fixed_dictionaries({"type": st.sampled_from(["boolean", "null"])}),
        st.fixed_dictionaries(
            {
                "type": st.lists(
                    st.sampled_from(["string", "integer", "null", "boolean"]), min_size=1, max_size=3, unique=True
                )
            }
        ),
    )


def _enum(_depth: int, _defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    values = (
        st.none()
        | st.booleans()
        | st.integers(0, 3)
        | st.sampled_from(["", "a", "b"])
        | st.just([1])
        | st.just({"a": 1})
    )
    return st.fixed_dictionaries({"const": values}) | st.fixed_dictionaries(
        {"enum": st.lists(values, min_size=1, max_size=4, unique_by=repr)}
    )


def _any(_depth: int, _defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({})


def _ref(_depth: int, defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([f"#/$defs/{name}" for name in defs]).map(lambda ref: {"$ref": ref})


def _object(depth: int, defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    child = _node(depth - 1, defs)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, child, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | child,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), child, max_size=1),
            "propertyNames": st.just({"pattern": "^[a-z]"}),
            "minProperties": st.integers(0, 1),
            "dependentRequired": st.just({"a": ["b"]}),
            "not": st.just({"required": ["c"]}),
            "allOf": st.lists(child, min_size=1, max_size=2),
            "anyOf": st.lists(
                st.sampled_from([{"required": ["a"]}, {"required": ["b"]}]) | child, min_size=1, max_size=2
            ),
            "if": st.just({"properties": {"kind": {"const": "a"}}, "required": ["kind"]}),
            "then": child,
        },
    )


def _array(depth: int, defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    child = _node(depth - 1, defs)
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": child,
            "prefixItems": st.lists(child, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(1, 3),
            "uniqueItems": st.booleans(),
            "contains": child,
        },
    )


def _union(depth: int, defs: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    branches = st.lists(_node(depth - 1, defs), min_size=1, max_size=3)
    return (
        st.fixed_dictionaries({"anyOf": branches})
        | st.fixed_dictionaries({"oneOf": branches})
        | st.fixed_dictionaries({"allOf": branches})
    )


_KINDS: dict[str, Any] = {
    "scalar": _scalar,
    "object": _object,
    "array": _array,
    "union": _union,
    "enum": _enum,
    "any": _any,
    "ref": _ref,
}
