"""Runtype's flows and agents, both ways: what each key becomes here, and what is said where it becomes nothing."""

from pegboard.config.runtype.finding import Finding, Weight
from pegboard.config.runtype.flow import FlowImport, read_flow

__all__ = ["Finding", "FlowImport", "Weight", "read_flow"]
