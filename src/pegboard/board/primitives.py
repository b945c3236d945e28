"""The resources and prompts of a board's sources: listed together, each read from whoever has it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pegboard.board.answered import Target, completed, contents, messages, unstamped
from pegboard.board.attached import Attached
from pegboard.board.gathered import Gathered, Part, gather, namespace_of, supplier_of
from pegboard.catalog import AliasTable
from pegboard.catalog.links import Links
from pegboard.catalog.uri import board_uri, may_expand_to, same_address, source_uri
from pegboard.core import Call, Result, Session, ToolName
from pegboard.core.primitive import AskError, Asking, Primitive, Supplying
from pegboard.errors import PegboardError, SourceError, nearest
from pegboard.invoke.size import Keep, is_cut, size
from pegboard.schema.types import JsonObject, as_object
from pegboard.surface.mcp import REPORT_KEY

NOT_FOUND = -32002
"""The JSON-RPC code where there is no such resource (MCP 2025-11-25, resources: error handling)."""
INVALID = -32602


_READ, _GET = Asking(method="resources/read"), Asking(method="prompts/get")
_COMPLETE = Asking(method="completion/complete")


class UnknownPrimitiveError(PegboardError):
    """No source of the board has a resource or prompt of this name."""


@dataclass
class Primitives:
    """The resources and prompts of a board.

    Parameters:
        sources: the board's sources, by name, in its order.
        shows: whether a session may see a source.
        clean: masks secrets in what went wrong.
        keep: keeps the whole of what was cut.
        max_result: bytes of text of one reading that are shown.
    """

    sources: Callable[[], Mapping[str, Attached]]
    shows: Callable[[Attached, Session | None], bool]
    clean: Callable[[str], str] = lambda text: text
    keep: Keep | None = None
    max_result: int = 100_000
    _aliases: AliasTable = field(default_factory=AliasTable, init=False)
    _last: dict[Primitive, Gathered] = field(default_factory=dict[Primitive, Gathered], init=False)

    async def listed(self, kind: Primitive, session: Session | None = None) -> Gathered:
        """Everything of a kind that the sources list now, under the board's names.

        Parameters:
            kind: resources, templates or prompts.
            session: who asks; None for what every session sees.
        """
        parts = await gather(kind, self.visible(session), self.clean)
        before = self._last.get(kind)
        if before is not None and _same(before.parts, parts):
            return before
        found = Gathered(kind, parts)
        if kind is Primitive.PROMPTS:
            self._aliases = self._aliases.extend(found.names())
            found = replace(found, aliases=self._aliases)
        self._last[kind] = found
        return found

    def visible(self, session: Session | None = None) -> dict[str, Attached]:
        """The sources that a session may see, in the board's order."""
        return {name: one for name, one in self.sources().items() if self.shows(one, session)}

    @property
    def given(self) -> tuple[Primitive, ...]:
        """The lists that somebody has asked for."""
        return tuple(self._last)

    def notes(self, source: str) -> tuple[str, ...]:
        """What was odd about a source's lists when they were read last."""
        return tuple(note for found in self._last.values() for note in found.notes.get(source, ()))

    async def read(self, uri: str, session: Session | None = None, asking: Asking = _READ) -> JsonObject:
        """The `resources/read` answer of whoever has a resource, its texts cut to the board's limit.

        Parameters:
            uri: the address, on the board or in the source's own spelling.
            session: who reads.
            asking: what goes along with the request: `_meta`, and where progress goes.

        Raises:
            UnknownPrimitiveError: no source has it.
            AskError: its source does not answer, or answers with an error.
        """
        target = await self.resource(uri, session)
        raw = await self._asked(target, replace(asking, params={"uri": target.key}))
        whole = contents(raw.get("contents"), target)
        moved = Links(target.source).contents(whole)
        return await self._sized({**raw, "contents": moved}, target, uri, session or Session())

    async def prompt(
        self,
        name: str,
        arguments: JsonObject | None = None,
        session: Session | None = None,
        asking: Asking = _GET,
    ) -> JsonObject:
        """The `prompts/get` answer of whoever has a prompt.

        Parameters:
            name: its name on the board, `ns.name`, or its own where it is the only one.
            arguments: its arguments, texts by name.
            session: who asks.
            asking: what goes along with the request.

        Raises:
            UnknownPrimitiveError: no source has it.
            AskError: its source does not answer, or answers with an error.
        """
        target = await self.named(name, session)
        params: dict[str, Any] = {"name": target.key}
        if arguments is not None:
            params["arguments"] = dict(arguments)
        raw = await self._asked(target, replace(asking, params=params))
        return {**raw, "messages": Links(target.source).messages(messages(raw.get("messages"), target))}

    async def complete(
        self, params: JsonObject, session: Session | None = None, asking: Asking = _COMPLETE
    ) -> JsonObject:
        """The `completion/complete` answer of whoever has the prompt or template that it is about.

        Parameters:
            params: `ref`, `argument` and perhaps `context`, as the method takes them.
            session: who asks.
            asking: what goes along with the request.

        Raises:
            UnknownPrimitiveError: no source has it, or `ref` names nothing.
            AskError: its source does not answer, or answers with an error.
        """
        ref = as_object(params.get("ref"))
        key = "name" if ref.get("type") == "ref/prompt" else "uri"
        if not isinstance(ref.get(key), str):
            raise UnknownPrimitiveError("`ref` must be a ref/prompt with a `name`, or a ref/resource with a `uri`.")
        target = await (self.named if key == "name" else self.resource)(ref[key], session)
        passed = {name: params[name] for name in ("argument", "context") if name in params}
        try:
            raw = await self._asked(target, replace(asking, params={"ref": {**ref, key: target.key}, **passed}))
            return completed(raw, target)
        except AskError as error:
            if error.code == _METHOD_NOT_FOUND:
                return {"completion": {"values": [], "total": 0, "hasMore": False}}
            raise

    async def subscribe(self, target: Target) -> None:
        """Have a resource's source tell of its updates. Raises `AskError`."""
        await (await self._supplier(target.source)).subscribe(target.key)

    async def unsubscribe(self, target: Target) -> None:
        """Take one subscription back; a source that is gone has forgotten it."""
        try:
            await (await self._supplier(target.source, wake=False)).unsubscribe(target.key)
        except AskError:
            return

    async def resource(self, uri: str, session: Session | None = None) -> Target:
        """Which source an address means, and what that calls it; it need not be listed.

        Raises:
            UnknownPrimitiveError: none, or several.
        """
        visible = self.visible(session)
        found = source_uri(uri)
        if found is not None and found[0] in visible:
            source, own = found
            return Target(source, self._spelled(source, own))
        return await self._of_its_own(uri, session)

    async def named(self, name: str, session: Session | None = None) -> Target:
        """Which source's prompt a name means.

        Raises:
            UnknownPrimitiveError: none, or several.
        """
        listed = await self.listed(Primitive.PROMPTS, session)
        known = listed.by_name
        found = [Target(*one) for one in known.get(name, ())] or await self._unlisted(name, session)
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownPrimitiveError(
                f"Several sources have a prompt {name!r}.",
                next_step=f"Name one of: {', '.join(f'{one.source}.{one.key}' for one in found)}.",
            )
        near = [listed.aliases[listed.full(*known[one][0])] for one in nearest(name, known)]
        raise _unknown("prompt", name, list(dict.fromkeys(near)), listed)

    async def _unlisted(self, name: str, session: Session | None) -> list[Target]:
        """A source may know prompts that it does not list."""
        for source, attached in self.visible(session).items():
            try:
                supplier = await supplier_of(attached, wake=False)
            except SourceError:
                continue
            start = f"{namespace_of(attached, supplier)}__" if supplier is not None else "__"
            if name.startswith(start) and len(name) > len(start) > 2:
                return [Target(source, name[len(start) :])]
        return []

    def _spelled(self, source: str, own: str) -> str:
        """The source's own spelling, where a client has escaped an address that the source lists otherwise."""
        listed = self._last.get(Primitive.RESOURCES)
        part = listed.parts.get(source) if listed is not None else None
        known = [str(row["uri"]) for row in part.rows.rows] if part is not None and "%" in own else []
        return own if own in known else same_address(own, known) or own

    async def _of_its_own(self, uri: str, session: Session | None) -> Target:
        """Whose an address is that does not say so: whoever lists it, else whose template it fits."""
        listed = await self.listed(Primitive.RESOURCES, session)
        owners = [source for source, part in listed.parts.items() if any(row["uri"] == uri for row in part.rows.rows)]
        if not owners:
            templates = await self.listed(Primitive.TEMPLATES, session)
            owners = [
                source
                for source, part in templates.parts.items()
                if any(may_expand_to(str(row["uriTemplate"]), uri) for row in part.rows.rows)
            ]
        if len(owners) == 1:
            return Target(owners[0], uri)
        if owners:
            ways = ", ".join(board_uri(source, uri) for source in owners)
            raise UnknownPrimitiveError(f"Several sources may have {uri!r}.", next_step=f"Read one of: {ways}.")
        raise _unknown("resource", uri, nearest(uri, [str(row["uri"]) for row in listed.rows[:2000]]), listed)

    async def _asked(self, target: Target, asking: Asking) -> JsonObject:
        supplier = await self._supplier(target.source)
        try:
            raw = await supplier.ask(asking)
        except AskError as error:
            raise AskError(
                self.clean(error.message), code=error.code, data=error.data, next_step=error.next_step
            ) from None
        if raw.get("resultType", "complete") != "complete":
            raise AskError(f"{target.source!r} asks for more input before it answers, which is not passed on here.")
        return unstamped(raw)

    async def _supplier(self, source: str, *, wake: bool = True) -> Supplying:
        attached = self.sources().get(source)
        try:
            supplier = await supplier_of(attached, wake=wake) if attached is not None else None
        except SourceError as problem:
            raise AskError(
                f"{source} cannot be reached: {self.clean(problem.message)}",
                next_step="Try again in a moment; `pegboard doctor` shows the details.",
            ) from None
        if supplier is None:
            raise AskError(f"{source} has neither resources nor prompts.")
        return supplier

    async def _sized(self, answer: JsonObject, target: Target, uri: str, session: Session) -> JsonObject:
        """The answer within the board's limit; what was cut is said beside it, as in a tool's result."""
        blocks = tuple({"type": "resource", "resource": one} for one in answer["contents"])

        async def whole(_: Call) -> Result:
            return Result(content=blocks)

        call = Call(tool=ToolName(target.source, "resources/read"), arguments={"uri": uri}, session=session)
        result = await size(self.keep, limit_of=lambda _: self.max_result)(whole)(call)
        if not is_cut(result) or result.report is None:
            return answer
        changes = [
            {"kind": one.kind, "where": one.where.replace("/content/", "/contents/", 1), "message": one.message}
            for one in result.report.changes
        ]
        cut = [one for one in result.content if one["type"] == "resource"]
        mark = {"uri": uri, "mimeType": "text/plain", "text": _mark(result.content[-1], changes)}
        shown = [*(one["resource"] for one in cut), mark]
        meta = as_object(answer.get("_meta"))
        return {**answer, "contents": shown, "_meta": {**meta, REPORT_KEY: {"changes": changes}}}


_METHOD_NOT_FOUND = -32601


def _mark(told: JsonObject, changes: Sequence[JsonObject]) -> str:
    """What stands beside cut contents: how much of the texts is shown, or what was left out."""
    if any(one["message"].startswith("kept") for one in changes):
        return str(told["text"])
    return f"[{' '.join(one['message'] for one in changes)}]"


def _same(before: Mapping[str, Part], now: Mapping[str, Part]) -> bool:
    if list(before) != list(now):
        return False
    return all(
        one.error == two.error and one.namespace == two.namespace and (one.rows is two.rows or one.rows == two.rows)
        for one, two in zip(before.values(), now.values(), strict=True)
    )


def _unknown(what: str, name: str, near: Sequence[str], listed: Gathered) -> UnknownPrimitiveError:
    lost = "".join(f" {source} cannot be listed now: {error}" for source, error in listed.errors.items())
    step = f"Did you mean {' or '.join(near)}?" if near else f"List them: {listed.kind.method}."
    return UnknownPrimitiveError(f"No source of this board has a {what} {name!r}.{lost}", next_step=step)
