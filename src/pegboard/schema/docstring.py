"""Docstrings in the Google, NumPy and Sphinx styles, taken apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says.

    Parameters:
        description: the text, with its notes and examples, without the sections on parameters, result and errors.
        parameters: what it says of each parameter, by name.
        returns: what it says of the result.
    """

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    returns: str | None = None


_KEPT = {"examples": "Examples", "example": "Example", "note": "Note", "notes": "Notes", "warning": "Warning"}


def read_docstring(text: str | None) -> Docstring:
    """Take a docstring apart, in whichever of the three styles it is; one in no style is all description."""
    if not text:
        return Docstring()
    from docstring_parser import ParseError, parse

    try:
        parsed = parse(text)
    except ParseError:
        return Docstring(text.strip())
    sections = [_section(meta) for meta in parsed.meta if meta.args and meta.args[0] in _KEPT]
    parts = [parsed.short_description, parsed.long_description, *sections]
    return Docstring(
        description="\n\n".join(part.strip() for part in parts if part and part.strip()),
        parameters={name: said for one in parsed.params for name, said in _described(one)},
        returns=_one_line(parsed.returns.description) if parsed.returns else None,
    )


def _section(meta: Any) -> str:
    snippet = getattr(meta, "snippet", None)
    body = "\n".join(part for part in (snippet, meta.description) if part)
    return f"{_KEPT[meta.args[0]]}:\n{body}" if body else ""


def _described(parameter: Any) -> list[tuple[str, str]]:
    """A parameter's names (NumPy allows `x, y : int`) with what is said of them."""
    said = _one_line(parameter.description)
    return [(name.strip().lstrip("*"), said) for name in parameter.arg_name.split(",")] if said else []


def _one_line(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None
