"""Chinese characters: traditional ones are read as simplified ones, so that either finds the other."""

import re
from collections.abc import Mapping
from functools import cache

from pegboard.index.shipped import shipped


def simplified(text: str) -> str:
    """A text with its traditional characters replaced, one by one."""
    return text.translate(_table()) if _han().search(text) else text


@cache
def _han() -> re.Pattern[str]:
    """Made when the first text is not plain: such patterns take milliseconds."""
    return re.compile("[\u4e00-\u9fff]")


@cache
def _table() -> Mapping[int, str]:
    """`data/simplified.txt`: from OpenCC's TSCharacters, Apache-2.0, the first simplified character of each."""
    text = shipped("simplified.txt").read_text(encoding="utf8")
    traditional, found = (line for line in text.splitlines() if not line.startswith("#"))
    return dict(zip(map(ord, traditional), found, strict=True))
