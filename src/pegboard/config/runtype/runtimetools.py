"""`runtimeTools`: the tools that stand in an agent itself, as sources and agents of a config."""

import re
from collections.abc import Mapping
from typing import Any

from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.request import RequestReader
from pegboard.config.runtype.soundness import without_nulls
from pegboard.config.runtype.template import SECRET, At
from pegboard.config.runtype.toolid import model_name, selector, tool_name
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.sources.templated.fill import placeholders

MOST = 50
RESERVED = frozenset(
    (
        *("tool_search", "tool_call", "tool_describe", "run_code", "code_mode", "spawn_subagent", "asset_read"),
        *("get_platform_documentation", "discoverables_list", "suggest_install"),
    )
)
"""Names of the board's own tools, and of those that Runtype synthesizes."""
_KEYS = ("name", "description", "toolType", "parametersSchema", "config", "idempotent", "hiddenParameterNames")
_KINDS: Mapping[str, str] = {
    "local": 'Offer it from a Python source: [sources.NAME] python = "module".',
    "advisor": "Make it an agent, and let this one ask it: [agent.NAME] offer = true.",
    "search": "Leave it out: the board has its own search.",
    "graphql": 'Describe it as a GraphQL source: [sources.NAME] graphql = "...".',
    "mcp": "Write its server into mcpServers.",
}


_CAPS = (("maxTurns", "max_turns", 1), ("maxCost", "max_cost", 1), ("timeoutMs", "timeout", 1000))


def normal_name(name: str) -> str:
    """A tool's name as Runtype normalises it."""
    found = re.sub(r"_+", "_", re.sub(r"[^a-z0-9_]", "_", name.lower())).strip("_")
    return f"tool_{found}" if found[:1].isdigit() else found


