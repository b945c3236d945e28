"""Annotations that pydantic does not read, or reads into what can be used only once, respelled."""

import sys
import types
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    MutableMapping,
)
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

_STREAMS = (AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator)
_respelled: MutableMapping[Any, Any] = {}


def respelled(annotation: Any) -> Any:
    """The same annotation, with iterables and generators as lists, since JSON has no others.

    Before Python 3.12 also with `typing.TypedDict` classes as pydantic wants them there.
    """
    if sys.version_info < (3, 12) and is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return _typed_dict(annotation)
    origin, inner = get_origin(annotation), get_args(annotation)
    if not inner or origin is Literal:
        return annotation
    if origin in _STREAMS:
        return list[respelled(inner[0])]
    new = tuple(respelled(one) for one in inner) if origin is not Annotated else (respelled(inner[0]), *inner[1:])
    if all(one is other for one, other in zip(new, inner, strict=True)):
        return annotation
    return _rebuilt(annotation, origin, new)


def _rebuilt(annotation: Any, origin: Any, inner: tuple[Any, ...]) -> Any:
    if origin is Annotated:
        return Annotated[inner]
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007  (built from a tuple)
    copy_with = cast("Callable[[Any], Any] | None", getattr(annotation, "copy_with", None))
    return copy_with(inner) if copy_with else origin[inner]


def _typed_dict(cls: Any) -> Any:
    if cls not in _respelled:
        from typing_extensions import TypedDict

        made: Any = TypedDict(cls.__name__, {})  # type: ignore[operator]
        _respelled[cls] = made  # before its fields are read: they may name it
        made.__doc__, made.__module__ = cls.__doc__, cls.__module__
        made.__required_keys__, made.__optional_keys__ = cls.__required_keys__, cls.__optional_keys__
        made.__annotations__ = {
            name: respelled(hint) for name, hint in get_type_hints(cls, include_extras=True).items()
        }
    return _respelled[cls]
