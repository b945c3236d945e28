"""What a tool is, as data: everything that a model, a person or a policy may want to know before calling it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from pegboard.core.name import ToolName
from pegboard.schema.types import JsonObject, Schema, digest


class Effects(StrEnum):
    """What a call does to the world; the worst that it may do counts."""

    READ_ONLY = "read_only"
    ADDITIVE = "additive"
    IDEMPOTENT = "idempotent"
    DESTRUCTIVE = "destructive"
    UNKNOWN = "unknown"

    @property
    def repeatable(self) -> bool:
        """Whether running the same call twice does no more than running it once."""
        return self in (Effects.READ_ONLY, Effects.IDEMPOTENT)


class Rung(StrEnum):
    """The altitude of a tool on its ladder."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class Relation(StrEnum):
    """What a hint says of the other tool."""

    FIRST = "first"
    THEN = "then"
    INSTEAD = "instead"


@dataclass(frozen=True, slots=True)
class Hint:
    """What to call first, then, or instead.

    Parameters:
        relation: first, then or instead.
        tool: the other tool's name, qualified or bare.
        when: the condition in words, such as "you only have an email".
        parameter: the parameter that the hint is about, if it is about one.
    """

    relation: Relation
    tool: str
    when: str = ""
    parameter: str | None = None

    def __str__(self) -> str:
        subject = f"{self.parameter}: " if self.parameter else ""
        condition = f" if {self.when}" if self.when else ""
        match self.relation:
            case Relation.FIRST:
                return f"{subject}call {self.tool} first{condition}"
            case Relation.THEN:
                return f"{subject}then call {self.tool}{condition}"
            case Relation.INSTEAD:
                return f"{subject}use {self.tool} instead{condition}"


@dataclass(frozen=True, slots=True)
class Freeform:
    """The input of a tool that takes one text instead of arguments.

    Parameters:
        syntax: `text`, `lark` or `regex`.
        definition: the grammar, for `lark` and `regex`.
    """

    syntax: str = "text"
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRef:
    """Which source a tool comes from, and of which kind it is (`mcp`, `python`, `recorded`, `openapi` ...)."""

    name: str
    kind: str


OWN_META = "pegboard/"
"""The keys of `ToolSpec.meta` that begin so are the board's own and stay on it."""

DOCUMENTED_OUTPUT = f"{OWN_META}documented_output"
"""Set in `ToolSpec.meta` where `output` is what somebody's document says and nobody promises: wires leave it out."""

MODEL = f"{OWN_META}model"
"""Set in `ToolSpec.meta` of a tool that answers records of a canonical model, to the model's name."""

EMPTY_INPUT: Schema = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """Frozen description of one tool. Change it with `dataclasses.replace`.

    Parameters:
        name: the full name.
        description: what it does, for a model to choose by.
        title: a name for people.
        input: the JSON Schema of its arguments, repaired without loss, in the author's property order.
        output: the JSON Schema of its structured result, if it declares one.
        freeform: set where the tool takes one text; `input` then has one string property `input`.
        effects: what a call may do to the world.
        costly: whether a call costs enough money or time that it should be previewed.
        defer: the author's wish: True to defer, False to load, None to leave it to the policy.
        modes: the modes it offers besides execute, safest first.
        rung: its altitude, where declared.
        category: what it is about, one word.
        auth: what it needs to be signed in to, such as `oauth:github`.
        hints: what to call first, then, or instead.
        examples: argument objects that are valid under `input`.
        batch: how many items a call takes at most, for a batch form.
        aliases: other names that find it.
        replaces: names of tools, or the sequence, that it replaces.
        deprecated: the migration note, where it is deprecated.
        successor: the tool to call instead, where it is deprecated.
        sunset: the last day on which it answers (ISO 8601, as in the HTTP header of RFC 8594).
        annotations: MCP annotations as the source sent them (hints from an untrusted side).
        icons: MCP icons as the source sent them.
        meta: `_meta` and fields that no one here knows, kept as they came.
        source: where it comes from.
        original_input: the author's schema as it came, where repair changed it; else None.
        accepts: what a call is checked against, where that is looser than `input` (a batch checks each item itself).
    """

    name: ToolName
    description: str = ""
    title: str | None = None
    input: Schema = field(default_factory=lambda: EMPTY_INPUT)
    output: Schema | None = None
    freeform: Freeform | None = None
    effects: Effects = Effects.UNKNOWN
    costly: bool = False
    defer: bool | None = None
    modes: tuple[str, ...] = ()
    rung: Rung | None = None
    category: str | None = None
    auth: str | None = None
    hints: tuple[Hint, ...] = ()
    examples: tuple[JsonObject, ...] = ()
    batch: int | None = None
    aliases: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    deprecated: str | None = None
    successor: str | None = None
    sunset: str | None = None
    annotations: JsonObject = field(default_factory=dict[str, Any])
    icons: tuple[JsonObject, ...] = ()
    meta: JsonObject = field(default_factory=dict[str, Any])
    source: SourceRef = SourceRef("", "python")
    original_input: Any = None
    accepts: Schema | None = None

    @property
    def digest(self) -> str:
        """Identifies this definition (name, texts, schemas, effects); any change changes it."""
        return digest(
            {
                "name": str(self.name),
                "title": self.title,
                "description": self.description,
                "input": self.original_input if self.original_input is not None else self.input,
                "output": self.output,
                "effects": self.effects,
                "annotations": self.annotations,
            }
        )

    @property
    def deprecation(self) -> str | None:
        """What whoever calls a deprecated tool has to know: the note, what to call instead, how long it answers."""
        if self.deprecated is None:
            return None
        note = self.deprecated.strip()
        bare = (self.successor or "").rpartition(".")[2]
        call = f"Call {self.successor} instead." if self.successor and bare not in note else ""
        ends = f"It answers until {self.sunset}." if self.sunset else ""
        more = f"{call} {ends}".strip()
        ended = note if not note or not more or note.endswith((".", "!", "?")) else f"{note}."
        return f"{ended} {more}".strip()

    @property
    def properties(self) -> Mapping[str, Any]:
        """The top-level properties of `input`, in the author's order."""
        found = self.input.get("properties")
        return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
