"""A bundle from a finding: wired steps, the ways into it, what it takes and what it returns."""

import keyword
import re
from collections.abc import Mapping
from typing import Any

from pegboard.insight.names import words
from pegboard.insight.propose.ask import Ask
from pegboard.insight.propose.batch import batch_for
from pegboard.insight.propose.entry import entries, wires_of
from pegboard.insight.propose.naming import bundle_name, free, spoken, subject
from pegboard.insight.propose.proposal import Piece, Proposal
from pegboard.insight.propose.reading import reading
from pegboard.schema.types import as_object

LONGEST_LIST = 50
_RESERVED = frozenset(("input", "and", "or", "not", "in", "is", "if", "else", "for", "true", "false", "null", "x"))


def propose_bundle(ask: Ask) -> Proposal:
    """The bundle that a finding asks for, with the batch forms that its list steps need."""
    return _Bundle(ask).proposal()


class _Bundle:
    """One bundle as it is put together, step by step."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.ways = entries(ask)
        self.pieces: list[Piece] = []
        self.steps: list[dict[str, Any]] = []
        self.input: dict[str, Any] = {}
        self.output: dict[str, str] = {}
        self.notes: list[str] = []
        self.ids: list[str] = []
        self.taken: set[str] = {*_RESERVED, *keyword.kwlist}
        self.many: set[int] = set()
        self.args: list[dict[str, Any]] = []

    def proposal(self) -> Proposal:
        row, tools = self.ask.row, self.ask.tools
        self._first()
        for at in range(1, len(tools)):
            self._step(at, tools[at])
        flows = any("from" in wire for wire in row.get("wiring", ()))
        name = self.ask.named(bundle_name(tools, listed=len(tools) - 1 in self.many, flows=flows))
        table = {
            "description": self._description(),
            "replaces": [self.ask.full(tool) for tool in tools] if self.many else [],
            "input": self.input,
            "output": self.output,
            "steps": self.steps,
        }
        self._remark()
        return Proposal(
            finding=self.ask.id,
            pieces=(*self.pieces, Piece(kind="bundle", name=name, table={k: v for k, v in table.items() if v})),
            replaces=tuple(tuple(map(str, chain)) for chain in row.get("replaces", ()) or (tools,)),
            notes=tuple(self.notes),
        )

    def _first(self) -> None:
        several = len(self.ways) > 1
        direct = [way.gives[0] for way in self.ways if not way.tool]
        for way in (way for way in self.ways if way.tool):
            id = self._id(way.tool, exact=bool(self.ids))
            for name in (*way.gives, *way.also):
                self._take(way.tool, name, required=name in way.gives and not several, entry=True)
            args = {name: self._given(name) for name in (*way.gives, *way.also)}
            row: dict[str, Any] = {"id": id, "tool": self.ask.full(way.tool), "args": args}
            if several:
                conditions = [f"{_optional(name)} == null" for name in direct]
                conditions += [f"{before} == null" for before in self.ids]
                conditions += [f"{_optional(name)} != null" for name in way.gives]
                row["when"] = " and ".join(conditions)
            self.ids.append(id)
            self.steps.append(row)
            self.args.append(args)
        for name in direct:
            self._take(self.ask.tools[1], name, required=False)
        if several:
            self._stop(direct)
        ids = self.ids
        ways = [*ids, *(f"input.{_key(name)}" for name in direct), "null"]
        self.output[ids[0]] = f"${{default({', '.join(ways)})}}" if several else f"${{{ids[0]}}}"
        self.entry_ids, self.ids = ids, [ids[0]]
        self.args = self.args[:1]

    def _stop(self, direct: list[str]) -> None:
        nothing = " and ".join(
            [*(f"{_optional(name)} == null" for name in direct), *(f"{id} == null" for id in self.ids)]
        )
        self.steps.append(
            {
                "id": self._fresh("nothing_given"),
                "when": nothing,
                "stop": "Nothing was given to start from.",
                "next_step": f"Give {self._choices()}.",
            }
        )

    def _step(self, at: int, tool: str) -> None:
        wires = wires_of(self.ask.row, at)
        listed = self._listed(at, tool, wires)
        seen: list[str | None] = [
            self.ask.parameter(tool, each["argument"]) for each in self.ask.row["inputs"] if each["step"] == at
        ]
        names = dict.fromkeys([*wires, *(name for name in seen if name), *self.ask.required(tool)])
        args = {name: self._argument(at, tool, name, wires.get(name), many=name == listed) for name in names}
        id = self._id(tool)
        row: dict[str, Any] = {"id": id, "tool": self.ask.full(tool), "args": args}
        if listed:
            piece, row["tool"] = batch_for(self.ask, tool, listed)
            self.pieces += [piece] if piece else []
            row["when"] = f"len({_inside(args[listed])}) > 0"
            self.many.add(at)
        self.ids.append(id)
        self.steps.append(row)
        self.args.append(args)
        self.output[id] = f"${{default({id}.items, [])}}" if listed else f"${{{id}}}"

    def _listed(self, at: int, tool: str, wires: Mapping[str, Mapping[str, Any]]) -> str | None:
        """The parameter over which a step runs for many items: one that an earlier result fills, of a reading tool."""
        if not self.ask.row["steps"][at].get("list") or not self.ask.offer.reads(tool):
            return None
        found = [name for name, wire in wires.items() if "argument" not in wire["from"]]
        return found[0] if len(found) == 1 and not self.ask.offer.takes_list(tool, found[0]) else None

    def _argument(self, at: int, tool: str, name: str, wire: Mapping[str, Any] | None, *, many: bool) -> str:
        origin = as_object(wire["from"]) if wire else {}
        before: dict[str, Any] = self.args[int(origin["step"])] if origin else {}
        shared = before.get(str(origin.get("argument")))
        if shared is not None:
            return str(shared)
        many = many or self.ask.offer.takes_list(tool, name)
        expression = self._read(at, name, origin, many=many) if origin else None
        if expression is None:
            return self._given(
                self._take(tool, name, required=name in self.ask.required(tool) or not self.ask.spec(tool))
            )
        return f"${{default({expression}, [])[:{LONGEST_LIST}]}}" if many else f"${{{expression}}}"

    def _read(self, at: int, name: str, origin: Mapping[str, Any], *, many: bool) -> str | None:
        step = int(origin["step"])
        if step:
            return reading(origin, self.ids[step], many=many, listed=step in self.many)
        ways: list[str] = []
        rows = [way.row for way in self.ways if way.row is not None]
        direct = [way.gives[0] for way in self.ways if way.row is None]
        ways += [f"input.{_key(given)}" for given in direct if at == 1 and given == name]
        for id, row in zip(self.entry_ids, rows, strict=True):
            wire = wires_of(row, at).get(name)
            found = reading(
                wire["from"] if wire and "argument" not in wire["from"] else origin, id, many=many, listed=False
            )
            ways += [found] if found else []
        if not ways:
            return None
        return ways[0] if len(ways) == 1 else f"default({', '.join(ways)})"

    def _take(self, tool: str, name: str, *, required: bool, entry: bool = False) -> str:
        """Add an input for a tool's parameter; returns the input's name.

        Ways in may share one; steps of one name that no wire joins are two values, whatever they are called.
        """
        schema = self.ask.schema(tool, name)
        name = _key(name)
        known = self.input.get(name, self.input.get(f"{name}?"))
        if known is not None and entry and known == _brief(schema):
            return name
        key = (
            name
            if known is None
            else free(_key(f"{name}_of_{words(tool)[-1]}"), {key.rstrip("?") for key in self.input})
        )
        self.input[key if required else f"{key}?"] = _brief(schema)
        return key

    def _given(self, name: str) -> str:
        key = _key(name)
        return f"${{input.{key}}}" if key in self.input else f"${{{_optional(key)}}}"

    def _id(self, tool: str, *, exact: bool = False) -> str:
        return self._fresh("_".join(words(tool) if exact else subject(tool)))

    def _fresh(self, name: str) -> str:
        plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in name)
        id = free((plain if plain[:1].isalpha() else f"step_{plain}")[:48], self.taken)
        self.taken.add(id)
        return id

    def _choices(self) -> str:
        ways = [_listing([_key(name) for name in way.gives]) for way in self.ways if way.gives]
        return " or ".join(ways) if len(ways) < 3 else f"{', or '.join(ways)}"

    def _description(self) -> str:
        tools = self.ask.tools
        parts = [" ".join(subject(tool)) for tool in tools]
        parts = [part for part in parts if not part.endswith(" id")] or parts
        choices = self._choices()
        if all(self.ask.offer.reads(tool) for tool in tools):
            what = f"Get {_listing(parts)} in one call"
        else:
            what = f"{spoken(tools[-1]).capitalize()} in one call, with all that has to happen before"
        by = f", by {choices}" if choices else ""
        sequence = ", then ".join(tool.rpartition(".")[2] for tool in tools)
        return f"{what}{by}. Use it whenever you would call {sequence}."

    def _remark(self) -> None:
        writes = [tool for tool in self.ask.tools if not self.ask.offer.reads(tool)]
        if writes:
            self.notes.append(
                f"It ends in what changes something ({', '.join(writes)}): look at its preview mode before an agent "
                "gets it."
            )
        unknown = [tool for tool in self.ask.tools if self.ask.spec(tool) is None]
        if unknown:
            self.notes.append(f"Not on the board, so it cannot run yet: {', '.join(unknown)}.")
        self.notes.append("Its name is made from the tools' names: choose one that says the task, with --name.")


def _brief(schema: Any) -> Any:
    """A schema as an input table has it: the type alone where there is no more to say."""
    return schema["type"] if set(schema) == {"type"} and isinstance(schema["type"], str) else schema


def _optional(name: str) -> str:
    return f"default(input.{_key(name)}, null)"


def _key(name: str) -> str:
    """The input for a parameter: its name, as an expression and a Python function can hold it."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) or not plain.isidentifier() else plain


def _inside(template: str) -> str:
    return template.removeprefix("${").removesuffix("}")


def _listing(parts: list[str]) -> str:
    each = list(dict.fromkeys(parts))
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
