"""Chinese characters: traditional ones are read as simplified ones, so that either finds the other."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_HAN = re.compile("[\u4e00-\u9fff]")


def simplified(text: str) -> str:
    """A text with its traditional characters replaced, one by one."""
    return text.translate(_table()) if _HAN.search(text) else text


@cache
def _table() -> Mapping[int, str]:
    """`data/simplified.txt`: from OpenCC's TSCharacters, Apache-2.0, the first simplified character of each."""
    text = (files("pegboard.index") / "data" / "simplified.txt").read_text(encoding="utf8")
    traditional, found = (line for line in text.splitlines() if not line.startswith("#"))
    return dict(zip(map(ord, traditional), found, strict=True))
