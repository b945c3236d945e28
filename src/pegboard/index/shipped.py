"""The data that ships with search: word tables, synonyms, learned functions (`training/README.md`)."""

from pathlib import Path


def shipped(name: str) -> Path:
    """A file of `data/`, which may not be there."""
    return Path(__file__).parent / "data" / name
