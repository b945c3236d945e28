"""Values that satisfy a JSON Schema, for hypothesis: bounded in depth, cycles included."""

from typing import Any

from hypothesis import strategies as st

from pegboard.schema.validate import validator

TEXT = st.text(max_size=8)
NUMBERS = st.one_of(st.integers(-9, 10**6), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)))
ANY = st.one_of(st.none(), st.booleans(), NUMBERS, TEXT)


def values(schema: Any, root: dict[str, Any] | None = None, depth: int = 4) -> st.SearchStrategy[Any]:
    """Values of a schema; whoever needs them valid filters with `arguments`."""
    top = schema if root is None else root
    if not isinstance(schema, dict) or not schema:
        return ANY if schema is not False else st.nothing()
    if "$ref" in schema:
        return values(_resolved(schema, top), top, depth - 1) if depth > 0 else ANY
    for keyword in ("const", "enum"):
        if keyword in schema:
            return st.just(schema["const"]) if keyword == "const" else st.sampled_from(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            branches = [values(_both(rest, branch, top), top, depth - 1) for branch in schema[keyword]]
            return st.one_of(branches)
    if "allOf" in schema:
        whole = {key: value for key, value in schema.items() if key != "allOf"}
        for part in schema["allOf"]:
            whole = _both(whole, part, top)
        return values(whole, top, depth - 1)
    return _typed(schema, top, depth)


def _resolved(schema: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
    beside = {key: value for key, value in schema.items() if key != "$ref"}
    return _both(top["$defs"][name], beside, top) if beside else top["$defs"][name]


def _both(one: Any, other: Any, top: dict[str, Any]) -> dict[str, Any]:
    other = _resolved(other, top) if isinstance(other, dict) else {}
    merged = {**one, **other}
    merged["properties"] = {**one.get("properties", {}), **other.get("properties", {})}
    merged["required"] = list(dict.fromkeys([*one.get("required", []), *other.get("required", [])]))
    if not merged["properties"] and "properties" not in one and "properties" not in other:
        del merged["properties"], merged["required"]
    return merged


def _typed(schema: dict[str, Any], top: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    kind = schema.get("type")
    if isinstance(kind, list):
        return st.one_of([_typed({**schema, "type": one}, top, depth) for one in kind])
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else None
    match kind:
        case "object":
            return _objects(schema, top, depth)
        case "array":
            least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
            item = values(schema.get("items", {}), top, depth - 1) if depth > 0 else ANY
            return st.lists(item, min_size=least, max_size=max(least, most))
        case "string":
            return _texts(schema)
        case "integer":
            return st.integers(int(schema.get("minimum", -9)), int(schema.get("maximum", 10**6)))
        case "number":
            return NUMBERS
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return ANY


def _texts(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if schema.get("contentEncoding") == "base64":
        return st.binary(max_size=12).map(lambda data: __import__("base64").b64encode(data).decode())
    formats = {
        "date-time": st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
        "date": st.dates().map(str),
        "uuid": st.uuids().map(str),
        "email": st.just("a@example.com"),
        "uri": st.just("https://example.com/x?y=1#z"),
    }
    if schema.get("format") in formats:
        return formats[schema["format"]]
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=False).filter(str.isprintable)
    least = schema.get("minLength", 0)
    return st.text(min_size=least, max_size=max(least, min(schema.get("maxLength", 8), 8)))


def _objects(schema: dict[str, Any], top: dict[str, Any], depth: int) -> st.SearchStrategy[dict[str, Any]]:
    properties, required = schema.get("properties", {}), set(schema.get("required", []))
    needed = {name: values(part, top, depth - 1) for name, part in properties.items() if name in required}
    optional = {name: values(part, top, depth - 1) for name, part in properties.items() if name not in required}
    if depth <= 0:
        optional = {}
    if len(optional) > 6:
        names = sorted(optional)
        return st.lists(st.sampled_from(names), max_size=4, unique=True).flatmap(
            lambda chosen: st.fixed_dictionaries({**needed, **{name: optional[name] for name in chosen}})
        )
    return st.fixed_dictionaries(needed, optional=optional)


def arguments(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Argument objects that the schema admits."""
    judge = validator(schema)
    return values(schema).filter(lambda value: isinstance(value, dict) and judge.is_valid(value))
