"""The types of keys. Each reads a TOML value strictly and says what to write instead."""

import re
from datetime import date
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.config.key import BadValue, Type
from pegboard.core import Selection
from pegboard.errors import ConfigError, DefinitionError, nearest
from pegboard.store.secrets import check_references

_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
_NAMESPACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def name_of(value: Any) -> str:
    """What a TOML value is, in words."""
    return _NAMES.get(cast("type[Any]", type(value)), "a date or time")


def _expect(kind: type, value: Any, example: str) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise BadValue(f"This is {name_of(value)}, and {_NAMES[kind]} is needed.", f"Write for example {example}.")


def _text(value: Any, _: Path) -> str:
    return _expect(str, value, '"some text"')


def _flag(value: Any, _: Path) -> bool:
    return _expect(bool, value, "true")


def _seconds(value: Any, _: Path) -> float:
    number = value if isinstance(value, int) and not isinstance(value, bool) else _expect(float, value, "30")
    if not 0 < number <= 86_400 * 7:
        raise BadValue(f"{number} is no usable time.", "Write seconds greater than 0, for example 30.")
    return float(number)


def _path(value: Any, folder: Path) -> Path:
    text = _expect(str, value, '"a/path"')
    if not text:
        raise BadValue("The path is empty.", "Write a path; a relative one is relative to the config.")
    return (folder / Path(text).expanduser()).resolve()


def _store(value: Any, folder: Path) -> Path | str:
    return value if value == ":memory:" else _path(value, folder)


def _reference(value: Any, _: Path) -> str:
    text = _expect(str, value, '"${env:NAME}"')
    try:
        check_references(text)
    except ConfigError as problem:
        raise BadValue(problem.message, problem.next_step or "") from problem
    return text


def _namespace(value: Any, _: Path) -> str:
    text = _expect(str, value, '"git"')
    if text and not _NAMESPACE.fullmatch(text):
        raise BadValue(f"{text!r} cannot be a namespace.", "Use letters, digits, _ and - only.")
    return text


def _module(value: Any, _: Path) -> str:
    text = _expect(str, value, '"ops.tools"')
    if _MODULE.fullmatch(text):
        return text
    dotted = re.sub(r"\.py$", "", text).strip("./").replace("/", ".")
    better = dotted if _MODULE.fullmatch(dotted) else "ops.tools"
    raise BadValue(f"{text!r} is not a module's name.", f'Write it with dots and without .py, such as "{better}".')


def _number(value: Any, _: Path) -> float:
    number = value if isinstance(value, int) and not isinstance(value, bool) else _expect(float, value, "10")
    if number <= 0:
        raise BadValue(f"{number} is too small.", "Write a number greater than 0.")
    return float(number)


def _share(value: Any, folder: Path) -> float:
    number = _number(value, folder)
    if number > 1:
        raise BadValue(f"{number} is more than the whole.", "Write a share from 0 to 1, for example 0.2.")
    return number


def _object(value: Any, _: Path) -> dict[str, Any]:
    return _expect(dict, value, "{ key = 1 }")


def _rows(value: Any, _: Path) -> tuple[Any, ...]:
    rows = cast("list[Any]", _expect(list, value, "[{ key = 1 }]"))
    return tuple(_inside(OBJECT, row, Path(), f"[{number}]") for number, row in enumerate(rows))


def _texts(value: Any, folder: Path) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else list_of(TEXT).read(value, folder)


def _document(value: Any, folder: Path) -> Path | str:
    text = _expect(str, value, '"openapi.json"')
    return text if text.startswith(("http://", "https://", "${")) else _path(text, folder)


