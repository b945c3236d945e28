"""What a Python function takes and gives, as JSON Schema; and the way from JSON to its parameters and back.

Pydantic does the reading of types. It is imported when the first function is read, never before.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast, get_type_hints

from pegboard.errors import DefinitionError
from pegboard.schema.docstring import Docstring, read_docstring
from pegboard.schema.parameters import Parameters, read_parameters
from pegboard.schema.returns import Returns, read_returns
from pegboard.schema.types import Schema


@dataclass(frozen=True, slots=True)
class Inferred:
    """A function, read.

    Parameters:
        parameters: what it takes, as a schema and as a way from JSON.
        returns: what it gives, as a schema and as a way to JSON.
        docstring: its docstring, taken apart.
        skipped: the parameters that are not arguments, with their annotations.
    """

    parameters: Parameters
    returns: Returns
    docstring: Docstring
    skipped: Mapping[str, Any]

    @property
    def input(self) -> Schema:
        """The JSON Schema of its arguments, in the author's order."""
        return self.parameters.schema

    @property
    def output(self) -> Schema | None:
        """The JSON Schema of what it returns; None where it does not say, or returns nothing."""
        return self.returns.schema


def infer(
    function: Callable[..., Any],
    *,
    skip: Callable[[Any], bool] = lambda annotation: False,
    opaque: Callable[[Any], bool] = lambda annotation: False,
    names: Mapping[str, Any] | None = None,
) -> Inferred:
    """Read a function's signature, type hints and docstring.

    Parameters:
        function: any callable whose signature can be read.
        skip: says of a parameter's annotation that the parameter is not an argument.
        opaque: says of the return annotation that it has no schema.
        names: names that the annotations may use beside the function's globals.

    Raises:
        DefinitionError: a parameter has a type that JSON cannot express, or an annotation cannot be read.
    """
    hints = _hints(function, names)
    docstring = read_docstring(inspect.getdoc(function))
    signature = _signature(function)
    skipped = {name: hints[name] for name in signature.parameters if name in hints and skip(hints[name])}
    return Inferred(
        parameters=read_parameters(signature, hints, docstring, leave_out=skipped, owner=name_of(function)),
        returns=read_returns(hints.get("return"), docstring, opaque=opaque),
        docstring=docstring,
        skipped=skipped,
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"The signature of {name_of(function)} cannot be read: {error}.",
            next_step="Wrap it in a function of yours.",
        ) from error


def _hints(function: Callable[..., Any], names: Mapping[str, Any] | None) -> dict[str, Any]:
    target: Any = function
    while isinstance(target, partial):
        target = cast("partial[Any]", target).func
    if not (inspect.isroutine(target) or inspect.isclass(target)):
        target = target.__call__
    try:
        return get_type_hints(target, localns=dict(names) if names else None, include_extras=True)
    except Exception as error:  # an annotation is any expression, so it may fail in any way
        raise DefinitionError(
            f"The type hints of {name_of(function)} cannot be read: {error}.",
            next_step="Import the names that they use where the function is defined.",
        ) from error


def name_of(function: Callable[..., Any]) -> str:
    """What a callable is called, for messages."""
    return str(getattr(function, "__qualname__", None) or function)
