"""Hypothesis strategies for schemas: any JSON, and schemas that mean something."""

from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

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
def sound_schemas(
    draw: st.DrawFn, depth: int = 3, defs: tuple[str, ...] = ("a", "b"), *, arguments: bool = False
) -> dict[str, Any]:
    """Schemas that are sound JSON Schema 2020-12, with every keyword that tools use; an object's for `arguments`."""
    root = draw(_object(depth, defs) if arguments else _node(depth, defs))
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


def meant(schema: dict[str, Any], value: Any) -> bool:
    """Whether a value is valid, and has no key or item that its schema does not speak of.

    An object that declares keys and says nothing of others is open by the letter of JSON Schema; its author hardly
    means that. A value with such keys is valid, and no dialect that closes its objects can carry it.
    """
    try:
        judges = (schema, _spoken(schema, schema, own=True, top=True))
        return all(Draft202012Validator(judge).is_valid(value) for judge in judges)
    except RecursionError:
        return False


_BRANCHES = ("allOf", "anyOf", "oneOf", "if", "then", "dependentSchemas")


def _spoken(node: Any, root: dict[str, Any], *, own: bool, top: bool = False) -> Any:
    if not isinstance(node, dict):
        return node
    found = {key: _spoken_keyword(key, value, root) for key, value in node.items()}
    seen = _followed(node, root)
    if own and "additionalProperties" not in seen:
        silent = not any(key in seen for key in ("properties", "patternProperties", *_BRANCHES)) or (
            not seen.get("properties")
            and not seen.get("patternProperties")
            and not any(key in seen for key in _BRANCHES)
        )
        if top or not silent:
            found["unevaluatedProperties"] = False
    if own and "prefixItems" in seen and seen.get("items", {}) == {}:
        found["unevaluatedItems"] = False
    return found


def _spoken_keyword(key: str, value: Any, root: dict[str, Any]) -> Any:
    if key in ("properties", "patternProperties") and isinstance(value, dict):
        return {name: _spoken(child, root, own=True) for name, child in value.items()}
    if key in ("$defs", "dependentSchemas") and isinstance(value, dict):
        return {name: _spoken(child, root, own=False) for name, child in value.items()}
    if key in ("items", "additionalProperties", "contains"):
        return _spoken(value, root, own=True)
    if key in ("not", "if", "then", "else"):
        return _spoken(value, root, own=False)
    if key in ("prefixItems", "allOf", "anyOf", "oneOf") and isinstance(value, list):
        return [_spoken(child, root, own=key == "prefixItems") for child in value]
    return value


def _followed(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    for _ in range(9):
        ref = node.get("$ref")
        if not isinstance(ref, str):
            break
        node = root
        for part in ref.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            node = node[int(key)] if isinstance(node, list) else node.get(key, {})
    return node


def values_of(schema: dict[str, Any], root: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that are likely valid under a schema of `sound_schemas`."""
    node = _followed(schema, root)
    if depth > 5:
        return st.none()
    if "const" in node or "enum" in node:
        return st.sampled_from(node.get("enum", [node.get("const")]))
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node and "properties" not in node:
            return st.one_of([values_of(branch, root, depth + 1) for branch in node[key]])
    kinds = node.get("type", ["any"])
    return st.one_of([_of_kind(kind, node, root, depth) for kind in (kinds if isinstance(kinds, list) else [kinds])])


def _of_kind(kind: str, node: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    if kind == "object":
        return _of_object(node, root, depth)
    if kind == "array":
        items = values_of(node.get("items", {}), root, depth + 1)
        lead = [values_of(member, root, depth + 1) for member in node.get("prefixItems", [])]
        return st.tuples(*lead).map(list) if lead else st.lists(items, max_size=3)
    plain: dict[str, st.SearchStrategy[Any]] = {
        "string": st.sampled_from(["a", "ab", "b", "aaa", "", "5", "null", "2020-01-01"]),
        "integer": st.integers(-3, 12),
        "number": st.sampled_from([1, 2, 2.5, 0, -1, 0.5]),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return plain.get(kind, small_values)


def _of_object(node: dict[str, Any], root: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    table = {name: values_of(child, root, depth + 1) for name, child in node.get("properties", {}).items()}
    needed = {name: table.get(name, st.just(1)) for name in node.get("required", [])}
    optional = {name: found for name, found in table.items() if name not in needed}
    rest = node.get("additionalProperties")
    if isinstance(rest, dict):
        optional["other"] = values_of(rest, root, depth + 1)
    elif rest is True or (rest is None and not table):
        optional["other"] = small_values
    return st.fixed_dictionaries(needed, optional=optional)