def _server(value: Any, folder: Path) -> tuple[str, ...] | str:
    if isinstance(value, list):
        argv = LIST_OF_REFERENCES.read(value, folder)
        if not argv or not argv[0]:
            raise BadValue(
                "The command is empty.", 'Write the program and its arguments: ["npx", "-y", "some-server"].'
            )
        return argv
    text = _reference(_expect(str, value, '["program", "argument"]'), folder)
    if text.startswith("${"):
        return text
    parts = urlsplit(text)
    if parts.scheme in ("http", "https") and parts.netloc:
        return text
    words = ", ".join(f'"{word}"' for word in text.split())
    raise BadValue(
        f"{text!r} is neither a list nor an http(s) address.", f"To start a program, write a list: mcp = [{words}]."
    )


def _selectors(value: Any, folder: Path) -> tuple[str, ...]:
    terms = list_of(TEXT).read(value, folder)
    for number, term in enumerate(terms):
        try:
            Selection.parse([term])
        except DefinitionError as problem:
            raise BadValue(problem.message, problem.next_step or "", at=f"[{number}]") from problem
    return terms


def _limits(value: Any, folder: Path) -> tuple[tuple[str, int], ...]:
    table = table_of(whole(0), '{ "github.create_*" = 5 }').read(value, folder)
    for selector in table:
        _selectors([selector], folder)
    return tuple(table.items())


def list_of(item: Type, example: str = '["one", "two"]') -> Type:
    """A list whose items are of one type; read as a tuple."""

    def read(value: Any, folder: Path) -> tuple[Any, ...]:
        items = cast("list[Any]", _expect(list, value, example))
        return tuple(_inside(item, found, folder, f"[{number}]") for number, found in enumerate(items))

    return Type(f"list of {item.name}", read)


def table_of(item: Type, example: str) -> Type:
    """A table with any keys, whose values are of one type."""

    def read(value: Any, folder: Path) -> dict[str, Any]:
        items = cast("dict[str, Any]", _expect(dict, value, example))
        return {key: _inside(item, found, folder, f".{key}") for key, found in items.items()}

    return Type(f"table of {item.name}", read)


def choice(*options: str) -> Type:
    """One of a few words."""

    def read(value: Any, _: Path) -> str:
        text = _expect(str, value, f'"{options[0]}"')
        if text in options:
            return text
        near = nearest(text, options, limit=1)
        known = " or ".join(f'"{option}"' for option in options)
        raise BadValue(f"{text!r} is not known here.", f'Did you mean "{near[0]}"?' if near else f"Write {known}.")

    return Type(" or ".join(f'`"{option}"`' for option in options), read)


def whole(least: int, most: int = 2**31) -> Type:
    """A whole number in a range."""

    def read(value: Any, _: Path) -> int:
        number = _expect(int, value, str(least))
        if least <= number <= most:
            return number
        raise BadValue(f"{number} is out of range.", f"Write a whole number from {least} to {most}.")

    return Type("whole number", read)


def _inside(item: Type, value: Any, folder: Path, at: str) -> Any:
    try:
        return item.read(value, folder)
    except BadValue as problem:
        raise BadValue(problem.message, problem.next_step, at=at + problem.at) from problem


def _day(value: Any, _: Path) -> str:
    if type(value) is date:
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError) as problem:
        raise BadValue(f"{value!r} is no day.", "Write for example 2027-01-31.") from problem


TEXT = Type("text", _text)
ANY = Type("anything", lambda value, folder: value)
NUMBER = Type("number", _number)
SHARE = Type("number from 0 to 1", _share)
OBJECT = Type("table", _object)
ROWS = Type("list of tables", _rows)
TEXTS = Type("text or list of texts", _texts)
DOCUMENT = Type("path or address", _document)
DAY = Type("day", _day)
FLAG = Type("true or false", _flag)
SECONDS = Type("seconds", _seconds)
PATH = Type("path", _path)
STORE = Type("path", _store)
REFERENCE = Type("text with references", _reference)
NAMESPACE = Type("namespace", _namespace)
MODULE = Type("module name", _module)
LIST_OF_REFERENCES = list_of(REFERENCE, '["program", "argument"]')
SERVER = Type("list of texts, or an address", _server)
SELECTORS = Type("list of selectors", _selectors)
LIMITS = Type("table of whole numbers by selector", _limits)
