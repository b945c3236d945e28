"""An agent of Runtype, `config.tools` above all, as an agent of a config and the tables around it.

What Runtype says of one agent (approval, code mode, tool search) our config says of the board.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.config.runtype.finding import Finding, Findings, Weight, without_secrets
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.runtimetools import RuntimeTools
from pegboard.config.runtype.server import server_source
from pegboard.config.runtype.soundness import check_config, check_texts
from pegboard.config.runtype.template import At
from pegboard.config.runtype.toolid import model_name, selector
from pegboard.schema.types import Json, JsonObject, as_list, as_object

TOOLS_KEYS = (
    *("toolIds", "runtimeTools", "mcpServers", "maxToolCalls", "approval", "codeModeConfig", "subagentConfig"),
    *("toolSearch", "perToolLimits", "toolCallStrategy"),
)
_CONFIG_KEYS = ("model", "systemPrompt", "tools", "loopConfig")
_OWNERS = ("openai", "anthropic", "google", "gemini", "xai", "perplexity")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentImport:
    """What an agent becomes.

    Parameters:
        name: its name.
        agent: its table.
        sources: sources that it needs, by name.
        agents: further agents that it needs, by name.
        board: keys of tables of the whole board, by table.
        findings: what is said of it.
        origin: the document, with references in the place of secrets.
    """

    name: str
    agent: JsonObject = field(default_factory=dict[str, Any])
    sources: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    agents: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    board: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    findings: tuple[Finding, ...] = ()
    origin: Json = None

    @property
    def ok(self) -> bool:
        """Whether it can be taken over."""
        return not any(one.weight is Weight.REFUSED for one in self.findings)


def is_agent(document: Json) -> bool:
    """Whether a document is an agent."""
    table = as_object(document)
    inner = as_object(table.get("definition")) or as_object(table.get("agent")) or table
    return isinstance(inner.get("config"), dict) or "systemPrompt" in inner


def read_agent(
    document: Json, *, name: str | None = None, tools: Tools | None = None, private: bool = False
) -> AgentImport:
    """Read an agent, or an answer that holds one.

    Parameters:
        document: `{"name", "description", "config": {...}}`.
        name: what it is called; its own name by default.
        tools: what ids mean on the board.
        private: whether its servers and tools may stand at private addresses.
    """
    from pegboard.config.runtype.flow import slug

    findings, at = Findings(), tuple[str | int, ...]()
    table = as_object(document)
    for key in ("definition", "agent"):
        if isinstance(table.get(key), dict) and "config" not in table:
            table, at = as_object(table[key]), (key,)
    title = table.get("name")
    called = name or slug(title if isinstance(title, str) else "agent")
    config, inside = (as_object(table["config"]), (*at, "config")) if "config" in table else (table, at)
    if not config:
        findings.refuse("AGENT_WITHOUT_CONFIG", (*at, "config"), "An agent has a config.", 'Write "config": {...}.')
        return AgentImport(name=called, findings=tuple(findings.all))
    for key in config:
        if key not in (*_CONFIG_KEYS, "name", "description"):
            findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*inside, key), f"{key!r} has no effect here.")
    check_texts(document, findings)
    if findings.refused:
        return AgentImport(name=slug(called), findings=tuple(findings.all))
    reader = AgentReader(called, findings, tools or Tools(), private=private)
    agent: dict[str, Json] = {"model": model_name(config.get("model"), findings, (*inside, "model"))}
    if table.get("description"):
        agent["description"] = str(table["description"])
    if config.get("systemPrompt"):
        agent["instructions"] = str(config["systemPrompt"])
    agent |= _loop(as_object(config.get("loopConfig")), findings, (*inside, "loopConfig"))
    agent |= reader.read(config.get("tools"), (*inside, "tools"))
    if not findings.refused:
        agents = {called: agent, **reader.agents}
        check_config({"sources": reader.sources, "agent": agents, **reader.board}, findings, inside)
    return AgentImport(
        name=called,
        agent=agent,
        sources=reader.sources,
        agents=reader.agents,
        board=reader.board,
        findings=tuple(findings.all),
        origin=without_secrets(document, findings.secrets),
    )


def tools_of(given: Json, findings: Findings, at: At, tools: Tools, *, step: bool) -> dict[str, Json]:
    """The keys of an agent that a step's `tools` come to; what they need of sources or of the board is refused."""
    reader = AgentReader("step", findings, tools, private=False)
    found = reader.read(given, at)
    if step and (reader.sources or reader.agents or reader.board):
        findings.refuse(
            "STEP_TOOLS_UNSUPPORTED",
            at,
            "Of the tools of a prompt step, toolIds, maxToolCalls and subagentConfig are taken over.",
            "Save them with an agent, import that, and ask it with an execute-agent step.",
        )
    return found