class RuntimeTools:
    """Reads `runtimeTools`.

    Parameters:
        agent: the agent's name, which is the namespace of the tools.
        findings: hears what is to be said.
        tools: what ids mean on the board.
        private: whether requests may go to private addresses.
    """

    def __init__(self, agent: str, findings: Findings, tools: Tools, *, private: bool) -> None:
        self.sources: dict[str, JsonObject] = {}
        self.agents: dict[str, JsonObject] = {}
        self._agent, self._findings, self._tools, self._private = agent, findings, tools, private
        self._names: dict[str, int] = {}

    def read(self, given: Json, at: At) -> list[str]:
        """The selectors of the tools."""
        if given is None:
            return []
        if not isinstance(given, list):
            self._invalid(at, "The runtime tools of an agent are a list.")
            return []
        rows = as_list(given)
        if len(rows) > MOST:
            self._invalid(at, f"There are {len(rows)} runtime tools, and at most {MOST} are taken.")
        found = [self._tool(row, (*at, place), place) for place, row in enumerate(rows)]
        return [name for name in found if name is not None]

    def _invalid(self, at: At, message: str, step: str | None = None) -> None:
        self._findings.refuse("RUNTIME_TOOLS_INVALID", at, message, step)

    def _tool(self, row: Json, at: At, place: int) -> str | None:
        table = as_object(row)
        if not self._valid(table, row, at):
            return None
        name = normal_name(str(table["name"]))
        if not self._named(name, at, place):
            return None
        for key in table:
            if key not in _KEYS:
                self._findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.")
        schema = as_object(without_nulls(table["parametersSchema"], self._findings, (*at, "parametersSchema")))
        self._check_parameters(schema, (*at, "parametersSchema"))
        kind, config = str(table["toolType"]), as_object(table["config"])
        match kind:
            case "external":
                return self._external(name, table, config, schema, at)
            case "custom":
                return self._custom(name, table, config, schema, at)
            case "subagent":
                return self._subagent(name, table, config, (*at, "config"))
            case "flow":
                return self._flow(config, (*at, "config"))
            case _:
                known = kind in _KINDS
                code = "RUNTIME_TOOL_TYPE_UNSUPPORTED" if known else "RUNTIME_TOOLS_INVALID"
                step = _KINDS.get(kind, "Use external, custom, flow or subagent.")
                self._findings.refuse(code, (*at, "toolType"), f"A tool of type {kind!r} is not taken over.", step)
                return None

    def _valid(self, table: JsonObject, row: Json, at: At) -> bool:
        if not isinstance(row, dict):
            self._invalid(at, "A runtime tool is an object.")
            return False
        before = len(self._findings.all)
        for key, wanted, most in (("name", str, 100), ("description", str, 500), ("toolType", str, 50)):
            value: Any = table.get(key)
            if not isinstance(value, wanted) or not value.strip():
                self._invalid((*at, key), f"A runtime tool has a {key}.")
            elif len(value) > most:
                self._invalid((*at, key), f"It is longer than {most} characters.", "Shorten it.")
        if not isinstance(table.get("config"), dict):
            self._invalid((*at, "config"), "A runtime tool has a config.")
        schema = table.get("parametersSchema")
        if not isinstance(schema, dict) or as_object(schema).get("type") != "object":
            self._invalid((*at, "parametersSchema"), "The schema of its parameters has the root type object.")
        timeout: Any = as_object(table.get("config")).get("timeout")
        if isinstance(timeout, int | float) and timeout > 30_000:
            self._invalid((*at, "config", "timeout"), "A runtime tool may take 30,000 ms at most.")
        for hidden in as_list(table.get("hiddenParameterNames")):
            if str(hidden).startswith("_internal"):
                self._invalid((*at, "hiddenParameterNames"), f"{hidden!r} can never be filled.")
            else:
                self._findings.refuse(
                    "HIDDEN_PARAMETERS",
                    (*at, "hiddenParameterNames"),
                    f"{hidden!r} is filled by Runtype's own context, which is not there.",
                    "Take it out of the template, or give it a fixed value.",
                )
        return not any(one.weight is Weight.REFUSED for one in self._findings.all[before:])

    def _named(self, name: str, at: At, place: int) -> bool:
        if not name:
            self._invalid((*at, "name"), "Nothing of its name is left when it is normalised.")
            return False
        if name in RESERVED or name.startswith("runtype_"):
            self._findings.refuse(
                "RESERVED_TOOL_NAME", (*at, "name"), f"{name!r} is the name of a tool of the platform.", "Rename it."
            )
            return False
        if name in self._names:
            self._findings.refuse(
                "TOOL_NAME_AMBIGUOUS",
                (*at, "name"),
                f"{name!r} is the name of the tool at {self._names[name]} as well, once both are normalised.",
                "Rename one.",
            )
            return False
        self._names[name] = place
        return True

    def _check_parameters(self, schema: JsonObject, at: At) -> None:
        for name, node in as_object(schema.get("properties")).items():
            said = as_object(node)
            text = str(said.get("description", "")).lower()
            embedded = "json" in str(said.get("contentMediaType", "")) or "json string" in text
            if said.get("type") == "string" and embedded:
                self._findings.say(
                    Weight.WARNING,
                    "TOOL_PARAM_EMBEDDED_JSON_STRING",
                    (*at, "properties", name),
                    "A text that holds JSON is easily written wrong.",
                    "Declare its members instead.",
                )

    def _own(self, kind: str, name: str, table: JsonObject, **more: Json) -> str:
        self.sources[f"{self._agent}_{name}"] = {kind: {"name": name, **table}, "prefix": self._agent, **more}
        return f"{self._agent}.{name}"

    def _external(self, name: str, table: JsonObject, config: JsonObject, schema: JsonObject, at: At) -> str:
        inside = (*at, "config")
        self._only(config, ("url", "method", "headers", "body", "auth", "timeout"), inside)
        reader = RequestReader(lambda root, parts: root, self._findings, f"{self._agent}_{name}", private=self._private)
        http = {key: config[key] for key in ("url", "method", "headers", "body") if key in config}
        found = reader.request(http, inside)
        if config.get("auth") is not None:
            reader.sign(config["auth"], (*inside, "auth"))
        self._check_template(found.table, schema, inside)
        effects: dict[str, Json] = {"effects": "idempotent"} if table.get("idempotent") is True else {}
        said = {"description": str(table["description"]), **found.table, "parameters": schema, **effects}
        more = {} if found.auth is None else {"auth": found.auth}
        where: dict[str, Json] = {"allow_private": True} if self._private else {"public": True}
        timeout: Any = config.get("timeout")
        if isinstance(timeout, int | float):
            where["call_timeout"] = timeout / 1000
        return self._own("http", name, said, **more, **where)

    def _check_template(self, request: JsonObject, schema: JsonObject, at: At) -> None:
        properties, required = as_object(schema.get("properties")), as_list(schema.get("required"))
        for name in placeholders(dict(request)):
            if name not in properties:
                self._findings.refuse(
                    "TEMPLATE_UNSUPPORTED",
                    at,
                    f"The template reads {name!r}, which is no parameter.",
                    "Add it to parametersSchema.",
                )
            elif name not in required and "default" not in as_object(properties[name]):
                self._findings.say(
                    Weight.WARNING,
                    "OPTIONAL_PARAM_IN_TOOL_TEMPLATE",
                    at,
                    f"{name!r} is optional and stands in the template: without it the request is refused here.",
                    "Make it required, or give it a default.",
                )

    def _custom(self, name: str, table: JsonObject, config: JsonObject, schema: JsonObject, at: At) -> str | None:
        inside = (*at, "config")
        code: Any = config.get("code")
        if not isinstance(code, str) or not code.strip():
            self._invalid((*inside, "code"), "A custom tool has code.")
            return None
        if config.get("language", "javascript") not in ("javascript", "typescript"):
            self._findings.refuse(
                "LANGUAGE_UNSUPPORTED", (*inside, "language"), f"Code in {config['language']} is not taken over."
            )
        if config.get("networkAccess") or config.get("secrets") or SECRET.search(code):
            self._findings.refuse(
                "CODE_REACHES_OUT",
                inside,
                "Code has neither network nor secrets here.",
                "Make the request an external tool, and call it from code mode.",
            )
        self._only(config, ("code", "language", "timeout", "networkAccess", "secrets"), inside)
        body: dict[str, Json] = {"code": code, "description": str(table["description"]), "parameters": schema}
        timeout: Any = config.get("timeout")
        if isinstance(timeout, int) and timeout >= 10:
            body["timeout_ms"] = timeout
        return self._own("script", name, body)

    def _subagent(self, name: str, table: JsonObject, config: JsonObject, at: At) -> str | None:
        taken = ("agentId", "agent", "allowedTools", "maxTurns", "maxCost", "timeoutMs")
        self._only(config, taken, at)
        if config.get("agentId") is not None:
            saved = tool_name(config["agentId"], self._tools.renamed)
            if saved is None:
                self._findings.refuse(
                    "TOOL_ID_NOT_PORTABLE",
                    (*at, "agentId"),
                    f"{config['agentId']!r} is an id of one account.",
                    f"Say which agent it is: --map {config['agentId']}=NAME.",
                )
                return None
            self._findings.say(
                Weight.CHANGED,
                "AGENT_AS_TOOL",
                (*at, "agentId"),
                f"It is called as the tool agents.{saved}.",
                f"Write offer = true in [agent.{saved}].",
            )
            return f"agents.{saved}"
        inner = as_object(config.get("agent"))
        given: Any = as_object(inner.get("config")) or inner
        agent: dict[str, Json] = {
            "model": model_name(given.get("model"), self._findings, (*at, "agent", "model")),
            "description": str(table["description"]),
            "tools": [said for id in as_list(config.get("allowedTools")) if (said := self._pattern(id, at))],
            "offer": True,
        }
        if given.get("systemPrompt"):
            agent["instructions"] = str(given["systemPrompt"])
        for key, ours, scale in (
            ("maxTurns", "max_turns", 1),
            ("maxCost", "max_cost", 1),
            ("timeoutMs", "timeout", 1e3),
        ):
            value: Any = config.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
                agent[ours] = int(value / scale) if value % scale == 0 and isinstance(value, int) else value / scale
        self.agents[f"{self._agent}_{name}"] = agent
        return f"agents.{self._agent}_{name}"

    def _pattern(self, id: Json, at: At) -> str | None:
        said = selector(id, self._tools.renamed) if isinstance(id, str) else None
        if said is None:
            self._findings.refuse(
                "TOOL_ID_NOT_PORTABLE",
                (*at, "allowedTools"),
                f"{id!r} means nothing outside of its account.",
                f"Say which tool it is: --map {id}=TOOL.",
            )
        return said

    def _flow(self, config: JsonObject, at: At) -> str | None:
        chain = tool_name(config.get("flowId"), self._tools.renamed)
        if chain is None:
            self._findings.refuse(
                "TOOL_ID_NOT_PORTABLE",
                (*at, "flowId"),
                f"{config.get('flowId')!r} is an id of one account.",
                "Import the flow (pegboard chain import), and say which chain it is: --map ID=NAME.",
            )
            return None
        keys = [key for key in ("parameterMapping", "outputVariable", "outputMapping") if config.get(key)]
        if keys:
            self._findings.say(
                Weight.CHANGED,
                "FLOW_TOOL",
                at,
                f"The tool is the chain {chain}; {' and '.join(keys)} stand there.",
                f"Write parameter_mapping and output_variable into [chain.{chain}].",
            )
        return chain

    def _only(self, table: JsonObject, known: tuple[str, ...], at: At) -> None:
        for key in table:
            if key not in known:
                self._findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.")
