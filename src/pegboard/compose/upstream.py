"""Where the API behind a batch takes many items at once: how they are sent, and how the answers find their items."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from pegboard.compose.inner import Inner, payload
from pegboard.core import Failure, FailureCode, Result, ToolSpec
from pegboard.schema.template import Template
from pegboard.schema.types import Json, JsonObject, canonical

Function: TypeAlias = Callable[..., Awaitable[Any]]
"""`await function(items, **shared)` gives a value, a `Failure` or an exception for each item: a list in the items'
order, or a mapping by item."""


class Upstream(Protocol):
    """Something that takes many items in one go."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The tools that it calls."""
        ...

    @property
    def limit(self) -> int | None:
        """How many items it takes at once; None: any number."""
        ...

    async def send(
        self, inner: Inner, specs: Mapping[str, ToolSpec], items: Sequence[Json], shared: JsonObject, key: str
    ) -> Result | Sequence[Result]:
        """One result for each item, or one for all where the call as a whole failed."""
        ...


@dataclass(frozen=True, kw_only=True)
class UpstreamFunction:
    """A function that takes many items.

    Parameters:
        function: see `Function`.
        limit: how many it takes at once.
    """

    function: Function
    limit: int | None = None
    uses: tuple[str, ...] = ()

    async def send(
        self, inner: Inner, specs: Mapping[str, ToolSpec], items: Sequence[Json], shared: JsonObject, key: str
    ) -> Result | Sequence[Result]:
        """Call the function; what it raises fails all of its items."""
        del inner, specs, key
        try:
            answer = await self.function(list(items), **shared)
        except Exception as error:
            return Result.failed(FailureCode.UPSTREAM, f"{type(error).__name__}: {error}")
        return matched(items, answer, None)


@dataclass(frozen=True, kw_only=True)
class UpstreamTool:
    """A tool that takes many items in one call.

    Parameters:
        tool: its name.
        over: its parameter that takes the list.
        limit: how many it takes at once.
        values: where the list of values is in its result, as a template over `result`.
        key: the field of each value that equals its item, where values may come in another order or be missing.
    """

    tool: str
    over: str
    limit: int | None = 100
    values: Template = Template.parse("${result}")
    key: str | None = None

    @property
    def uses(self) -> tuple[str, ...]:
        """The tool."""
        return (self.tool,)

    async def send(
        self, inner: Inner, specs: Mapping[str, ToolSpec], items: Sequence[Json], shared: JsonObject, key: str
    ) -> Result | Sequence[Result]:
        """Call the tool through the pipeline."""
        arguments = {**shared, self.over: list(items)}
        result = await inner.call(specs[self.tool], arguments, key=f"upstream/{key}")
        if not result.ok:
            return result
        return matched(items, self.values.render({"result": payload(result)}), self.key)


def matched(items: Sequence[Json], answer: Json, key: str | None) -> Result | Sequence[Result]:
    """A result for each item, or one failure where the answer cannot be told apart by item.

    Parameters:
        items: what was sent.
        answer: a list in the items' order, a list of objects with the field `key`, or an object by item.
        key: the field of each value that equals its item, if there is one.
    """
    if isinstance(answer, Mapping):
        return _by_name(items, cast("Mapping[str, Json]", answer))
    values = list(cast("Sequence[Json]", answer)) if isinstance(answer, list | tuple) else None
    if values is not None and key is not None:
        objects = [cast("dict[str, Json]", value) for value in values if isinstance(value, dict)]
        table = {canonical(value[key]): value for value in objects if key in value}
        return [_as_result(table[canonical(item)]) if canonical(item) in table else _missing(item) for item in items]
    if values is not None and len(values) == len(items):
        return [_as_result(value) for value in values]
    size = f"{len(values)} values" if values is not None else "no list"
    return Result.failed(
        FailureCode.OUTCOME_UNKNOWN,
        f"The upstream answered {len(items)} items with {size}, so items and values cannot be matched.",
        next_step="Look at the items one by one; the batch's author should name the key that matches them.",
    )


def _by_name(items: Sequence[Json], table: Mapping[str, Json]) -> list[Result]:
    names = [item if isinstance(item, str) else canonical(item) for item in items]
    return [_as_result(table[name]) if name in table else _missing(name) for name in names]


def _as_result(value: Any) -> Result:
    match value:
        case Result():
            return value
        case Failure():
            return Result(failure=value)
        case Exception():
            return Result.failed(FailureCode.UPSTREAM, f"{type(value).__name__}: {value}")
        case _:
            return Result(value=value)


def _missing(item: Json) -> Result:
    return Result.failed(
        FailureCode.UPSTREAM,
        f"The answer holds nothing for {canonical(item)[:80]}.",
        next_step="Check that this item exists.",
    )
