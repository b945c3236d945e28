"""What a person is asked: one request, and exactly what a yes to it covers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from secrets import token_hex
from typing import Any, cast

from pegboard.approval.foreign import plain
from pegboard.core import Effects, Mode, Session, ToolSpec
from pegboard.schema.types import Json, JsonObject, digest

SUGGESTION_TAG = "codex_approval_kind"
"""The key by which one client tells a suggestion from the approval of a call."""
LASTS = 300.0
"""Seconds that a question stands by default."""


class Kind(StrEnum):
    """What is asked for; every list keeps the two apart."""

    TOOL_CALL = "tool_call"
    TOOL_SUGGESTION = "tool_suggestion"


@dataclass(frozen=True)
class Item:
    """One thing that a yes covers: this tool, as it is defined now, with these arguments.

    Parameters:
        tool: its full name; for a suggestion the id of what would be installed or enabled.
        arguments: its arguments, checked and mended.
        definition: the digest of its definition.
        effects: what it does to the world.
        mode: how it would run.
        description: what its source says of it; untrusted text.
    """

    tool: str
    arguments: JsonObject
    definition: str
    effects: Effects = Effects.UNKNOWN
    mode: Mode = Mode.EXECUTE
    description: str = ""

    @cached_property
    def fingerprint(self) -> str:
        """Identifies tool, definition and arguments, whatever the order of keys."""
        return digest([self.tool, self.definition, self.arguments])


def item_of(spec: ToolSpec, arguments: JsonObject, mode: Mode = Mode.EXECUTE) -> Item:
    """What a yes to a call of a tool covers.

    Parameters:
        spec: the tool, as it is on the board now.
        arguments: its arguments.
        mode: how it would run.
    """
    return Item(str(spec.name), arguments, definition_of(spec), spec.effects, mode, spec.description[:1000])


def definition_of(spec: ToolSpec) -> str:
    """The digest of a tool's definition, with the source that it comes from: an equal tool of another is another."""
    name, source = spec.name, spec.source
    return digest([spec.digest, name.namespace, name.name, name.version, source.name, source.kind])


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question to a person.

    Parameters:
        id: names it in every channel.
        kind: a call, or a suggestion to install or enable something.
        principal: on whose behalf; an answer, and what is remembered of it, holds for nobody else.
        session: the agent run.
        items: what is asked for; where it is made of others, itself first and then each of them that it covers.
        created: Unix time in seconds.
        expires: when the question is void, likewise.
        agent: the agent's own name; untrusted.
        reason: the model's reason, in its own words; untrusted, cleaned, capped.
        rule: which rule asks.
        schema: the input schema of the one tool, where its arguments may be edited.
        details: what a suggestion says besides (`tool_type`, `action_type`, `tool_name` ...).
    """

    id: str
    kind: Kind
    principal: str
    session: str
    items: tuple[Item, ...]
    created: float
    expires: float
    agent: str | None = None
    reason: str = ""
    rule: str = ""
    schema: JsonObject | None = None
    details: JsonObject = field(default_factory=dict[str, Any])

    @property
    def subject(self) -> str:
        """The name of what is asked for."""
        return self.items[0].tool

    @property
    def definition(self) -> str:
        """The digest of its definition."""
        return self.items[0].definition

    @cached_property
    def fingerprint(self) -> str:
        """Identifies all that is covered."""
        return digest([item.fingerprint for item in self.items]) if self.items[1:] else self.items[0].fingerprint

    @property
    def editable(self) -> bool:
        """Whether the person may change the arguments."""
        return self.schema is not None and len(self.items) == 1

    @property
    def tags(self) -> dict[str, Json]:
        """What every channel sends along, so that a client can tell a suggestion from a call."""
        return {SUGGESTION_TAG: self.kind.value} if self.kind is Kind.TOOL_SUGGESTION else {}

    def to_json(self) -> dict[str, Json]:
        """As plain data, for stores, wires and `--json`."""
        found = {name: value for name, value in asdict(self).items() if name != "items"}
        items = [{**asdict(item), "fingerprint": item.fingerprint} for item in self.items]
        return {**found, **self.tags, "subject": self.subject, "fingerprint": self.fingerprint, "items": items}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Request":
        """Read what `to_json` wrote.

        Raises:
            ValueError: it is damaged.
        """
        try:
            items = tuple(_item(item) for item in row["items"])
            names = ("id", "principal", "session", "created", "expires", "agent", "reason", "rule", "schema", "details")
            return cls(kind=Kind(row["kind"]), items=items, **{name: row[name] for name in names})
        except (KeyError, TypeError) as problem:
            raise ValueError(f"The stored request is damaged: {problem}") from problem


def _item(row: Mapping[str, Any]) -> Item:
    found = {name: row[name] for name in ("tool", "arguments", "definition", "description")}
    return Item(**found, effects=Effects(row["effects"]), mode=Mode(row["mode"]))


def new_request(
    kind: Kind,
    items: Sequence[Item],
    session: Session,
    *,
    now: float,
    lasts: float = LASTS,
    reason: object = "",
    rule: str = "",
    schema: JsonObject | None = None,
    details: JsonObject | None = None,
) -> Request:
    """A request with an id of its own.

    Parameters:
        kind: what is asked for.
        items: what a yes covers, the thing itself first.
        session: who asks.
        now: Unix time in seconds.
        lasts: seconds until it is void.
        reason: the model's reason; cleaned and capped here.
        rule: which rule asks.
        schema: the input schema, where the arguments may be edited.
        details: what a suggestion says besides.
    """
    return Request(
        id=_new_id(),
        kind=kind,
        principal=session.principal,
        session=session.id,
        items=tuple(items),
        created=now,
        expires=now + lasts,
        agent=plain(session.agent, 80) if session.agent else None,
        reason=plain(reason) if isinstance(reason, str) else "",
        rule=rule,
        schema=schema,
        details=cast("JsonObject", details or {}),
    )


def renewed(request: Request, now: float, lasts: float) -> Request:
    """The same question, to be asked once more."""
    return replace(request, id=_new_id(), created=now, expires=now + lasts)


def _new_id() -> str:
    return f"ap_{token_hex(5)}"
