"""Which regular expressions a provider's engine takes."""

import re
import warnings
from functools import lru_cache

LONGEST = 4000
"""Characters of the longest pattern that is sent."""

_LOOKING = re.compile(r"\(\?(?:[=!]|<[=!])")
_NAMED_OR_FLAGS = re.compile(r"\(\?(?!:)")
_BACK = re.compile(r"(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)")
_EDGE = re.compile(r"(?<!\\)(?:\\\\)*\\[bB]")


@lru_cache(maxsize=2048)
def readable(pattern: str) -> bool:
    """Whether Python's engine, which checkers of 2020-12 use, reads the pattern."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return len(pattern) <= LONGEST


def linear(pattern: str) -> bool:
    """Whether the pattern does without looking around and looking back, so that linear engines take it."""
    return readable(pattern) and not (_LOOKING.search(pattern) or _BACK.search(pattern))


def simple(pattern: str) -> bool:
    """Whether the pattern also does without word edges, named groups and flags."""
    return linear(pattern) and not (_EDGE.search(pattern) or _NAMED_OR_FLAGS.search(pattern))


def anything(pattern: str) -> bool:
    """Every pattern."""
    return True
