"""A flow of Runtype as a chain: its steps, and the sources and agents that they need.

Source: runtype-sdk 5.5 (`FlowBuilder`, the request types of flows) and the public skills of runtypelabs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.config.runtype.finding import Finding, Findings, Weight, without_secrets
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.soundness import check_config, check_texts, without_nulls
from pegboard.config.runtype.steps import StepReader
from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, JsonObject, as_list, as_object

_TOP_KEYS = ("name", "description", "steps", "flowSteps", "inputSchema", "outputVariable", "parameterMapping")
_SILENT = ("id", "version", "outputSchema", "createdAt", "updatedAt", "kind", "category")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowImport:
    """What a flow becomes.

    Parameters:
        name: the chain's name.
        chain: its table.
        sources: the sources that its steps call, by name.
        agents: the agents that its steps ask, by name.
        findings: what is said of it.
        origin: the document, with references in the place of secrets.
    """

    name: str
    chain: JsonObject = field(default_factory=dict[str, Any])
    sources: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    agents: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    findings: tuple[Finding, ...] = ()
    origin: Json = None

    @property
    def ok(self) -> bool:
        """Whether it can be taken over."""
        return not any(one.weight is Weight.REFUSED for one in self.findings)

    @property
    def hidden(self) -> list[str]:
        """Selectors of the tools that only this chain is meant to call."""
        return [f"{self.name}.*"] if self.sources else []


def is_flow(document: Json) -> bool:
    """Whether a document is a flow, by itself or inside of a dispatch request."""
    table = as_object(document)
    inner = as_object(table.get("flow")) or as_object(table.get("definition")) or table
    return isinstance(inner.get("steps", inner.get("flowSteps")), list)


def read_flow(
    document: Json,
    *,
    name: str | None = None,
    tools: Tools | None = None,
    private: bool = False,
) -> FlowImport:
    """Read a flow, or a dispatch request or an export that holds one.

    Parameters:
        document: plain data.
        name: what the chain is called; the flow's own name by default.
        tools: what ids of tools and agents mean on the board.
        private: whether its requests may go to private addresses.
    """
    findings = Findings()
    at: tuple[str | int, ...] = ()
    table = as_object(document)
    for key in ("flow", "definition"):
        if isinstance(table.get(key), dict) and "steps" not in table:
            table, at = as_object(table[key]), (key,)
    title = table.get("name")
    called = name or slug(title if isinstance(title, str) else "flow")
    steps_key = "steps" if "steps" in table or "flowSteps" not in table else "flowSteps"
    rows: Any = table.get(steps_key)
    if not isinstance(rows, list) or not rows:
        findings.refuse("FLOW_WITHOUT_STEPS", (*at, steps_key), "A flow has a list of steps.", 'Write "steps": [...].')
        return FlowImport(name=called, findings=tuple(findings.all))
    if title is not None and not isinstance(title, str):
        findings.refuse("WRONG_TYPE", (*at, "name"), "The name is a text.")
    for key in table:
        if key not in _TOP_KEYS and key not in _SILENT:
            findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect on a chain.")
    check_texts(document, findings)
    if findings.refused:
        return FlowImport(name=slug(called), findings=tuple(findings.all))
    reader = StepReader(called, findings, tools or Tools(), private=private)
    reader.read_all(as_list(rows), (*at, steps_key))
    chain = _chain(table, title, reader, findings, at)
    if not findings.refused:
        _check(called, chain, findings)
        check_config({"sources": reader.sources, "agent": reader.agents}, findings, (*at, steps_key))
    return FlowImport(
        name=called,
        chain=chain,
        sources=reader.sources,
        agents=reader.agents,
        findings=tuple(findings.all),
        origin=without_secrets(document, findings.secrets),
    )


def slug(text: str) -> str:
    """A name as a chain may have it."""
    import re

    found = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:50]
    return found if found and found[0].isalpha() else f"flow_{found}".strip("_")


def _chain(
    table: JsonObject, title: Json, reader: StepReader, findings: Findings, at: tuple[str | int, ...]
) -> JsonObject:
    said = table.get("description") or title or "A flow of Runtype."
    chain: dict[str, Json] = {
        "description": str(said).strip() or "A flow of Runtype.",
        "steps": list(reader.scope.steps),
    }
    schema = as_object(table.get("inputSchema"))
    if schema:
        chain["input"] = {**without_nulls(schema, findings, (*at, "inputSchema")), "type": "object"}
    variable: Any = table.get("outputVariable")
    if variable is not None:
        chain |= _output(variable, reader, findings, (*at, "outputVariable"))
    mapping = as_object(table.get("parameterMapping"))
    if mapping:
        chain["parameter_mapping"] = dict(mapping)
    return chain


def _output(variable: Any, reader: StepReader, findings: Findings, at: tuple[str | int, ...]) -> dict[str, Json]:
    if not isinstance(variable, str) or variable.startswith("_"):
        findings.refuse(
            "OUTPUT_VARIABLE", at, f"{variable!r} cannot be an output variable.", "Take one without a leading _."
        )
        return {}
    if variable not in reader.scope.held:
        findings.refuse("OUTPUT_VARIABLE", at, f"No step assigns {variable!r}.", "Name a variable that a step assigns.")
        return {}
    return {"output_variable": reader.scope.root(variable)[0]}


def _check(name: str, chain: JsonObject, findings: Findings) -> None:
    """What was made is a chain; else it is said that it is none."""
    from pegboard.chain import Chain

    try:
        Chain.read(name, chain)
    except DefinitionError as problem:
        findings.refuse("NOT_A_CHAIN", (), str(problem), "Change the flow there, or write the chain by hand.")
