"""What a request names by its form alone: `notes.txt` is a file, `example.org` a URL, though neither word is said."""

_LISTS = {
    "file": """
        txt md rst pdf csv tsv json jsonl yaml yml toml ini cfg conf xml htm html css js ts py ipynb java go rs rb php
        sh sql log doc docx xls xlsx ppt pptx odt ods png jpg jpeg gif svg webp mp3 mp4 wav zip tar gz""",
    "url": "com org net io dev edu gov",
}
_ENDINGS = {kind: frozenset(text.split()) for kind, text in _LISTS.items()}
_AROUND = ".,;:!?()[]{}<>\"'`"


def named_kinds(text: str) -> list[str]:
    """The kinds of things that a text names by their form, as words; of several files also that they are several."""
    found: list[str] = []
    if not any(after[:1].isalnum() for after in text.split(".")[1:]):
        return found
    for word in text.split():
        if "." in word and (kind := _kind(word.strip(_AROUND).lower())):
            if kind == "file" and kind in found and "multiple" not in found:
                found.append("multiple")
            elif kind not in found:
                found.append(kind)
    return found


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
