"""Canonical models: the one shape in which tools hand out and take users, tasks, events, and what else is agreed on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.errors import DefinitionError, nearest
from pegboard.schema.fieldmap import FieldMap
from pegboard.schema.functions import text_of
from pegboard.schema.types import Json, Schema, as_list, as_object


@dataclass(frozen=True)
class Model:
    """A canonical model.

    Parameters:
        name: what it is called, such as `User`.
        schema: the JSON Schema of its records, an object.
    """

    name: str
    schema: Schema

    @classmethod
    def of(cls, kind: Any, name: str | None = None) -> "Model":
        """The model of a pydantic model, dataclass or typed dictionary.

        Raises:
            DefinitionError: it has no JSON form, or is no record.
        """
        from pegboard.schema.docstring import read_docstring
        from pegboard.schema.returns import read_returns

        schema = read_returns(kind, read_docstring(None), opaque=lambda _: False).schema
        title = name or str(getattr(kind, "__name__", kind))
        if schema is None or "properties" not in schema:
            raise DefinitionError(
                f"{title} is no record.", next_step="Give a pydantic model, a dataclass or a TypedDict."
            )
        return cls(title, schema)

    @property
    def fields(self) -> Mapping[str, Json]:
        """The schemas of its fields."""
        return as_object(self.schema.get("properties"))

    def check(self, map: FieldMap) -> None:
        """See that a map makes records of this model.

        Raises:
            DefinitionError: it has a field that the model does not have, or lacks a required one.
        """
        for name in map.names:
            if name not in self.fields:
                near = nearest(name, self.fields) or list(self.fields)
                raise DefinitionError(
                    f"{self.name} has no field {name!r}.", where=map.where, next_step=f"It has: {', '.join(near)}."
                )
        missing = [name for name in as_list(self.schema.get("required")) if name not in map.names]
        if missing:
            raise DefinitionError(
                f"{self.name} needs {' and '.join(missing)}.",
                where=map.where,
                next_step=f'Say where it comes from, for example {missing[0]} = "some.path".',
            )

    def fitted(self, record: dict[str, Json]) -> dict[str, Json]:
        """A mapped record with numbers as texts where the model has texts; nothing where it has null and may not."""
        return {
            name: fitted
            for name, value in record.items()
            for fitted in [_fitted(value, as_object(self.fields.get(name)))]
            if fitted is not None or self._may_be_null(name)
        }

    def _may_be_null(self, name: str) -> bool:
        node = as_object(self.fields.get(name))
        kinds = {str(kind) for kind in as_list(node.get("type")) or [node.get("type")]}
        either = [as_object(one).get("type") for one in (*as_list(node.get("anyOf")), *as_list(node.get("oneOf")))]
        return "null" in kinds or "null" in either or (kinds == {"None"} and not either)


def _fitted(value: Json, node: Mapping[str, Json]) -> Json:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return text_of(value) if number and node.get("type") == "string" else value


def _model(title: str, says: str, required: tuple[str, ...], /, **fields: Schema) -> Model:
    return Model(title, {"type": "object", "description": says, "properties": fields, "required": list(required)})


_TEXT: Schema = {"type": "string"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}

USER = _model(
    "User",
    "A person, or an account that acts like one.",
    ("id",),
    id={"type": "string", "description": "Identifies the user in the system that it comes from."},
    name={"type": "string", "description": "The full name, as shown."},
    email={"type": "string", "format": "email"},
    username={"type": "string", "description": "The name to sign in or be mentioned by."},
    phone=_TEXT,
    title={"type": "string", "description": "What the person does."},
    organization=_TEXT,
    active={"type": "boolean"},
    timezone={"type": "string", "description": "An IANA name, such as Europe/Berlin."},
    url={"type": "string", "format": "uri"},
    created_at=_MOMENT,
    updated_at=_MOMENT,
)

TASK = _model(
    "Task",
    "Something to do: an issue, a ticket, a to-do.",
    ("id", "title"),
    id={"type": "string", "description": "Identifies the task in the system that it comes from."},
    title=_TEXT,
    description=_TEXT,
    status={"type": "string", "description": "Such as open, in_progress, done, cancelled."},
    priority={"type": "string", "description": "Such as low, normal, high, urgent."},
    assignee={"type": "string", "description": "The id, name or email of who does it."},
    creator=_TEXT,
    project=_TEXT,
    labels={"type": "array", "items": {"type": "string"}},
    due_at={"type": "string", "description": "An ISO 8601 date or moment."},
    completed_at=_MOMENT,
    url={"type": "string", "format": "uri"},
    created_at=_MOMENT,
    updated_at=_MOMENT,
)

EVENT = _model(
    "Event",
    "Something that takes place at a time: a meeting, an appointment.",
    ("id", "title", "starts_at"),
    id={"type": "string", "description": "Identifies the event in the system that it comes from."},
    title=_TEXT,
    description=_TEXT,
    starts_at={"type": "string", "description": "An ISO 8601 date or moment."},
    ends_at={"type": "string", "description": "An ISO 8601 date or moment."},
    all_day={"type": "boolean"},
    location=_TEXT,
    organizer=_TEXT,
    attendees={"type": "array", "items": {"type": "string"}},
    status={"type": "string", "description": "Such as confirmed, tentative, cancelled."},
    url={"type": "string", "format": "uri"},
    created_at=_MOMENT,
    updated_at=_MOMENT,
)

MODELS: Mapping[str, Model] = {model.name: model for model in (USER, TASK, EVENT)}
"""The models that every board has. The field names follow RFC 7643 (SCIM users) and RFC 8984 (JSCalendar) where those
are words that people use."""
