"""Cutting text where it hurts least: between grapheme clusters, and at the end of a sentence or word that is near."""

import re
import unicodedata

_JOINER = "\u200d"
_LINKERS = frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
_SENTENCE = re.compile(r"[.!?。！？]['\")\]]*(?=\s|$)|[。！？]|\n")
_NEAR = 0.7
"""A sentence's end is near where it keeps this share of what fits."""

ELLIPSIS = "…"


def _extends(letter: str) -> bool:
    """Whether a character belongs to the one before it (UAX #29, Extend and SpacingMark)."""
    return (
        unicodedata.category(letter) in ("Mn", "Me", "Mc")
        or letter in (_JOINER, "\u200c")
        or "\ufe00" <= letter <= "\ufe0f"
        or "\U0001f3fb" <= letter <= "\U0001f3ff"
        or "\U000e0020" <= letter <= "\U000e007f"
    )


def _regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _hangul(letter: str) -> str:
    """The Hangul syllable class of a character: L, V, T, LV, LVT, or nothing."""
    code = ord(letter)
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""


_FOLLOWERS = {"L": ("L", "V", "LV", "LVT"), "LV": ("V", "T"), "V": ("V", "T"), "LVT": ("T",), "T": ("T",)}


def is_boundary(text: str, index: int) -> bool:
    """Whether a text may be cut before the character at an index without taking a grapheme cluster apart (UAX #29)."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if (before, after) == ("\r", "\n") or _extends(after):
        return False
    if before == _JOINER or (before in _LINKERS and after.isalpha()):
        return False
    if _hangul(after) in _FOLLOWERS.get(_hangul(before), ()):
        return False
    if _regional(before) and _regional(after):
        start = index
        while start > 0 and _regional(text[start - 1]):
            start -= 1
        return (index - start) % 2 == 0
    return True


def size(text: str, unit: str) -> int:
    """The size of a text in `bytes` of UTF-8 or in `characters`."""
    return len(text.encode("utf-8", "replace")) if unit == "bytes" else len(text)


def prefix(text: str, limit: int, unit: str = "bytes") -> str:
    """The longest start of a text that is within a limit and ends between grapheme clusters."""
    if size(text, unit) <= limit:
        return text
    limit = max(limit, 0)
    end = len(text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")) if unit == "bytes" else limit
    while end > 0 and not is_boundary(text, end):
        end -= 1
    return text[:end]


def shorten(text: str, limit: int, unit: str = "bytes") -> str:
    """A text within a limit: whole where it fits, else up to the end of a sentence near the limit, else of a word.

    Parameters:
        text: the text.
        limit: the most that it may take.
        unit: `bytes` of UTF-8, or `characters`.
    """
    if size(text, unit) <= limit:
        return text
    room = limit - size(ELLIPSIS, unit)
    if room <= 0:
        return prefix(text, limit, unit).rstrip()
    fitting = prefix(text, limit, unit)
    ends = [match.end() for match in _SENTENCE.finditer(fitting)]
    if ends and ends[-1] >= _NEAR * len(fitting):
        return fitting[: ends[-1]].rstrip()
    cut = prefix(text, room, unit)
    word = cut.rstrip() if text[len(cut) : len(cut) + 1].isspace() else cut.rpartition(" ")[0].rstrip()
    return (word if len(word) >= _NEAR * len(cut) else cut.rstrip()) + ELLIPSIS
