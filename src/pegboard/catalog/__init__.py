"""What the board holds right now: an immutable snapshot, its diffs, and the stable names that models see."""

from pegboard.catalog.alias import AliasTable, readable_name
from pegboard.catalog.resolve import Unknown, resolve
from pegboard.catalog.snapshot import Catalog, Diff
from pegboard.catalog.view import View

__all__ = ["AliasTable", "Catalog", "Diff", "Unknown", "View", "readable_name", "resolve"]
