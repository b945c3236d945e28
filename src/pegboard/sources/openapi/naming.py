"""Names, descriptions and effects of operations that a model can choose by."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pegboard.core import Effects
from pegboard.sources.openapi.operation import Operation, Outline, Remark

MAX_DESCRIPTION = 1_000
MAX_NAME = 56
_VERBS = {"GET": "get", "POST": "create", "PUT": "replace", "PATCH": "update", "DELETE": "delete", "HEAD": "check"}
_EFFECTS = {
    "GET": Effects.READ_ONLY,
    "HEAD": Effects.READ_ONLY,
    "OPTIONS": Effects.READ_ONLY,
    "TRACE": Effects.READ_ONLY,
    "QUERY": Effects.READ_ONLY,
    "PUT": Effects.IDEMPOTENT,
    "DELETE": Effects.DESTRUCTIVE,
    "POST": Effects.ADDITIVE,
}
_DESTROYS = re.compile(
    r"(?:^|[^a-z])(?:delete|destroy|remove|purge|wipe|erase|drop|truncate|revoke|terminate|archive|kick|cancel)"
)


def names_of(operations: Sequence[Outline], remarks: list[Remark]) -> list[str]:
    """A name for each operation: its `operationId`, mended where it is missing, taken, machine-made or too long."""
    wanted = [_wanted(operation) for operation in operations]
    counts = Counter(wanted)
    taken: set[str] = set()
    names: list[str] = []
    for operation, name in zip(operations, wanted, strict=True):
        if operation.id is None:
            remarks.append(
                Remark(operation.label, operation.place.at, f"It has no operationId; it is called {name!r}.")
            )
        elif len(operation.id.strip()) > MAX_NAME and name not in operation.id:
            message = f"Its operationId has {len(operation.id.strip())} characters; it is called {name!r}."
            remarks.append(Remark(operation.label, operation.place.at, message))
        if counts[name] > 1 and name in taken:
            other = _free(f"{name}_{_from_path(operation)}"[:MAX_NAME].rstrip("_-"), taken)
            message = f"Another operation is called {name!r}; this one is called {other!r}."
            remarks.append(Remark(operation.label, operation.place.at, message))
            name = other
        name = _free(name, taken)
        taken.add(name)
        names.append(name)
    return names


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _wanted(operation: Outline) -> str:
    name = (operation.id or "").strip()
    if not name:
        return _from_path(operation)
    path = re.sub(r"\W", "_", operation.path)
    made = f"{path}_{operation.method.lower()}"  # as FastAPI makes them
    if name.endswith(made) and len(name) > len(made):
        name = name[: -len(made)]
    if len(name) > MAX_NAME:
        shorter = _from_path(operation)
        return shorter if len(shorter) <= MAX_NAME else shorter[:MAX_NAME].rstrip("_-")
    return name


def _from_path(operation: Outline) -> str:
    """`list_user_posts` from `GET /users/{id}/posts`, `get_user` from `GET /users/{id}`."""
    parts = [part for part in operation.path.partition("?")[0].split("/") if part]
    parts = [part for part in parts if not re.fullmatch(r"v\d+(\.\d+)*|api|rest", part, re.IGNORECASE)]
    words: list[str] = []
    for at, part in enumerate(parts):
        if "{" in part and not re.sub(r"\{[^{}]*\}", "", part).strip("._-"):
            continue
        named = at + 1 < len(parts) and "{" in parts[at + 1]
        word = _snake(re.sub(r"\{([^{}]*)\}", r"\1", part))
        words.append(_singular(word) if named else word)
    item = bool(parts) and "{" in parts[-1]
    verb = _VERBS.get(operation.method, operation.method.lower())
    if operation.method == "GET" and not item:
        verb = "list" if words and words[-1].endswith("s") else "get"
    if operation.method == "POST" and not item and words:
        words[-1] = _singular(words[-1])
    return "_".join([verb, *words]) if words else f"{verb}_root"


def _snake(text: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^A-Za-z0-9]+", "_", spaced).strip("_").lower()


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def describe(operation: Operation) -> tuple[str, str | None]:
    """What a model reads of an operation, and a remark where its own words were cut."""
    summary = _plain(operation.summary).rstrip(".")
    text = _plain(operation.description)
    if summary and text.lower().startswith(summary.lower()):
        summary = ""
    parts = [f"{summary}." if summary else "", text]
    whole = "\n".join(part for part in parts if part) or f"{operation.method} {operation.path}"
    if len(whole) <= MAX_DESCRIPTION:
        return whole, None
    cut = whole[: MAX_DESCRIPTION - 1]
    at = max(cut.rfind(". "), cut.rfind("\n"))
    kept = cut[: at + 1].rstrip() if at > MAX_DESCRIPTION // 2 else cut[: cut.rfind(" ")]
    return f"{kept}…", f"Its description was cut from {len(whole)} to {len(kept) + 1} characters."


def _plain(text: str) -> str:
    """Prose without markup that says nothing to a model: tags, images, link targets, runs of white space."""
    text = re.sub(r"<(?:br|p|li)\s*/?>", "\n", text, flags=re.IGNORECASE)
    text = re.sub(r"</?[a-zA-Z][^<>]{0,200}>", "", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)\s]+\)", r"\1", text)
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def effects_of(operation: Outline, names: Iterable[str]) -> Effects:
    """What an operation does, by its verb; a name that says "delete" is believed whatever the verb."""
    words = " ".join([*names, operation.path.replace("/", " ")])
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", words).lower()
    by_verb = _EFFECTS.get(operation.method, Effects.UNKNOWN)
    if by_verb is not Effects.READ_ONLY and _DESTROYS.search(spaced):
        return Effects.DESTRUCTIVE
    return by_verb
