"""Reading JSON and YAML that others wrote: bounded in size, depth and expansion, and never more than data."""

import json
from pathlib import Path
from typing import Any

from pegboard.errors import MissingExtraError, SourceError
from pegboard.schema.types import Json, as_list, as_object

MAX_JSON = 64_000_000
MAX_YAML = 10_000_000
_MERGE = "tag:yaml.org,2002:merge"
MAX_NODES = 4_000_000
"""How many values a YAML document may stand for, with every alias written out (a "YAML bomb" has billions)."""


def read_document(data: bytes, where: str) -> Json:
    """The value that a JSON or YAML document holds; mapping keys become texts.

    YAML is read by its 1.2 core schema: `no`, `on` and dates stay texts.

    Parameters:
        data: the document's bytes.
        where: its file or address, for errors.

    Raises:
        SourceError: it is too large, cannot be read, refers to itself, or stands for too many values.
    """
    if len(data) > MAX_JSON:
        raise _fault(where, f"It has {len(data):,} bytes, and {MAX_JSON:,} are read at most.", "Cut it down.")
    text = _text(data, where)
    try:
        if text.lstrip()[:1] in ("{", "["):
            try:
                return json.loads(text)
            except ValueError as error:
                if len(data) > MAX_YAML:
                    raise _fault(where, f"It is not valid JSON: {error}.", "Correct it there.") from None
        return _from_yaml(text, where)
    except RecursionError:
        raise _fault(where, "It is nested too deeply.", "Flatten it.") from None


def read_file(path: Path) -> Json:
    """The value that a JSON or YAML file holds. Raises `SourceError` as `read_document`, and where it is missing."""
    try:
        if path.stat().st_size > MAX_JSON:
            size = path.stat().st_size
            raise _fault(str(path), f"It has {size:,} bytes, and {MAX_JSON:,} are read at most.", "Cut it down.")
        data = path.read_bytes()
    except OSError as error:
        raise _fault(str(path), f"It cannot be read: {error.strerror}.", "Correct the path.") from error
    return read_document(data, str(path))


def _text(data: bytes, where: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _fault(
            where, f"It is not UTF-8 text: {error.reason} at byte {error.start}.", "Save it as UTF-8."
        ) from None


def _from_yaml(text: str, where: str) -> Json:
    if len(text) > MAX_YAML:
        raise _fault(
            where,
            f"It is YAML of {len(text):,} characters, and {MAX_YAML:,} are read at most.",
            "Convert it to JSON, which is read faster.",
        )
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("openapi", feature="Reading YAML") from None
    try:
        value = yaml.load(text, Loader=_loader())  # noqa: S506 - a safe loader, see below
    except yaml.YAMLError as error:
        raise _fault(where, f"It cannot be read: {' '.join(str(error).split())}.", "Correct it there.") from None
    except ValueError as error:
        raise _fault(where, f"It cannot be read: {error}.", "Correct it there.") from None
    _measure(value, where)
    return value


def _loader() -> type[Any]:
    """A safe loader with the scalars of YAML 1.2: no dates, no octal numbers, no `yes` and `no`."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    number = r"^[-+]?[0-9]+$"
    decimal = r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?$"

    class Loader(base):
        yaml_implicit_resolvers: dict[str, list[tuple[str, Any]]] = {}

    import re

    Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
    )
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(number), list("-+0123456789"))
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(decimal), list("-+0123456789."))
    Loader.add_implicit_resolver(_MERGE, re.compile(r"^<<$"), ["<"])
    Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
    Loader.add_constructor("tag:yaml.org,2002:int", _int)
    Loader.add_constructor("tag:yaml.org,2002:float", _float)
    return Loader


def _int(loader: Any, node: Any) -> int:
    return int(loader.construct_scalar(node))


def _float(loader: Any, node: Any) -> float:
    return float(loader.construct_scalar(node))


def _mapping(loader: Any, node: Any) -> Any:
    found: dict[str, Json] = {}
    yield found
    merged: list[Json] = []
    for key, value in node.value:
        made = loader.construct_object(value, deep=True)
        if key.tag == _MERGE:
            merged += as_list(made) or [made]
        else:
            found[key.value if isinstance(key.value, str) else str(loader.construct_object(key, deep=True))] = made
    for more in merged:
        for name, value in as_object(more).items():
            found.setdefault(name, value)


def _parts(node: Any) -> list[Any]:
    return list(as_object(node).values()) or as_list(node)


def _measure(value: Json, where: str) -> None:
    """See that a document with aliases is finite and of bounded size when they are written out."""
    sizes: dict[int, int] = {}
    open_: set[int] = set()
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        node, done = stack.pop()
        here, parts = id(node), _parts(node)
        if here in sizes:
            continue
        if done:
            open_.discard(here)
            sizes[here] = 1 + sum(sizes.get(id(part), 1) for part in parts)
            if sizes[here] > MAX_NODES:
                raise _fault(where, f"Its aliases stand for more than {MAX_NODES:,} values.", "Write it without them.")
        elif parts:
            open_.add(here)
            if any(id(part) in open_ for part in parts):
                raise _fault(where, "It contains itself through an alias.", "Take the alias out.")
            stack.append((node, True))
            stack.extend((part, False) for part in parts)


def _fault(where: str, message: str, next_step: str) -> SourceError:
    return SourceError(message, where=where, next_step=next_step)
