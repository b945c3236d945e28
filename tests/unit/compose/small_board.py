"""A board of a few lines: the pipeline that composed tools re-enter, with every call on record."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from pegboard.catalog import Catalog
from pegboard.compose import Bound, Composite, bind
from pegboard.core import (
    Call,
    Effects,
    FailureCode,
    Handler,
    Health,
    Mode,
    Result,
    SourceRef,
    SourceState,
    Tool,
    ToolName,
    ToolSpec,
    pipeline,
)
from pegboard.invoke.modes import dry_run, modes
from pegboard.schema.validate import validator

Body = Callable[..., Awaitable[Any]]


def tool(name: str, body: Body, *, required: Iterable[str] | None = None, **more: Any) -> Tool:
    """A tool whose parameters are the keyword `properties`, running `body(**arguments)`."""
    properties = more.pop("properties", {})
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        **more.pop("schema", {}),
    }
    wants_mode = more.pop("wants_mode", False)

    async def handler(call: Call) -> Result:
        extra = {"mode": call.mode} if wants_mode else {}
        value = await body(**call.arguments, **extra)
        return value if isinstance(value, Result) else Result(value=value)

    fields = {"effects": Effects.READ_ONLY, "source": SourceRef("test", "python"), "input": schema, **more}
    return Tool(ToolSpec(name=ToolName.parse(name), **fields), handler)


def failed(code: FailureCode = FailureCode.UPSTREAM, message: str = "no", **more: Any) -> Result:
    return Result.failed(code, message, **more)


@dataclass
class SmallBoard:
    """Tools and composites, bound; `calls` has every call that reached a tool's handler, in order."""

    tools: Iterable[Tool]
    composites: Iterable[Composite] = ()
    calls: list[Call] = field(default_factory=list)
    seen: list[Call] = field(default_factory=list)
    down: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        async def dispatch(call: Call) -> Result:
            self.calls.append(call)
            found = self.catalog.get(call.tool)
            if found is None:
                return Result.failed(FailureCode.UNKNOWN_TOOL, f"no {call.tool}")
            return await found.handler(call)

        async def health(spec: ToolSpec) -> Health:
            bad = spec.source.name in self.down
            return Health(SourceState.UNAVAILABLE if bad else SourceState.READY, "it is off" if bad else None)

        self.run: Handler = pipeline(dispatch, modes(self.spec), guard(self.spec), dry_run(health, self.spec))
        self.bound: Bound = bind(Catalog.of(self.tools), self.run, self.composites)
        self.catalog = self.bound.catalog

    def spec(self, name: ToolName) -> ToolSpec | None:
        found = self.catalog.get(name)
        return found.spec if found else None

    def call(self, name: str, mode: Mode | None = None, /, **arguments: Any) -> Result:
        call = Call(tool=ToolName.parse(name), arguments=arguments, mode=mode, id="c1")
        return anyio.run(self.run, call)

    def executed(self, name: str) -> list[Any]:
        """The arguments with which a tool's handler was really run."""
        return [call.arguments for call in self.calls if str(call.tool) == name and call.mode is Mode.EXECUTE]


def guard(spec_of: Callable[[ToolName], ToolSpec | None]) -> Callable[[Handler], Handler]:
    def wrap(handler: Handler) -> Handler:
        async def checked(call: Call) -> Result:
            spec = spec_of(call.tool)
            faults = validator(spec.accepts or spec.input).violations(call.arguments) if spec else ()
            if faults:
                return replace(
                    Result.failed(FailureCode.INVALID_ARGUMENTS, faults[0].message, where=faults[0].pointer),
                    mode=call.mode or Mode.EXECUTE,
                )
            return await handler(call)

        return checked

    return wrap
