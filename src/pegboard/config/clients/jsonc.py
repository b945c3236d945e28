"""JSON as editors keep it: with comments, trailing commas and a byte order mark."""

import json
import re
from typing import Any

_PARTS = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?(?:\*/|\Z)|,(?=(?:\s|//[^\r\n]*+|/\*(?:(?!\*/).)*+\*/)*+[}\]])', re.DOTALL
)


def plain(text: str) -> str:
    """The text as strict JSON of the same length: comments and trailing commas become blanks, line ends stay."""
    text = " " + text[1:] if text.startswith("\ufeff") else text
    return _PARTS.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text)


def read(text: str) -> Any:
    """The value of a JSON text with comments; an empty text is an empty object.

    Raises:
        ValueError: it is not JSON.
    """
    strict = plain(text)
    return json.loads(strict) if strict.strip() else {}
