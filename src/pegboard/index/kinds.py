"""What a request names by its form alone: `notes.txt` is a file, `example.org` a URL, though neither word is said."""

import re

_ENDINGS = (
    "txt|md|rst|pdf|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|xml|html?|css|js|ts|py|ipynb|java|go|rs|rb|php|sh|sql|log"
    "|docx?|xlsx?|pptx?|odt|ods|png|jpe?g|gif|svg|webp|mp3|mp4|wav|zip|tar|gz"
)
_KINDS = {
    "file": re.compile(rf"(?<![\w@])[\w\-/~.]*\w\.(?:{_ENDINGS})\b(?![./]\w)", re.IGNORECASE),
    "url": re.compile(
        r"\bhttps?://|\bwww\.|(?<![\w@.])[\w\-]+(?:\.[\w\-]+)*\.(?:com|org|net|io|dev|edu|gov)\b", re.IGNORECASE
    ),
    "email": re.compile(r"\b[\w.+\-]+@[\w\-]+\.\w"),
}


def named_kinds(text: str) -> list[str]:
    """The kinds of things that a text names by their form, as words; of several files also that they are several."""
    found = [kind for kind, form in _KINDS.items() if form.search(text)]
    return [*found, "multiple"] if "file" in found and len(_KINDS["file"].findall(text)) > 1 else found
