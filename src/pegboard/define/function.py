"""`@tool`: a Python function that stays one, and carries a tool."""

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial, update_wrapper
from types import FrameType
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, overload

from pegboard.core import Call, Handler, Mode, Result, Tool, ToolName, ToolSpec, default_mode, with_modes
from pegboard.define.options import Options, member, name_in, spec_of
from pegboard.define.run import handler_of, is_given, is_opaque
from pegboard.errors import DefinitionError
from pegboard.schema.infer import Inferred, infer, name_of

P = ParamSpec("P")
R = TypeVar("R")


class ToolFunction(Generic[P, R]):
    """A function and the tool made of it. Called, it is the plain function.

    The tool is made when it is first asked for, so that annotations may name what is defined further down, and so
    that one bad definition does not cost the module.

    Parameters:
        function: the function that does it.
        options: what else its author says.
        names: names that its annotations may use beside the function's globals.
    """

    def __init__(self, function: Callable[P, R], options: Options, names: Mapping[str, Any] | None = None) -> None:
        self.function = function
        self.options = options
        self._names = names
        self._modes: dict[Mode, Callable[P, R]] = {Mode.EXECUTE: function}
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name}>"

    @property
    def name(self) -> ToolName:
        """The tool's full name; costs nothing."""
        return name_in(self.options, self._function_name)

    @property
    def spec(self) -> ToolSpec:
        """The tool as data.

        Raises:
            DefinitionError: the function cannot be a tool as it stands.
        """
        return self.tool.spec

    @cached_property
    def tool(self) -> Tool:
        """The tool: its spec and what runs it. Raises as `spec` does."""
        spec = spec_of(self.options, self._function_name, self._inferred)
        own = [mode for mode in self._modes if mode is not Mode.EXECUTE]
        if own:
            chosen = self.options.get("default_mode")
            spec = with_modes(spec, own, default=None if chosen is None else member(Mode, chosen, str(self.name)))
        handler = handler_of(self._modes, self._inferred, lambda: default_mode(spec))
        return Tool(spec, handler if spec.freeform is None else _from_text(handler, self._inferred))

    @cached_property
    def _inferred(self) -> Inferred:
        parameters = list(inspect.signature(self.function).parameters)
        if parameters[:1] == ["self"]:
            raise DefinitionError(
                f"{name_of(self.function)} is a method without its object.",
                next_step="Make the tool of the bound method: tool(thing.method).",
            )
        return infer(self.function, skip=is_given, opaque=is_opaque, names=self._names)

    @property
    def _function_name(self) -> str:
        target: Any = self.function
        while isinstance(target, partial):
            target = target.func
        return getattr(target, "__name__", None) or type(target).__name__

    def preview(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate the function that shows exactly what would change, with the same parameters and result.

        The tool gains the parameter `mode`; its default is preview where the effects are destructive or costly.

        Raises:
            DefinitionError: the signature is not the tool's.
        """
        return self._add(Mode.PREVIEW, function)

    def explore(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate the function that lists what the tool could do here, changing nothing; else as `preview`.

        It can be called without arguments: what is missing is then an empty list, table or text.
        """
        return self._add(Mode.EXPLORE, function)

    def using(self, mode: Mode | str) -> Callable[P, R]:
        """The plain function of one mode.

        Raises:
            DefinitionError: the tool has no function of its own for that mode.
        """
        try:
            return self._modes[Mode(mode)]
        except (KeyError, ValueError):
            known = ", ".join(self._modes)
            raise DefinitionError(f"{self.name} has no mode {mode!r}.", next_step=f"It has: {known}.") from None

    def _add(self, mode: Mode, function: Callable[P, R]) -> Callable[P, R]:
        _check_alike(self.function, function, mode)
        self._modes[mode] = function
        self.__dict__.pop("tool", None)
        return function


def _check_alike(function: Callable[..., Any], other: Callable[..., Any], mode: Mode) -> None:
    """Both take the same and give the same; what annotations mean is compared by their text, as it stands there."""
    mine, its = inspect.signature(function), inspect.signature(other)
    for name in dict.fromkeys((*mine.parameters, *its.parameters)):
        if mine.parameters.get(name) != its.parameters.get(name):
            raise DefinitionError(
                f"The {mode} of {name_of(function)} differs in the parameter {name!r}.",
                next_step=f"Give it the parameters {mine}.",
            )
    if mine.return_annotation != its.return_annotation or list(mine.parameters) != list(its.parameters):
        raise DefinitionError(
            f"The {mode} of {name_of(function)} takes or returns something else.",
            next_step=f"Give it the signature {mine}.",
        )
    if inspect.iscoroutinefunction(function) != inspect.iscoroutinefunction(other):
        raise DefinitionError(
            f"Of {name_of(function)} and its {mode} one is async and one is not.", next_step="Make both the same."
        )


def _from_text(handler: Handler, inferred: Inferred) -> Handler:
    [parameter] = inferred.input["properties"]

    async def handle(call: Call) -> Result:
        return await handler(replace(call, arguments={parameter: call.arguments["input"]}))

    return handle


@overload
def tool(function: Callable[P, R], /) -> ToolFunction[P, R]: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[Callable[P, R]], ToolFunction[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Unpack[Options]) -> Any:
    """Make a tool of a function; it stays callable as the function that it is.

    Parameters are read from the signature, the type hints and the docstring (Google, NumPy or Sphinx style); a
    parameter of type `Call`, `Session`, `Progress` or `Log` is given by the board and does not show. A synchronous
    function runs in a worker thread. What it raises becomes a failure; raise `ToolError` to say more.

    Parameters:
        function: the function, or any callable with a readable signature (a bound method, a partial).
        options: see `Options`.
    """
    names = _names_around(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def make(given: Callable[..., Any]) -> ToolFunction[..., Any]:
        return ToolFunction(given, options, names)

    return make if function is None else make(function)


def _names_around(frame: FrameType) -> Mapping[str, Any] | None:
    """The local names where a function is defined inside another, for its annotations; else nothing."""
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)
