"""Traces of other systems, read as runs: one file a format, each found by content."""

from pegboard.trace.importers.format import Format
from pegboard.trace.importers.registry import FORMATS, detect, read
from pegboard.trace.importers.stream import Skipped

__all__ = ["FORMATS", "Format", "Skipped", "detect", "read"]
