"""Runs written in the formats of other systems."""

from pegboard.trace.exporters.registry import EXPORTERS, Exporter, write

__all__ = ["EXPORTERS", "Exporter", "write"]
