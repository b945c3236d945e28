"""The steps of a flow, each as one or more of a chain."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.config.runtype.finding import Findings, Weight
from pegboard.config.runtype.javascript import NotPlain, Part, condition, free_names, read_inputs, read_path, write_path
from pegboard.config.runtype.kinds import CONFIG_KEYS, DEEPEST, LISTED, REFUSED, STEP_KEYS, TAKEN, ordered
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.request import RequestReader
from pegboard.config.runtype.scope import Scope
from pegboard.config.runtype.template import At, filled
from pegboard.config.runtype.toolid import model_name, tool_name
from pegboard.config.runtype.waits import longest_seconds, read_poll, whole_number
from pegboard.errors import nearest
from pegboard.schema.types import Json, JsonObject, as_list, as_object

_STRATEGIES = ("fail", "continue", "retry")
_RETRIES = 2


@dataclass(frozen=True, slots=True)
class _Here:
    """One step as it is read.

    Parameters:
        config: its config.
        at: where that stands.
        label: its name, or its id.
        own: its own condition in our language.
    """

    config: JsonObject
    at: At
    label: str
    own: str | None


class StepReader:
    """Reads steps into a scope.

    Parameters:
        flow: the chain's name, which is the namespace of the tools that its steps need.
        findings: hears what is to be said.
        tools: what ids mean on the board.
        private: whether requests may go to private addresses.
    """

    def __init__(self, flow: str, findings: Findings, tools: Tools, *, private: bool) -> None:
        self.scope = Scope()
        self.sources: dict[str, JsonObject] = {}
        self.agents: dict[str, JsonObject] = {}
        self._flow, self._findings, self._tools, self._private = flow, findings, tools, private
        self._swallowing: dict[str, At] = {}
        self._readers: dict[str, Callable[[_Here], None]] = {
            "tool-call": self._tool_call,
            "transform-data": self._transform,
            "conditional": lambda here: None,
            "set-variable": self._set_variable,
            "api-call": self._api_call,
            "wait-until": self._wait_until,
            "prompt": self._prompt,
            "execute-agent": self._execute_agent,
        }

    def read_all(self, rows: Sequence[Json], at: At, depth: int = 0) -> None:
        """Read a list of steps in their order."""
        for place, row in ordered(rows):
            self._read(row, (*at, place), depth)

    def _read(self, row: Json, at: At, depth: int) -> None:
        table = as_object(row)
        kind: Any = table.get("type")
        if not isinstance(row, dict) or not isinstance(kind, str):
            self._findings.refuse("STEP_WITHOUT_TYPE", at, "A step is an object with a type.", f"Types: {LISTED}.")
            return
        if kind not in TAKEN:
            self._refuse_type(kind, (*at, "type"))
            return
        if table.get("config") is not None and not isinstance(table["config"], dict):
            self._findings.refuse("WRONG_TYPE", (*at, "config"), "The config of a step is an object.")
            return
        config = as_object(table.get("config"))
        label = str(table.get("name") or table.get("id") or kind)
        self._unheard(table, STEP_KEYS, at)
        self._unheard(config, CONFIG_KEYS[kind], (*at, "config"))
        if table.get("enabled") is False:
            own: str | None = "false"
        else:
            own = self._condition(table["when"], label, (*at, "when")) if table.get("when") not in (None, "") else None
        here = _Here(config, (*at, "config"), label, own)
        if kind == "conditional":
            self._conditional(here, depth)
        else:
            self._readers[kind](here)

    def _refuse_type(self, kind: str, at: At) -> None:
        if kind in REFUSED:
            self._findings.refuse("STEP_TYPE_UNSUPPORTED", at, f"A step {kind!r} is not taken over.", REFUSED[kind])
            return
        near = nearest(kind, [*TAKEN, *REFUSED], limit=1)
        step = f"Did you mean {near[0]}?" if near else f"Types: {LISTED}."
        self._findings.refuse("STEP_TYPE_UNKNOWN", at, f"There is no type of step {kind!r}.", step)

    def _unheard(self, table: JsonObject, known: Sequence[str], at: At) -> None:
        for key in table:
            if key not in known:
                self._findings.say(
                    Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"{key!r} has no effect here.", None
                )

    # What a step has in common with others

    def _condition(self, text: Json, label: str, at: At) -> str | None:
        if not isinstance(text, str):
            if isinstance(text, bool):
                return "true" if text else "false"
            self._findings.refuse("WRONG_TYPE", at, "A condition is a text of JavaScript.")
            return None
        try:
            return condition(text, self._optional)
        except (NotPlain, RecursionError):
            return self._computed_condition(text, label)

    def _computed_condition(self, text: str, label: str) -> str:
        """A condition that is more than plain is computed in the sandbox, in a step before."""
        body = re.sub(r"\{\{\s*([^{}]*?)\s*\}\}", r"input.\1", text)
        names = free_names(body)
        taken = f"const {{{', '.join(names)}}} = input; " if names else ""
        asked, _ = read_inputs(body)
        id = self.scope.fresh(f"{label}_if")
        self._script(id, f"{taken}return Boolean({body});", [*names, *asked], label)
        return id

    def _optional(self, variable: str, parts: tuple[Part, ...]) -> str:
        return self.scope.read(variable, parts, optional=True)

    def _needed(self, variable: str, parts: tuple[Part, ...]) -> str:
        return self.scope.read(variable, parts, optional=False)

    def _fill(self, value: Json, at: At) -> Json:
        return filled(value, self._needed, self._findings, at)

    def _variable(self, here: _Here, key: str = "outputVariable") -> str | None:
        name: Any = here.config.get(key)
        if name is None or name == "":
            return None
        if not isinstance(name, str):
            self._findings.refuse("WRONG_TYPE", (*here.at, key), "A variable is a text.")
            return None
        return name

    def _put(self, here: _Here, variable: str | None, row: Mapping[str, Json], *, tolerant: bool = False) -> None:
        """Add a step whose value is what a variable holds from now on."""
        id = str(row.get("id") or self.scope.fresh(variable or here.label))
        self.scope.add({"id": id, **row}, own=here.own, tolerant=tolerant)
        for name in dict.fromkeys((variable, here.label)):
            if name:
                self.scope.assign(name, id, here.own)

    def _errors(self, here: _Here, *, unset: str) -> dict[str, Json]:
        """What a failure does: as the step says, else as its kind does it."""
        given: Any = here.config.get("errorHandling")
        at = (*here.at, "errorHandling")
        table = as_object(given)
        chosen: Any = given if isinstance(given, str) else table.get("onError") if table else None
        if given is not None and chosen not in _STRATEGIES:
            self._findings.refuse(
                "ERROR_HANDLING", at, f"{given!r} is no way to handle errors.", f"Use {', '.join(_STRATEGIES)}."
            )
            return {}
        rows = [as_object(each) for each in as_list(table.get("fallbacks"))]
        retries = sum(row.get("type") == "retry" for row in rows)
        for place, row in enumerate(rows):
            if row.get("type") != "retry":
                what = f"The fallback {row.get('type')!r} is not taken over."
                self._findings.say(Weight.CHANGED, "FALLBACK_UNSUPPORTED", (*at, "fallbacks", place), what)
        found: dict[str, Json] = {}
        if chosen == "retry":
            return {"on_error": "retry", "retries": retries or _RETRIES}
        if retries:
            found["retries"] = min(retries, 20)
        default: Any = here.config.get("defaultValue", table.get("defaultValue"))
        if (chosen or unset) == "continue":
            found |= {"default": self._fill(default, at)} if default is not None else {"on_error": "continue"}
        return found

    def _source(self, kind: str, id: str, table: JsonObject, **more: Json) -> str:
        """A source with one tool that only this chain calls; the tool's name."""
        self.sources[f"{self._flow}_{id}"] = {kind: {"name": id, **table}, "prefix": self._flow, **more}
        return f"{self._flow}.{id}"

    def _script(self, id: str, code: str, names: Sequence[str], label: str, **more: Json) -> None:
        args: dict[str, Json] = {}
        for name in dict.fromkeys(names):
            args[name] = f"${{{self._optional(name, ())}}}"
        properties: dict[str, Json] = {name: {} for name in args}
        schema: Json = {"type": "object", "properties": properties, "additionalProperties": True}
        said = f"Compute {label.strip() or id}."
        tool = self._source("script", id, {"code": code, "description": said[:500], "parameters": schema})
        row: dict[str, Json] = {"id": id, "tool": tool, "args": args, **more}
        self.scope.add(row, tolerant=True)

    # The types

    def _tool_call(self, here: _Here) -> None:
        tool = self._tool(here.config.get("toolId"), (*here.at, "toolId"))
        parameters: Any = here.config.get("parameters")
        if parameters is not None and not isinstance(parameters, dict):
            self._findings.refuse("WRONG_TYPE", (*here.at, "parameters"), "The parameters of a tool are an object.")
            return
        args = self._fill(as_object(parameters), (*here.at, "parameters"))
        errors = self._errors(here, unset="continue")
        self._put(here, self._variable(here), {"tool": tool or "", "args": args, **errors}, tolerant=_may_fail(errors))

    def _tool(self, given: Json, at: At) -> str | None:
        found = tool_name(given, self._tools.renamed)
        if found is None:
            what = f"{given!r} is an id of one account." if isinstance(given, str) else "It names no tool."
            self._findings.refuse(
                "TOOL_ID_NOT_PORTABLE" if isinstance(given, str) and given else "TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL",
                at,
                what,
                f"Say which tool it is: --map {given}=TOOL." if isinstance(given, str) and given else "Write toolId.",
            )
            return None
        known = self._tools.known
        if known is None or found in known:
            return found
        bare = [name for name in known if name.rpartition(".")[2] == found.rpartition(".")[2]]
        if len(bare) == 1 and "." not in found:
            return bare[0]
        near = bare or nearest(found, known)
        self._findings.refuse(
            "TOOL_CALL_STEP_UNKNOWN_CATALOG_TOOL",
            at,
            f"No tool of the board is {found!r}.",
            f"Nearest: {', '.join(near)}. Say which one it is: --map {given}=TOOL."
            if near
            else "Add its source first.",
        )
        return None

    def _transform(self, here: _Here) -> None:
        script: Any = here.config.get("script")
        if not isinstance(script, str) or not script.strip():
            self._findings.refuse("SCRIPT_MISSING", (*here.at, "script"), "A transform-data step has a script.")
            return
        language = here.config.get("language", "javascript")
        if language not in ("javascript", "typescript"):
            self._findings.refuse(
                "LANGUAGE_UNSUPPORTED",
                (*here.at, "language"),
                f"Scripts in {language} are not taken over.",
                "Write it in JavaScript.",
            )
        names, whole = read_inputs(script)
        names += [name for name in self.scope.held if whole and name not in names]
        for name in names:
            held = self.scope.held.get(name)
            if isinstance(held, str) and held in self._swallowing:
                self._findings.say(
                    Weight.WARNING,
                    "FETCH_CLASS_SWALLOWING_FEED",
                    self._swallowing[held],
                    f"A failure of this request is an empty value to {here.label!r}, which reads it.",
                    'Set errorHandling to "fail".',
                )
        errors = self._errors(here, unset="fail")
        variable = self._variable(here)
        id = self.scope.fresh(variable or here.label)
        self._script(id, script, names, here.label, **errors)
        row = self.scope.steps.pop()
        self._put(here, variable, {key: value for key, value in row.items() if key != "when"}, tolerant=True)

    def _set_variable(self, here: _Here) -> None:
        name = self._variable(here, "variableName")
        if name is None:
            if here.config.get("variableName") in (None, ""):
                self._findings.refuse("VARIABLE_MISSING", (*here.at, "variableName"), "It names no variable.")
            return
        self._put(here, name, {"set": self._fill(here.config.get("value"), (*here.at, "value"))}, tolerant=True)

    def _conditional(self, here: _Here, depth: int) -> None:
        if depth >= DEEPEST:
            self._findings.refuse(
                "CONDITIONAL_TOO_DEEP",
                here.at,
                f"Conditionals stand at most {DEEPEST} deep in one another.",
                "Compute one condition in a transform-data step.",
            )
            return
        text: Any = here.config.get("condition")
        if text is None or text == "":
            self._findings.refuse("CONDITION_MISSING", (*here.at, "condition"), "A conditional has a condition.")
            return
        for key in ("trueSteps", "falseSteps"):
            if here.config.get(key) is not None and not isinstance(here.config[key], list):
                self._findings.refuse("WRONG_TYPE", (*here.at, key), "The steps of a branch are a list.")
                return
        outer = self.scope.guards
        if here.own:
            self.scope.guards = (*outer, here.own)
        said = self._condition(text, here.label, (*here.at, "condition"))
        id = self.scope.fresh(here.label)
        self.scope.add({"id": id, "set": f"${{{said or 'false'}}}"})
        inner, before = self.scope.guards, dict(self.scope.held)
        sides: list[dict[str, Any]] = []
        for key, guard in (("trueSteps", id), ("falseSteps", f"not {id}")):
            self.scope.held, self.scope.guards = dict(before), (*inner, guard)
            self.read_all(as_list(here.config.get(key)), (*here.at, key), depth + 1)
            sides.append(self.scope.held)
        self.scope.held, self.scope.guards = {}, outer
        self.scope.merge(id, *sides)

    def _api_call(self, here: _Here) -> None:
        variable = self._variable(here)
        mapping: Any = here.config.get("responseMapping")
        id = self.scope.fresh(f"{variable or here.label}{'_answer' if mapping else ''}")
        reader = RequestReader(self._needed, self._findings, f"{self._flow}_{id}", private=self._private)
        http = {**as_object(here.config.get("http"))}
        if here.config.get("requestTemplate") is not None and "body" not in http:
            http["body"] = here.config["requestTemplate"]
        found = reader.request(http, (*here.at, "http"))
        if here.config.get("auth") is not None:
            reader.sign(here.config["auth"], (*here.at, "auth"))
        errors = self._errors(here, unset="continue")
        table = {"description": f"{here.label.strip()}."[:500], **found.table, "parameters": _any(found.args)}
        more = {} if found.auth is None else {"auth": found.auth}
        where: dict[str, Json] = {"allow_private": True} if self._private else {"public": True}
        tool = self._source("http", id, table, **more, **where)
        row: dict[str, Json] = {"id": id, "tool": tool, "args": found.args, **errors}
        if "errorHandling" not in here.config:
            self._swallowing[id] = here.at
        self._put(here, None if mapping else variable, row, tolerant=_may_fail(errors))
        if mapping:
            self._mapped(here, variable, id, mapping)

    def _mapped(self, here: _Here, variable: str | None, id: str, mapping: Any) -> None:
        found: dict[str, Json] = {}
        for key, path in as_object(mapping).items():
            read = read_path(f"x.{str(path).removeprefix('$.').removeprefix('$')}") if isinstance(path, str) else None
            if read is None:
                at = (*here.at, "responseMapping", key)
                self._findings.refuse("MAPPING_UNSUPPORTED", at, f"{path!r} is no path.", 'Write "data.id".')
                return
            found[key] = f"${{default({write_path(id, read[1])}, null)}}"
        self._put(here, variable, {"set": found}, tolerant=True)

    def _wait_until(self, here: _Here) -> None:
        table: dict[str, Json] = {}
        args: dict[str, Json] = {}
        delay: Any = here.config.get("delayMs")
        if delay is not None:
            table["delay_ms"] = whole_number(delay, self._findings, (*here.at, "delayMs"))
        id = self.scope.fresh(self._variable(here) or here.label)
        poll = here.config.get("poll")
        where: dict[str, Json] = {}
        if poll is not None:
            request = RequestReader(self._needed, self._findings, f"{self._flow}_{id}", private=self._private)
            args = read_poll(as_object(poll), table, request, self._findings, (*here.at, "poll"))
            where = {"allow_private": True} if self._private else {"public": True}
        if not table:
            step = "Give delayMs, or poll with http and success."
            self._findings.refuse("WAIT_FOR_NOTHING", here.at, "It waits for nothing that is known here.", step)
            return
        if here.config.get("continueOnTimeout"):
            table["go_on"] = True
        longest = longest_seconds(table)
        tool = self._source("wait", id, table, call_timeout=longest, **where)
        errors = self._errors(here, unset="continue")
        self._put(here, self._variable(here), {"id": id, "tool": tool, "args": args, **errors}, tolerant=True)

    def _prompt(self, here: _Here) -> None:
        config = here.config
        said: Any = config.get("userPrompt", config.get("text"))
        if not isinstance(said, str) or not said.strip():
            self._findings.refuse("PROMPT_MISSING", (*here.at, "userPrompt"), "A prompt step says what is asked.")
            return
        id = self.scope.fresh(self._variable(here) or here.label)
        name = f"{self._flow}_{id}"
        system: Any = config.get("systemPrompt") or ""
        instructions = str(system)
        if "{{" in instructions:
            said, instructions = f"{instructions}\n\n{said}", ""
            self._findings.say(
                Weight.CHANGED,
                "INSTRUCTIONS_WITH_TEMPLATES",
                (*here.at, "systemPrompt"),
                "Instructions with templates in them go in front of the task.",
            )
        agent: dict[str, Json] = {"model": model_name(config.get("model"), self._findings, (*here.at, "model"))}
        if instructions:
            agent["instructions"] = instructions
        from pegboard.config.runtype.agent import tools_of

        agent |= tools_of(config.get("tools"), self._findings, (*here.at, "tools"), self._tools, step=True)
        agent.setdefault("tools", [])
        self.agents[name] = {**agent, "search": "off", "offer": True}
        self._ask(
            here, id, name, said, "userPrompt", as_json=str(config.get("responseFormat", "text")).lower() == "json"
        )

    def _execute_agent(self, here: _Here) -> None:
        given: Any = here.config.get("agentId")
        agent = tool_name(given, self._tools.renamed)
        name = None if agent is None else agent.removeprefix("agents.")
        known = self._tools.agents
        if name is None or (known is not None and name not in known):
            near = nearest(str(given).removeprefix("agent:"), known or ())
            there = f"There are: {', '.join(near or known or ())}." if known else "Write [agent.NAME]."
            self._findings.refuse(
                "AGENT_UNKNOWN",
                (*here.at, "agentId"),
                f"{given!r} is no agent of this config.",
                f"{there} Say which one it is: --map {given}=NAME.",
            )
            return
        message: Any = here.config.get("message")
        if not isinstance(message, str) or not message.strip():
            self._findings.refuse("PROMPT_MISSING", (*here.at, "message"), "The step says nothing to the agent.")
            return
        self._findings.say(
            Weight.CHANGED,
            "AGENT_AS_TOOL",
            (*here.at, "agentId"),
            f"The agent is called as the tool agents.{name}.",
            f"Write offer = true in [agent.{name}].",
        )
        id = self.scope.fresh(self._variable(here) or here.label)
        self._ask(here, id, name, message, "message", as_json=False)

    def _ask(self, here: _Here, id: str, agent: str, said: str, key: str, *, as_json: bool) -> None:
        args: dict[str, Json] = {"task": self._fill(said, (*here.at, key)), **({"output": "json"} if as_json else {})}
        errors = self._errors(here, unset="continue")
        row = {"id": id, "tool": f"agents.{agent}", "args": args, **errors}
        self._put(here, self._variable(here), row, tolerant=_may_fail(errors))


def _may_fail(errors: JsonObject) -> bool:
    return "on_error" in errors and errors["on_error"] == "continue"


def _any(args: JsonObject) -> Json:
    properties: dict[str, Json] = {name: {} for name in args}
    return {"type": "object", "properties": properties}
