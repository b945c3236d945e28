"""What a request names by its form alone: `notes.txt` is a file, `example.org` a URL, though neither word is said."""

import re
from collections.abc import Iterable, Sequence

_LISTS = {
    "file": """
        txt md rst pdf csv tsv json jsonl yaml yml toml ini cfg conf xml htm html css js ts py ipynb java go rs rb php
        sh sql log doc docx xls xlsx ppt pptx odt ods png jpg jpeg gif svg webp mp3 mp4 wav zip tar gz""",
    "url": "com org net io dev edu gov",
}
_ENDINGS = {kind: frozenset(text.split()) for kind, text in _LISTS.items()}
AROUND = ".,;:!?()[]{}<>\"'`"
_FIGURES = {
    r"\d[\d.,]*%": ("percent", "calculate"),
    r"\d[\d.]*(?:[+*\u00d7\u00f7^]\d[\d.]*)+|[+*\u00d7\u00f7^]": ("calculate",),
    r"[0-2]?\d(?::[0-5]\d)?[ap]m|[0-2]?\d:[0-5]\d|pm": ("time",),
    r"\d{4}-\d\d-\d\d": ("date",),
    r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,12}|[0-9a-f]{40}": ("commit",),
}
_FIGURE = re.compile("|".join(f"({form})" for form in _FIGURES))
_TOLD = tuple(_FIGURES.values())
_UNITS = {
    form: kind
    for kind, named in {
        "unit": """
            mm millimeter millimetre cm centimeter centimetre meter metre km kilometer kilometre inch foot feet ft
            yard mile gram kilogram kilo kg ounce oz pound lb stone ton tonne liter litre ml gallon pint cup celsius
            fahrenheit kelvin byte kb mb gb kilobyte megabyte gigabyte terabyte gig mph kmh""",
        "currency": "dollar usd euro eur gbp yen jpy franc chf rupee inr yuan cny peso krone krona bitcoin",
    }.items()
    for word in named.split()
    for form in (word, f"{word}s", f"{word}es")
}


def named_kinds(pieces: Iterable[str]) -> list[str]:
    """The kinds of things that are named by their form, as words; of several files also that they are several.

    Parameters:
        pieces: of a text, what stands between spaces.
    """
    return distinct(map(kinds_of, pieces))


def distinct(told: Iterable[Sequence[str]]) -> list[str]:
    """The kinds of all pieces of a text, by those of each."""
    found: list[str] = []
    for kinds in told:
        for kind in kinds:
            if kind not in found:
                found.append(kind)
            elif kind == "file" and "multiple" not in found:
                found.append("multiple")
    return found


def kinds_of(piece: str) -> Sequence[str]:
    """What one piece of a text is."""
    word = piece.strip(AROUND).lower()
    if word.isalpha() and word != "pm":
        return ()
    kind = _kind(word) if any(after[:1].isalnum() for after in piece.split(".")[1:]) else None
    if kind:
        return (kind,)
    figure = _FIGURE.fullmatch(word)
    return _TOLD[figure.lastindex - 1] if figure and figure.lastindex else ()


def conversion(found: Sequence[str]) -> list[str]:
    """What a request that names two units wants, by its words: to convert the one into the other."""
    if _UNITS.keys().isdisjoint(found):
        return []
    units = {word.rstrip("es"): _UNITS[word] for word in found if word in _UNITS}
    return ["convert", *dict.fromkeys(units.values())] if len(units) > 1 else []


def _kind(word: str) -> str | None:
    name, dot, ending = word.rpartition(".")
    if not dot:
        return None
    if "://" in word or word.startswith("www."):
        return "url"
    if "@" in name:
        return "email"
    if ending in _ENDINGS["file"]:
        return "file"
    return "url" if word.partition("/")[0].rpartition(".")[2] in _ENDINGS["url"] else None
