"""GraphQL input types as JSON Schema, and output types as selection sets (GraphQL October 2021, section 3)."""

from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    Undefined,
    get_named_type,
    value_from_ast_untyped,
)

from pegboard.schema.types import Json, as_object

_SCALARS: dict[str, dict[str, Json]] = {
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "ID": {"type": "string"},
}


class Inputs:
    """Turns input types into JSON Schema; input objects become `$defs`, so that recursion stays recursion."""

    def __init__(self) -> None:
        self.defs: dict[str, Json] = {}

    def arguments(self, field: GraphQLField) -> dict[str, Json]:
        """The schema of a field's arguments."""
        properties = {name: self._described(argument) for name, argument in field.args.items()}
        required = [name for name, argument in field.args.items() if _needed(argument)]
        schema: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
        schema["additionalProperties"] = False
        return schema

    def _described(self, argument: Any) -> dict[str, Json]:
        schema = self.of(argument.type)
        more: dict[str, Json] = {"description": argument.description} if argument.description else {}
        default = _default(argument)
        if default is not None:
            more["default"] = default
        return {**schema, **more}

    def of(self, kind: Any) -> dict[str, Json]:
        """The schema of an input type; one that may be null admits null."""
        if isinstance(kind, GraphQLNonNull):
            return self._bare(kind.of_type)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        schema = self._bare(kind)
        if isinstance(schema.get("type"), str) and "enum" not in schema:
            return {**schema, "type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]} if schema else {}

    def _bare(self, kind: Any) -> dict[str, Json]:
        if isinstance(kind, GraphQLList):
            return {"type": "array", "items": self.of(kind.of_type)}  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        if isinstance(kind, GraphQLEnumType):
            return {"type": "string", "enum": list(kind.values)}
        if isinstance(kind, GraphQLInputObjectType):
            return self._object(kind)
        return dict(_SCALARS.get(kind.name, {"description": f"A {kind.name}."}))

    def _object(self, kind: GraphQLInputObjectType) -> dict[str, Json]:
        if kind.name not in self.defs:
            self.defs[kind.name] = {}  # claimed first: a cycle ends here
            properties = {name: self._described(field) for name, field in kind.fields.items()}
            required = [name for name, field in kind.fields.items() if _needed(field)]
            self.defs[kind.name] = {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
            if getattr(kind, "is_one_of", False):
                self.defs[kind.name] = {**as_object(self.defs[kind.name]), "minProperties": 1, "maxProperties": 1}
        return {"$ref": f"#/$defs/{kind.name}"}


def _needed(argument: Any) -> bool:
    return isinstance(argument.type, GraphQLNonNull) and not _has_default(argument)


def _has_default(argument: Any) -> bool:
    return getattr(argument, "default", None) is not None or argument.default_value is not Undefined


def _default(argument: Any) -> Json:
    """The default of an argument; the library keeps it as written (3.3) or as a value (3.2)."""
    kept: Any = getattr(argument, "default", None)
    if kept is None:
        return None if argument.default_value is Undefined else argument.default_value
    return value_from_ast_untyped(kept.literal) if kept.literal is not None else kept.value


def _named(kind: Any) -> Any:
    return get_named_type(kind)  # pyright: ignore[reportUnknownVariableType]


class Selection:
    """Makes selection sets: every leaf, and objects to a depth, as long as the budget of fields lasts.

    Parameters:
        schema: the schema.
        depth: how many levels of objects.
        budget: how many fields at most.
    """

    def __init__(self, schema: GraphQLSchema, *, depth: int = 3, budget: int = 60) -> None:
        self._schema, self._depth, self.left = schema, depth, budget
        self.cut = False

    def of(self, kind: Any, depth: int | None = None, above: tuple[str, ...] = ()) -> str:
        """The selection set of an output type, with braces; empty for a leaf."""
        named: Any = _named(kind)
        level = self._depth if depth is None else depth
        if isinstance(named, GraphQLScalarType | GraphQLEnumType):
            return ""
        if isinstance(named, GraphQLUnionType):
            return f"{{ {self._members('__typename', named, level, above, {})} }}"
        if isinstance(named, GraphQLInterfaceType):
            own = self._fields(named, level, (*above, named.name))
            shapes = {name: str(field.type) for name, field in named.fields.items()}
            return f"{{ {self._members(f'__typename {own}', named, level, (*above, named.name), shapes)} }}"
        if isinstance(named, GraphQLObjectType):
            return f"{{ {self._fields(named, level, (*above, named.name))} }}"
        return ""

    def _members(self, own: str, kind: Any, level: int, above: tuple[str, ...], shapes: dict[str, str]) -> str:
        """What an answer of several types holds: its own fields, then those of each type that it may be.

        Parameters:
            own: the fields that all have.
            kind: the union or interface.
            level: how many levels of objects are left.
            above: the types around it.
            shapes: the types of the names so far. One name cannot stand for two types, so the second gets an alias.
        """
        known = frozenset(kind.fields) if isinstance(kind, GraphQLInterfaceType) else frozenset[str]()
        parts = [own]
        for member in self._schema.get_possible_types(kind):
            if member.name in above or self.left <= 0 or level <= 0:
                self.cut = self.cut or member.name not in above
                continue
            found = self._fields(member, level - 1, (*above, member.name), known=known, shapes=shapes)
            if found != "__typename":
                parts.append(f"... on {member.name} {{ {found} }}")
        return " ".join(parts)

    def _fields(
        self,
        kind: Any,
        level: int,
        above: tuple[str, ...],
        *,
        known: frozenset[str] = frozenset(),
        shapes: dict[str, str] | None = None,
    ) -> str:
        leaves: list[str] = []
        objects: list[str] = []
        for name, field in kind.fields.items():
            if name in known or any(_needed(argument) for argument in field.args.values()):
                continue
            if isinstance(_named(field.type), GraphQLScalarType | GraphQLEnumType):
                if self.left > 0:
                    self.left -= 1
                    leaves.append(_said(name, field, kind, shapes))
                else:
                    self.cut = True
            else:
                objects.append(name)
        for name in objects:
            field = kind.fields[name]
            named: Any = _named(field.type)
            if level <= 0 or self.left <= 0 or named.name in above:
                self.cut = True
                continue
            leaves.append(f"{_said(name, field, kind, shapes)} {self.of(field.type, level - 1, above)}")
        return " ".join(leaves) or "__typename"


def _said(name: str, field: Any, kind: Any, shapes: dict[str, str] | None) -> str:
    """A field in a selection, with an alias where its name stands for another type already."""
    if shapes is None or shapes.setdefault(name, str(field.type)) == str(field.type):
        return name
    return f"{name}_{kind.name}: {name}"
