"""An operation as a tool."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from pegboard.core import (
    Call,
    Effects,
    Failure,
    FailureCode,
    Mode,
    Report,
    Result,
    Rung,
    SourceRef,
    Tool,
    ToolName,
    ToolSpec,
)
from pegboard.core.mode import with_modes, with_own_modes
from pegboard.core.spec import DOCUMENTED_OUTPUT
from pegboard.schema.types import Json, JsonObject, Schema
from pegboard.schema.validate import Validator, validator
from pegboard.sources.http.answer import result_of
from pegboard.sources.http.exchange import Exchange
from pegboard.sources.openapi.documents import Documents, Place
from pegboard.sources.openapi.operation import Operation
from pegboard.sources.openapi.pages import Paging, joined, list_in, next_link
from pegboard.sources.openapi.requests import Builder


@dataclass(frozen=True)
class OperationRun:
    """The handler of an operation's tool.

    Parameters:
        builder: makes its requests.
        exchange: sends them.
        paging: how it is read page by page, if it is.
        output: what its answers should be, whole; None where the description does not say.
        strict: whether an answer that is not so is a failure.
        documents: the description, for the mode schema.
    """

    builder: Builder
    exchange: Exchange
    paging: Paging | None
    output: Schema | None = field(repr=False)
    strict: bool
    documents: Documents

    async def __call__(self, call: Call) -> Result:
        """Make the request of the call, send it, and read the pages that were asked for."""
        if call.mode is Mode.SCHEMA:
            return Result(value=self._shape(), mode=Mode.SCHEMA, report=Report(notes=("Nothing was called.",)))
        arguments = dict(call.arguments)
        pages = arguments.pop(self.paging.pages, 1) if self.paging else 1
        if pages > 1 and self.paging is not None and (call.mode or Mode.EXECUTE) is Mode.EXECUTE:
            result = await self._pages(self.paging, arguments, pages)
        else:
            result = await self.exchange.run(call, lambda: self.builder.build(arguments))
        return self._judged(result) if result.mode is Mode.EXECUTE else result

    async def _pages(self, paging: Paging, arguments: JsonObject, most: int) -> Result:
        values: list[Json] = []
        note = ""
        linked = False
        following: JsonObject | None = arguments
        while following is not None and len(values) < most:
            answer = await self.exchange.send(self.builder.build(following))
            result = Result(failure=answer) if isinstance(answer, Failure) else result_of(answer)
            if isinstance(answer, Failure) or result.failure is not None or result.value is None:
                if not values:
                    return result
                place = f"{paging.argument} = {following.get(paging.argument)!r}"
                note = f"Page {len(values) + 1} failed ({result.failure}); go on with {place}."
                break
            if values and result.value == values[-1] and list_in(result.value) is not None:
                note = f"Page {len(values) + 1} came as the page before did: the service has no more."
                following = None
                break
            values.append(result.value)
            following = paging.following(following, answer, result.value, linked=linked)
            linked = next_link(answer, result.value) is not None
        if following is not None and not note:
            note = f"There is more: go on with {paging.argument} = {following[paging.argument]!r}."
        notes = (f"{len(values)} pages were read.", *([note] if note else []))
        return Result(value=joined(values), report=Report(notes=notes, data={"pages": len(values)}))

    def _judged(self, result: Result) -> Result:
        """An answer that is not what the description promises is given as it came, and said."""
        if result.value is None or self._judge is None or self._judge.is_valid(result.value):
            return result
        faults = "; ".join(str(fault) for fault in self._judge.violations(result.value)[:5])
        message = f"The answer is not as the description says: {faults}."
        if self.strict:
            failure = Failure(FailureCode.UPSTREAM, message, next_step="Report it to the service, or do not check it.")
            return Result(failure=failure, report=result.report, mode=result.mode)
        report = result.report or Report()
        return replace(result, report=replace(report, notes=(*report.notes, message)))

    @cached_property
    def _judge(self) -> Validator | None:
        return None if self.output is None else validator(self.output)

    def _shape(self) -> Json:
        """The upstream's own input: parameters and body as the description has them, references followed once."""
        place = self.builder.operation.outline.place
        shape: dict[str, Json] = {"method": self.builder.operation.method, "path": self.builder.operation.path}
        shape["parameters"] = [self._followed(entry) for entry in (place / "parameters").items()]
        if "requestBody" in place.object:
            shape["requestBody"] = self._followed(place / "requestBody")
        shape["input"] = self.builder.inputs.schema
        return shape

    def _followed(self, place: Place) -> Json:
        target = self.documents.follow(place)
        return target.value if target is not None else place.value


def tool_of(
    name: ToolName,
    description: str,
    effects: Effects,
    run: OperationRun,
    *,
    input: Schema,
    auth: str | None,
    source: SourceRef,
) -> Tool:
    """The tool of an operation.

    Parameters:
        name: its full name.
        description: what a model reads.
        effects: what it does.
        run: its handler.
        input: the schema of its arguments, whole and sound.
        auth: what it must be signed in to.
        source: where it comes from.
    """
    operation = run.builder.operation
    meta: dict[str, Json] = {"pegboard/operation": f"{operation.method} {operation.path}"}
    if run.builder.inputs.renamed:
        meta["pegboard/renamed"] = {key: list(place) for key, place in run.builder.inputs.renamed.items()}
    if run.output is not None and not run.strict:
        meta[DOCUMENTED_OUTPUT] = True
    spec = ToolSpec(
        name=name,
        description=description,
        title=operation.summary.strip()[:100] or None,
        input=input,
        output=run.output,
        effects=effects,
        rung=Rung.LOW,
        category=_category(operation),
        auth=auth,
        deprecated=_deprecated(operation),
        aliases=(id,) if (id := operation.outline.id) and id != name.name else (),
        meta=meta,
        source=source,
    )
    own = [Mode.PREVIEW, Mode.DRY_RUN, Mode.SCHEMA]
    if effects is Effects.DESTRUCTIVE:
        return Tool(with_modes(spec, own), run)
    return Tool(with_own_modes(spec, own[1:] if effects is Effects.READ_ONLY else own), run)


def _category(operation: Operation) -> str | None:
    if operation.outline.tags:
        return operation.outline.tags[0]
    parts = [part for part in operation.path.split("/") if part and "{" not in part]
    return parts[0] if parts else None


def _deprecated(operation: Operation) -> str | None:
    if not operation.outline.deprecated:
        return None
    until = f" It ends on {operation.sunset}." if operation.sunset else ""
    return f"The service calls this operation deprecated.{until}"