def _loop(loop: JsonObject, findings: Findings, at: At) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in loop.items():
        if key == "maxTurns":
            found["max_turns"] = _whole(value, findings, (*at, key))
        elif key == "maxCost" and isinstance(value, int | float):
            found["max_cost"] = value
        else:
            findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.")
    return found


def _whole(value: Json, findings: Findings, at: At) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        findings.refuse("WRONG_TYPE", at, f"{value!r} is no whole number from 1 on.")
        return 1
    return int(value)


class AgentReader:
    """Reads `config.tools`.

    Parameters:
        agent: the agent's name, which is the namespace of its own tools.
        findings: hears what is to be said.
        tools: what ids mean on the board.
        private: whether private addresses are taken over.
    """

    def __init__(self, agent: str, findings: Findings, tools: Tools, *, private: bool) -> None:
        self.sources: dict[str, JsonObject] = {}
        self.agents: dict[str, JsonObject] = {}
        self.board: dict[str, JsonObject] = {}
        self._agent, self._findings, self._tools, self._private = agent, findings, tools, private

    def read(self, given: Json, at: At) -> dict[str, Json]:
        """The keys of the agent's table."""
        if given is not None and not isinstance(given, dict):
            self._findings.refuse("WRONG_TYPE", at, "The tools of an agent are an object.")
            return {}
        table = as_object(given)
        for key in table:
            if key not in TOOLS_KEYS:
                self._say_dropped((*at, key), f"{key!r} has no effect here.")
        picked = self._ids(table.get("toolIds"), (*at, "toolIds"))
        self._check_owners(table, at)
        own = RuntimeTools(self._agent, self._findings, self._tools, private=self._private)
        picked += own.read(table.get("runtimeTools"), (*at, "runtimeTools"))
        self.sources |= own.sources
        self.agents |= own.agents
        picked += self._servers(table.get("mcpServers"), (*at, "mcpServers"))
        picked += self._code_mode(table.get("codeModeConfig"), (*at, "codeModeConfig"))
        found: dict[str, Json] = {"tools": list(dict.fromkeys(picked))}
        if table.get("maxToolCalls") is not None:
            found["max_tool_calls"] = _whole(table["maxToolCalls"], self._findings, (*at, "maxToolCalls"))
        if table.get("subagentConfig") is not None:
            found["subagents"] = self._subagents(table["subagentConfig"], (*at, "subagentConfig"))
        self._approval(table.get("approval"), (*at, "approval"))
        found |= self._search(table.get("toolSearch"), (*at, "toolSearch"))
        self._limits(table.get("perToolLimits"), (*at, "perToolLimits"))
        self._strategy(table, found, (*at, "toolCallStrategy"))
        return found

    def _ids(self, given: Json, at: At) -> list[str]:
        """Selectors of ours for a list of ids or patterns."""
        if given is None:
            return []
        if not isinstance(given, list):
            self._findings.refuse("WRONG_TYPE", at, "This is a list of tool ids.")
            return []
        found: list[str] = []
        for place, id in enumerate(as_list(given)):
            said = selector(id, self._tools.renamed) if isinstance(id, str) and id.strip() else None
            if said is None:
                step = f"Say which tool it is: --map {id}=TOOL." if isinstance(id, str) else "Write a text."
                self._findings.refuse(
                    "TOOL_ID_NOT_PORTABLE", (*at, place), f"{id!r} means nothing outside of its account.", step
                )
                continue
            found.append(said)
            self._known(said, str(id), (*at, place))
        return found

    def _known(self, said: str, id: str, at: At) -> None:
        known = self._tools.known
        if known is None or "*" in said or ":" in said or said in known:
            return
        if not any(name.rpartition(".")[2] == said for name in known):
            self._findings.say(
                Weight.WARNING,
                "TOOL_NOT_ON_BOARD",
                at,
                f"No tool of the board is {said!r} yet.",
                f"Add its source, or say which tool it is: --map {id}=TOOL.",
            )

    def _servers(self, given: Json, at: At) -> list[str]:
        if given is not None and not isinstance(given, list):
            self._findings.refuse("WRONG_TYPE", at, "The servers of an agent are a list.")
            return []
        picked: list[str] = []
        for place, row in enumerate(as_list(given)):
            made = server_source(row, self._findings, (*at, place), private=self._private)
            if made is not None and made[0] in self.sources:
                self._findings.refuse("SERVER_ID_TAKEN", (*at, place, "id"), f"Two servers are called {made[0]!r}.")
            elif made is not None:
                self.sources[made[0]] = made[1]
                picked.append(f"{made[0]}.*")
        return picked

    def _code_mode(self, given: Json, at: At) -> list[str]:
        if given is None:
            return []
        table = as_object(given)
        self._only(table, ("toolPool", "description", "timeoutMs"), at)
        found: dict[str, Json] = {"tools": list(self._ids(table.get("toolPool"), (*at, "toolPool")))}
        if not found["tools"]:
            self._findings.refuse("WRONG_TYPE", (*at, "toolPool"), "Code mode has a pool of tools.")
        if table.get("description"):
            found["description"] = str(table["description"])
        if table.get("timeoutMs") is not None:
            found["timeout_ms"] = _whole(table["timeoutMs"], self._findings, (*at, "timeoutMs"))
        self._of_board("codemode", found, at)
        return ["run_code"]

    def _subagents(self, given: Json, at: At) -> dict[str, Json]:
        table = as_object(given)
        taken = ("toolPool", "defaultMaxTurns", "maxTurnsLimit", "maxSpawnsPerRun", "allowNesting", "defaultTimeoutMs")
        self._only(table, taken, at)
        found: dict[str, Json] = {"tools": list(self._ids(table.get("toolPool"), (*at, "toolPool")))}
        for key, ours in (("maxSpawnsPerRun", "max_spawns"), ("maxTurnsLimit", "max_turns")):
            if table.get(key) is not None:
                found[ours] = _whole(table[key], self._findings, (*at, key))
        if table.get("defaultMaxTurns") is not None:
            turns = _whole(table["defaultMaxTurns"], self._findings, (*at, "defaultMaxTurns"))
            if "max_turns" in found:
                what = "A default below the limit is not taken over; the limit holds for each."
                self._findings.say(Weight.CHANGED, "DEFAULT_TURNS", (*at, "defaultMaxTurns"), what)
            else:
                found["max_turns"] = turns
        if table.get("defaultTimeoutMs") is not None:
            found["timeout"] = _seconds(_whole(table["defaultTimeoutMs"], self._findings, (*at, "defaultTimeoutMs")))
        if table.get("allowNesting") is not None:
            found["nesting"] = bool(table["allowNesting"])
        return found

    def _approval(self, given: Json, at: At) -> None:
        if given is None:
            return
        table = as_object(given)
        self._only(table, ("require", "timeout"), at)
        require: Any = table.get("require")
        found: dict[str, Json] = {}
        if require is True:
            found["require"] = ["*"]
        elif isinstance(require, list):
            found["require"] = list(self._ids(require, (*at, "require")))
        elif require not in (None, False):
            self._findings.refuse("WRONG_TYPE", (*at, "require"), "It is true, false or a list of tool ids.")
        if table.get("timeout") is not None:
            found["timeout"] = _seconds(_whole(table["timeout"], self._findings, (*at, "timeout")))
        if found:
            self._of_board("approval", found, at)
            self._findings.say(
                Weight.CHANGED,
                "APPROVAL_STRICTER",
                at,
                "Approval holds here for every call, steps of chains and code included, and not for the model's alone.",
            )

    def _search(self, given: Json, at: At) -> dict[str, Json]:
        if given is None:
            return {}
        table = as_object(given)
        self._only(table, ("enabled", "threshold", "alwaysLoaded"), at)
        found: dict[str, Json] = {}
        if table.get("threshold") is not None:
            found["threshold"] = _whole(table["threshold"], self._findings, (*at, "threshold"))
        if table.get("alwaysLoaded") is not None:
            found["always"] = list(self._ids(table["alwaysLoaded"], (*at, "alwaysLoaded")))
        if found:
            self._of_board("board", found, at)
        return {} if table.get("enabled") is None else {"search": "auto" if table["enabled"] else "off"}

    def _limits(self, given: Json, at: At) -> None:
        limits: dict[str, Json] = {}
        for id, row in as_object(given).items():
            self._only(as_object(row), ("maxCalls",), (*at, id))
            said = self._ids([id], at)
            most = as_object(row).get("maxCalls")
            if said and most is not None:
                limits[said[0]] = _whole(most, self._findings, (*at, id, "maxCalls"))
        if limits:
            self._of_board("budget", {"limits": limits}, at)

    def _strategy(self, table: JsonObject, found: dict[str, Json], at: At) -> None:
        chosen = table.get("toolCallStrategy")
        if chosen == "required":
            self._findings.say(
                Weight.CHANGED,
                "TOOL_STRATEGY_REQUIRED_MULTISTEP",
                at,
                "No model is forced to call a tool here: forced over several turns it never answers.",
                "Say in the instructions when a tool must be called.",
            )
        elif chosen == "none":
            if found["tools"]:
                self._findings.say(
                    Weight.WARNING,
                    "TOOL_STRATEGY_NONE_WITH_TOOLS",
                    at,
                    "It has tools and may call none of them; it gets none here.",
                    "Take the tools or the strategy out.",
                )
            found["tools"] = []
        elif chosen not in (None, "auto"):
            self._findings.refuse("WRONG_TYPE", at, f"{chosen!r} is no strategy.", "Use auto, required or none.")

    def _check_owners(self, table: JsonObject, at: At) -> None:
        ids = [
            str(id).removeprefix("builtin:") for id in as_list(table.get("toolIds")) if str(id).startswith("builtin:")
        ]
        owners = list(dict.fromkeys(owner for id in ids for owner in _OWNERS if id.startswith(f"{owner}_")))
        if len(owners) > 1:
            self._findings.say(
                Weight.WARNING,
                "PROVIDER_TOOLS_MIXED_OWNERS",
                (*at, "toolIds"),
                f"Its tools belong to several providers: {', '.join(owners)}; only those of the first run there.",
                "Keep those of one provider.",
            )

    def _of_board(self, name: str, keys: Mapping[str, Json], at: At) -> None:
        self.board[name] = {**self.board.get(name, {}), **keys}
        self._findings.say(
            Weight.CHANGED,
            "BOARD_WIDE",
            at,
            f"Here this holds for the whole board, in [{name}]: {', '.join(keys)}.",
        )

    def _only(self, table: JsonObject, known: tuple[str, ...], at: At) -> None:
        for key in table:
            if key not in known:
                self._say_dropped((*at, key), f"{key!r} has no effect here.")

    def _say_dropped(self, at: At, message: str) -> None:
        self._findings.say(Weight.DROPPED, "KEY_WITHOUT_EFFECT", at, message)


def _seconds(milliseconds: int) -> Json:
    seconds = milliseconds / 1000
    return int(seconds) if seconds == int(seconds) else seconds
