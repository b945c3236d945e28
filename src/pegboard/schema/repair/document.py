"""Repair of a whole document."""

from dataclasses import dataclass

from pegboard.schema.repair.intake import Intake
from pegboard.schema.repair.record import Record, SchemaChange
from pegboard.schema.repair.refs import settle
from pegboard.schema.repair.tree import Tree, complete
from pegboard.schema.types import Json, Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Repaired:
    """A sound schema, and what it took.

    Parameters:
        schema: JSON Schema 2020-12, every node an object, in the author's order. The author's own is untouched.
        changes: what was rewritten, each with a pointer into the author's schema; empty where nothing was.
    """

    schema: Schema
    changes: tuple[SchemaChange, ...] = ()


def repair(schema: Json, *, arguments: bool = False) -> Repaired:
    """Bring any JSON into sound JSON Schema 2020-12 that accepts what the author's schema was meant to accept.

    Nothing is lost: a sound schema keeps its meaning, a broken part is rewritten as its words show it was meant, or
    opened to any value; each change is listed. Repairing twice changes nothing more. References are resolved
    inside the document only. Spellings of draft-03 to draft-07 and OpenAPI 3.0 become those of 2020-12.

    Parameters:
        schema: any JSON value, nested and shared as it may be.
        arguments: whether it judges a tool's arguments, which are always an object: a root without a type gets one.
    """
    intake = Intake()
    document = intake.copy(schema)
    record = Record(document, list(intake.changes))
    tree = Tree(record)
    root = tree.mend({} if arguments and document is None else document, "", "", arguments=arguments)
    settle(tree, root)
    complete(tree, root)
    if isinstance(root.get("$schema"), str) and root["$schema"].rstrip("#") != DIALECT:
        record.note("/$schema", f"read as {DIALECT}")
        root["$schema"] = DIALECT
    return Repaired(root, tuple(record.changes))
