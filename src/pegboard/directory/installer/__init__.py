"""Putting a discoverable on this machine: fetched, pinned, and taken back as a whole where something goes wrong."""

from pegboard.directory.installer.prepare import discard, prepare, sweep

__all__ = ["discard", "prepare", "sweep"]
