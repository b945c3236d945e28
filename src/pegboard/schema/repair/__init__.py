"""Repair on load: any JSON becomes a sound 2020-12 schema of object nodes; nothing that it said is lost."""

from pegboard.schema.repair.document import Repaired, repair
from pegboard.schema.repair.record import SchemaChange

__all__ = ["Repaired", "SchemaChange", "repair"]
