"""An agent of a config as one of Runtype. One that was taken over and not changed since comes back as it was."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pegboard.config.runtype.agent import read_agent
from pegboard.config.runtype.finding import Finding, Findings, Weight
from pegboard.config.runtype.flowout import kind_of, same, secret_back
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.toolid import ACCOUNT, bare_model, tool_id
from pegboard.schema.shorthand import read_object
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.sources.templated.fill import placeholders

_BOARD = ("approval", "board", "budget", "codemode")
_LOOP = (("max_turns", "maxTurns"), ("max_cost", "maxCost"))
_OWN = ("model", "description", "instructions", "tools", "max_tool_calls", *dict(_LOOP), "subagents", "search")
_SUBAGENTS = (
    ("max_turns", "maxTurnsLimit"),
    ("max_spawns", "maxSpawnsPerRun"),
    ("nesting", "allowNesting"),
)
_PLAIN = re.compile(r"[\w.*-]+(?:@[\w.+-]+)?")


@dataclass(frozen=True, slots=True)
class AgentExport:
    """What an agent becomes.

    Parameters:
        agent: the agent.
        findings: what is said of it.
        as_it_was: whether it is what the agent was made of, unchanged.
    """

    agent: Json
    findings: tuple[Finding, ...] = ()
    as_it_was: bool = False

    @property
    def ok(self) -> bool:
        """Whether the agent may do there what it may here, and no more."""
        return not any(one.weight is Weight.REFUSED for one in self.findings)


def write_agent(name: str, tables: JsonObject, origin: Json = None) -> AgentExport:
    """The agent of a config.

    Parameters:
        name: its name.
        tables: the config as its file says it.
        origin: what it was made of, if it was.
    """
    table = as_object(as_object(tables.get("agent"))[name])
    if origin is not None and _stands(name, table, tables, origin):
        return AgentExport(origin, as_it_was=True)
    findings = Findings()
    if origin is not None:
        findings.say(
            Weight.CHANGED,
            "ORIGIN_OUTDATED",
            (),
            "The agent or its board has been changed since it was taken over: what only the original had is not in it.",
        )
    config: dict[str, Json] = {"model": bare_model(str(table.get("model", "")))}
    if table.get("instructions"):
        config["systemPrompt"] = table["instructions"]
    loop = {theirs: table[ours] for ours, theirs in _LOOP if ours in table}
    if loop:
        config["loopConfig"] = loop
    config["tools"] = _ToolsWriter(name, tables, findings).tools(table)
    for key in table:
        if key not in (*_OWN, "origin"):
            findings.say(
                Weight.DROPPED, "KEY_WITHOUT_EFFECT", ("agent", name, key), f"Runtype has no {key!r} of an agent."
            )
    said = {"description": table["description"]} if table.get("description") else {}
    return AgentExport({"name": name, **said, "config": config}, tuple(findings.all))


def _stands(name: str, table: JsonObject, tables: JsonObject, origin: Json) -> bool:
    stand_ins = {id: f"?{id}" for id in _account_ids(origin)}
    held = {key: value for key, value in table.items() if key != "origin"}
    for private in (False, True):
        found = read_agent(origin, name=name, tools=Tools(renamed=stand_ins), private=private)
        parts = ((found.sources, as_object(tables.get("sources"))), (found.agents, as_object(tables.get("agent"))))
        if (
            found.ok
            and same(dict(found.agent), held)
            and all(same(row, there.get(key, {})) for wanted, there in parts for key, row in wanted.items())
            and all(_holds(as_object(tables.get(key)), keys) for key, keys in found.board.items())
        ):
            return True
    return False


def _holds(table: JsonObject, keys: JsonObject) -> bool:
    """Whether a table says what was taken over; a list may hold more by now."""
    for key, value in keys.items():
        held = table.get(key)
        if isinstance(value, list) and isinstance(held, list):
            rest = list(cast("list[Json]", held))
            if not all(any(same(each, other) for other in rest) for each in cast("list[Json]", value)):
                return False
        elif not same(value, held):
            return False
    return True


def _account_ids(value: Json) -> list[str]:
    """Every id of one account in a document, as a value or a key."""
    if isinstance(value, Mapping):
        table = as_object(value)
        return [id for key, part in table.items() for id in (*_account_ids(key), *_account_ids(part))]
    if isinstance(value, list):
        return [id for part in as_list(cast("Any", value)) for id in _account_ids(part)]
    return [value] if isinstance(value, str) and ACCOUNT.fullmatch(value) else []


class _ToolsWriter:
    """Writes `config.tools`."""

    def __init__(self, agent: str, tables: JsonObject, findings: Findings) -> None:
        self._agent, self._findings = agent, findings
        self._board = {name: as_object(tables.get(name)) for name in _BOARD}
        self._sources = {name: as_object(row) for name, row in as_object(tables.get("sources")).items()}
        self._agents = {name: as_object(row) for name, row in as_object(tables.get("agent")).items()}
        self._chains = as_object(tables.get("chain"))
        self._kinds = {str(row.get("prefix", name)): kind_of(row) for name, row in self._sources.items()}
        self._own = {
            f"{row.get('prefix', name)}.{as_object(row[kind]).get('name', name)}": (kind, row)
            for name, row in self._sources.items()
            if (kind := kind_of(row)) in ("http", "script") and isinstance(row.get(kind), dict)
        }
        self._at: tuple[str | int, ...] = ("agent", agent)

    def tools(self, table: JsonObject) -> dict[str, Json]:
        """All that Runtype says there."""
        found: dict[str, Json] = {}
        given = table.get("tools")
        if given is None:
            self._findings.refuse(
                "ALL_TOOLS",
                (*self._at, "tools"),
                "It has every tool of the board, which cannot be said there.",
                "Name its tools.",
            )
        for place, said in enumerate([given] if isinstance(given, str) else as_list(given)):
            self._tool(str(said), found, (*self._at, "tools", place))
        if "max_tool_calls" in table:
            found["maxToolCalls"] = table["max_tool_calls"]
        if table.get("subagents") is not None:
            found["subagentConfig"] = self._subagents(as_object(table["subagents"]), found)
        self._of_board(found, table)
        return found

    def _tool(self, said: str, found: dict[str, Json], at: tuple[str | int, ...]) -> None:
        runtime, servers = found.setdefault("runtimeTools", []), found.setdefault("mcpServers", [])
        namespace, _, rest = said.partition(".")
        if said == "run_code" and self._board["codemode"].get("tools"):
            found["codeModeConfig"] = self._code_mode()
        elif said in self._own:
            runtime.append(self._runtime(*self._own[said], said, at))
        elif namespace == "agents" and rest in self._agents:
            runtime.append(self._asked(rest))
        elif said in self._chains:
            runtime.append(self._flow(said))
        elif rest == "*" and kind_of(self._sources.get(namespace, {})) == "mcp":
            self._server(namespace, self._sources[namespace], servers, found, at)
        else:
            id = self._id(said, at)
            if id is not None:
                found.setdefault("toolIds", []).append(id)
        for key in ("runtimeTools", "mcpServers"):
            if not found[key]:
                del found[key]

    def _id(self, said: str, at: tuple[str | int, ...]) -> str | None:
        if said.startswith("mcp:") or _PLAIN.fullmatch(said):
            return tool_id(said, self._kinds)
        self._findings.refuse(
            "SELECTOR_UNSUPPORTED",
            at,
            f"{said!r} cannot be said there.",
            "Name the tools, or write a pattern of names.",
        )
        return None

    def _ids(self, given: Json, at: tuple[str | int, ...]) -> list[Json]:
        rows = [given] if isinstance(given, str) else as_list(given)
        found = [self._id(str(said), (*at, place)) for place, said in enumerate(rows)]
        return [id for id in found if id is not None]

    def _server(
        self, name: str, row: JsonObject, servers: list[Json], found: dict[str, Json], at: tuple[str | int, ...]
    ) -> None:
        url = row.get("mcp")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            found.setdefault("toolIds", []).append(f"mcp:{name}:*")
            self._findings.say(
                Weight.CHANGED,
                "SERVER_LOCAL",
                at,
                f"The server {name} is a program of this machine.",
                "Register a server of that name there.",
            )
            return
        server: dict[str, Json] = {"id": name, "url": secret_back(url)}
        headers = {key: secret_back(str(value)) for key, value in as_object(row.get("headers")).items()}
        if list(headers) == ["Authorization"] and headers["Authorization"].startswith("Bearer "):
            server["auth"] = {"type": "bearer", "token": headers["Authorization"].removeprefix("Bearer ")}
        elif headers:
            server["auth"] = {"type": "headers", "headers": headers}
        allowed = row.get("allow")
        if allowed is not None:
            server["allowedTools"] = [str(each).removeprefix(f"{name}.") for each in as_list(allowed)]
        if "call_timeout" in row:
            server["timeout"] = _milliseconds(row["call_timeout"])
        if row.get("disabled"):
            server["enabled"] = False
        servers.append(server)

    def _runtime(self, kind: str, row: JsonObject, said: str, at: tuple[str | int, ...]) -> dict[str, Json]:
        body = as_object(row[kind])
        schema = read_object(body.get("parameters"), said)
        if schema is None:
            names = placeholders(dict(body))
            schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        found: dict[str, Json] = {
            "name": said.partition(".")[2],
            "description": body.get("description", said),
            "toolType": "external" if kind == "http" else "custom",
            "parametersSchema": schema,
        }
        if kind == "script":
            config: dict[str, Json] = {"code": body.get("code", "")}
            if "timeout_ms" in body:
                config["timeout"] = body["timeout_ms"]
            return {**found, "config": config}
        config = {key: _back(body[key]) for key in ("url", "method", "headers", "body") if key in body}
        if body.get("query"):
            pairs = "&".join(f"{key}={_back(value)}" for key, value in as_object(body["query"]).items())
            config["url"] = f"{config['url']}{'&' if '?' in str(config['url']) else '?'}{pairs}"
        self._sign(config, row.get("auth"), at)
        if "call_timeout" in row:
            config["timeout"] = _milliseconds(row["call_timeout"])
        idempotent: dict[str, Json] = {"idempotent": True} if body.get("effects") == "idempotent" else {}
        return {**found, "config": config, **idempotent}

    def _sign(self, config: dict[str, Json], auth: Any, at: tuple[str | int, ...]) -> None:
        headers = as_object(config.get("headers"))
        if isinstance(auth, str):
            config["headers"] = {**headers, "Authorization": f"Bearer {secret_back(auth)}"}
        elif "header" in as_object(auth):
            config["headers"] = {**headers, str(auth["header"]): secret_back(str(auth.get("value", "")))}
        elif auth is not None:
            self._findings.refuse("AUTH_UNSUPPORTED", at, "How its source signs cannot be said there.", "Use a header.")

    def _asked(self, name: str) -> dict[str, Json]:
        agent = self._agents[name]
        own = name.startswith(f"{self._agent}_")
        config: dict[str, Json] = {"agentId": f"agent:{name}"}
        if own:
            inner: dict[str, Json] = {"model": bare_model(str(agent.get("model", "")))}
            if agent.get("instructions"):
                inner["systemPrompt"] = agent["instructions"]
            config = {"agent": inner, "allowedTools": self._ids(agent.get("tools"), ("agent", name, "tools"))}
            config |= {theirs: agent[ours] for ours, theirs in _LOOP if ours in agent}
            if "timeout" in agent:
                config["timeoutMs"] = _milliseconds(agent["timeout"])
        task: Json = {"task": {"type": "string", "description": "The whole task."}}
        return {
            "name": name.removeprefix(f"{self._agent}_"),
            "description": agent.get("description") or f"Hand a task to {name}.",
            "toolType": "subagent",
            "parametersSchema": {"type": "object", "properties": task, "required": ["task"]},
            "config": config,
        }

    def _flow(self, name: str) -> dict[str, Json]:
        chain = as_object(self._chains[name])
        schema = read_object(chain.get("input") or None, name) or {"type": "object", "properties": {}}
        config: dict[str, Json] = {"flowId": f"flow:{name}"}
        for ours, theirs in (("parameter_mapping", "parameterMapping"), ("output_variable", "outputVariable")):
            if chain.get(ours):
                config[theirs] = chain[ours]
        said = str(chain.get("description") or f"Run {name}.")
        return {
            "name": name,
            "description": said[:500],
            "toolType": "flow",
            "parametersSchema": schema,
            "config": config,
        }

    def _code_mode(self) -> dict[str, Json]:
        table = self._board["codemode"]
        found: dict[str, Json] = {"toolPool": self._ids(table["tools"], ("codemode", "tools"))}
        if table.get("description"):
            found["description"] = table["description"]
        if "timeout_ms" in table:
            found["timeoutMs"] = table["timeout_ms"]
        self._beyond("codemode", ("tools", "description", "timeout_ms"))
        return found

    def _subagents(self, table: JsonObject, found: dict[str, Json]) -> dict[str, Json]:
        at = (*self._at, "subagents")
        given = table.get("tools")
        pool = as_list(found.get("toolIds")) if given is None else self._ids(given, (*at, "tools"))
        made: dict[str, Json] = {"toolPool": pool}
        made |= {theirs: table[ours] for ours, theirs in _SUBAGENTS if ours in table}
        if "timeout" in table:
            made["defaultTimeoutMs"] = _milliseconds(table["timeout"])
        for key in table:
            if key not in ("tools", "timeout", *(ours for ours, _ in _SUBAGENTS)):
                self._findings.say(
                    Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"Runtype has no {key!r} of subagents."
                )
        return made

    def _of_board(self, found: dict[str, Json], table: JsonObject) -> None:
        approval, board = self._board["approval"], self._board["board"]
        if "require" in approval or "timeout" in approval:
            require = approval.get("require", [])
            every = require in ("*", ["*"])
            made: dict[str, Json] = {"require": True if every else self._ids(require, ("approval", "require"))}
            if "timeout" in approval:
                made["timeout"] = _milliseconds(approval["timeout"])
            found["approval"] = made
        self._beyond("approval", ("require", "timeout"))
        search: dict[str, Json] = {}
        said = table.get("search", board.get("search"))
        if said is not None:
            search["enabled"] = said != "off"
        if "threshold" in board:
            search["threshold"] = board["threshold"]
        if "always" in board:
            search["alwaysLoaded"] = self._ids(board["always"], ("board", "always"))
        if search:
            found["toolSearch"] = search
        limits = {self._id(said, ("budget", "limits", said)): most for said, most in _limits(self._board["budget"])}
        if limits:
            found["perToolLimits"] = {id: {"maxCalls": most} for id, most in limits.items() if id is not None}
        self._beyond("budget", ("limits",))

    def _beyond(self, table: str, known: tuple[str, ...]) -> None:
        for key in self._board[table]:
            if key not in known:
                self._findings.say(
                    Weight.CHANGED, "BOARD_WIDE", (table, key), f"{key!r} of [{table}] holds here, and not there."
                )


def _limits(budget: JsonObject) -> list[tuple[str, Json]]:
    return list(as_object(budget.get("limits")).items())


def _milliseconds(seconds: Any) -> Json:
    found = float(seconds) * 1000
    return int(found) if found == int(found) else found


def _back(value: Json) -> Json:
    if isinstance(value, str):
        return secret_back(value)
    if isinstance(value, Mapping):
        return {key: _back(part) for key, part in as_object(value).items()}
    if isinstance(value, list):
        return [_back(part) for part in as_list(cast("Any", value))]
    return value
