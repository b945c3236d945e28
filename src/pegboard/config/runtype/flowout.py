"""A chain as a flow of Runtype. One that was taken over and not changed since comes back as it was, to the letter."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pegboard.config.runtype.condition import to_javascript, to_script
from pegboard.config.runtype.finding import Finding, Findings, Weight
from pegboard.config.runtype.flow import read_flow
from pegboard.config.runtype.javascript import Part
from pegboard.config.runtype.known import Tools
from pegboard.config.runtype.template import At, emptied
from pegboard.config.runtype.toolid import bare_model, tool_id
from pegboard.errors import DefinitionError
from pegboard.schema.expression import Expression
from pegboard.schema.template import Template, whole
from pegboard.schema.types import Json, JsonObject, as_list, as_object
from pegboard.sources.templated.fill import placeholders

_ENV = re.compile(r"(?<!\$)\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The config that a chain stands in, as its file says it.

    Parameters:
        sources: the tables `[sources.NAME]`.
        agents: the tables `[agent.NAME]`.
    """

    sources: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])
    agents: Mapping[str, JsonObject] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class FlowExport:
    """What a chain becomes.

    Parameters:
        flow: the flow.
        findings: what is said of it.
        as_it_was: whether it is the flow that the chain was made of, unchanged.
    """

    flow: Json
    findings: tuple[Finding, ...] = ()
    as_it_was: bool = False

    @property
    def ok(self) -> bool:
        """Whether the flow does what the chain does."""
        return not any(one.weight is Weight.REFUSED for one in self.findings)


def write_flow(name: str, chain: JsonObject, around: Around, origin: Json = None) -> FlowExport:
    """The flow of a chain.

    Parameters:
        name: the chain's name.
        chain: its table.
        around: the config that it stands in.
        origin: the flow that it was made of, if it was.
    """
    if origin is not None and _stands(name, chain, around, origin):
        return FlowExport(origin, as_it_was=True)
    findings = Findings()
    if origin is not None:
        findings.say(
            Weight.CHANGED,
            "ORIGIN_OUTDATED",
            (),
            "The chain has been changed since it was taken over, so what only the flow had is not in it.",
        )
    writer = _FlowWriter(name, around, findings)
    steps = [made for at, row in enumerate(as_list(chain.get("steps"))) if (made := writer.step(as_object(row), at))]
    flow: dict[str, Json] = {"name": name, "description": chain.get("description", ""), "steps": list(steps)}
    if chain.get("input"):
        flow["inputSchema"] = chain["input"]
    for key, theirs in (("output_variable", "outputVariable"), ("parameter_mapping", "parameterMapping")):
        if chain.get(key):
            flow[theirs] = chain[key]
    if chain.get("output") is not None:
        findings.refuse(
            "OUTPUT_UNSUPPORTED",
            ("output",),
            "A flow returns a variable, and puts nothing together.",
            "Put it together in a last step with `set`, and name that as output_variable.",
        )
    return FlowExport(flow, tuple(findings.all))


def _stands(name: str, chain: JsonObject, around: Around, origin: Json) -> bool:
    """Whether a chain still is what its origin becomes."""
    stand_ins = {id: f"?{id}" for id in _ids(origin)}
    held = {key: value for key, value in chain.items() if key != "origin"}
    for private in (False, True):
        found = read_flow(origin, name=name, tools=Tools(renamed=stand_ins), private=private)
        parts = ((found.sources, around.sources), (found.agents, around.agents))
        if (
            found.ok
            and same(found.chain, held)
            and all(same(table, there.get(key, {})) for wanted, there in parts for key, table in wanted.items())
        ):
            return True
    return False


def _ids(value: Json) -> list[str]:
    """Every id of a tool or an agent in a flow."""
    if isinstance(value, Mapping):
        table = as_object(value)
        own = [str(table[key]) for key in ("toolId", "agentId") if isinstance(table.get(key), str)]
        return [*own, *(id for part in table.values() for id in _ids(part))]
    if isinstance(value, list):
        return [id for part in as_list(value) for id in _ids(part)]
    return []


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal; a stand-in for an id is equal to whatever tool stands for it."""
    if isinstance(one, str) and isinstance(other, str) and one.removeprefix("agents.").startswith("?"):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = as_object(one), as_object(other)
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(one, list) and isinstance(other, list):
        first, second = cast("list[Json]", one), cast("list[Json]", other)
        return len(first) == len(second) and all(map(same, first, second))
    return type(cast("object", one)) is type(cast("object", other)) and one == other


class _FlowWriter:
    def __init__(self, chain: str, around: Around, findings: Findings) -> None:
        self._chain, self._around, self._findings = chain, around, findings
        self._kinds = {str(table.get("prefix", name)): kind_of(table) for name, table in around.sources.items()}
        self._own = {
            f"{table.get('prefix', name)}.{as_object(table[kind]).get('name', name)}": (kind, table)
            for name, table in around.sources.items()
            if (kind := kind_of(table)) in ("http", "script", "wait") and isinstance(table.get(kind), dict)
        }

    def step(self, row: JsonObject, place: int) -> dict[str, Json] | None:
        """One step; None where it cannot be said in a flow."""
        at: At = ("steps", place)
        id = str(row.get("id") or str(row.get("tool", "")).rpartition(".")[2] or f"step_{place + 1}")
        try:
            made = self._made(row, id, at)
        except (ValueError, DefinitionError) as problem:
            self._findings.refuse(
                "EXPRESSION_UNSUPPORTED", at, f"A flow cannot say {problem}.", "Compute it in a step of its own before."
            )
            return None
        if made is None:
            return None
        kind, config = made
        found: dict[str, Json] = {"type": kind, "name": id}
        when = row.get("when")
        if when == "false":
            found["enabled"] = False
        elif when is not None:
            said = to_javascript(Expression.parse(_bare(str(when))), _named)
            if said is None:
                self._findings.refuse(
                    "CONDITION_UNSUPPORTED",
                    (*at, "when"),
                    f"A flow cannot say {when!r} in a condition.",
                    "Compute it in a step before, and let the condition read that.",
                )
                return None
            found["when"] = said
        for key in ("timeout", "mode", "optional"):
            if row.get(key) is not None:
                self._findings.say(
                    Weight.DROPPED, "KEY_WITHOUT_EFFECT", (*at, key), f"A step of a flow has no {key!r}."
                )
        found["config"] = config
        return found

    def _made(self, row: JsonObject, id: str, at: At) -> tuple[str, dict[str, Json]] | None:
        if "set" in row:
            return self._set(row["set"], id)
        if "stop" in row:
            self._findings.refuse(
                "STOP_UNSUPPORTED", (*at, "stop"), "A flow has no step that ends it.", "Let a tool fail in its place."
            )
            return None
        tool, args = str(row.get("tool", "")), as_object(row.get("args"))
        errors = _errors(row)
        own = self._own.get(tool)
        if own is not None:
            kind, config = {"http": self._api_call, "script": self._transform, "wait": self._wait}[own[0]](own[1], args)
            return kind, {**config, "outputVariable": id, **errors}
        if tool.startswith("agents."):
            kind, config = self._asked(tool.removeprefix("agents."), args)
            return kind, {**config, "outputVariable": id, **errors}
        parameters = emptied(dict(args), _named)
        return "tool-call", {
            "toolId": tool_id(tool, self._kinds),
            "parameters": parameters,
            "outputVariable": id,
            **errors,
        }

    def _set(self, value: Json, id: str) -> tuple[str, dict[str, Json]]:
        try:
            return "set-variable", {"variableName": id, "value": emptied(value, _named)}
        except ValueError:
            only = whole(Template.parse(value).parsed)
            said = None if only is None else to_script(only, _named)
            if said is None:
                raise
            return "transform-data", {"script": f"return {said};", "outputVariable": id, "errorHandling": "fail"}

    def _transform(self, table: JsonObject, args: JsonObject) -> tuple[str, dict[str, Json]]:
        """A script that reads its variables under their own names; others are renamed in front of it."""
        code, renamed = str(as_object(table["script"]).get("code", "")), list[str]()
        for name, value in args.items():
            only = whole(Template.parse(value).parsed)
            said = json.dumps(value) if only is None and "${" not in json.dumps(value) else None
            if only is not None:
                said = to_script(only, _named)
            if said is None:
                raise ValueError(f"what the script gets as {name!r}")
            if said != f"input.{name}":
                renamed.append(f"{json.dumps(name)}: {said}")
        if renamed:
            code = f"return await (async (input) => {{ {code}\n}})({{...input, {', '.join(renamed)}}});"
        return "transform-data", {"script": code}

    def _api_call(self, table: JsonObject, args: JsonObject) -> tuple[str, dict[str, Json]]:
        request = {key: value for key, value in as_object(table["http"]).items() if key in _REQUEST}
        given = as_object(emptied(dict(args), _named))
        http = as_object(_put_back(request, given))
        auth: Any = table.get("auth")
        config: dict[str, Json] = {}
        if isinstance(auth, str):
            config["auth"] = {"type": "bearer", "token": secret_back(auth)}
        elif "header" in as_object(auth):
            headers = {**as_object(http.get("headers")), str(auth["header"]): secret_back(str(auth.get("value", "")))}
            http = {**http, "headers": headers}
        elif "username" in as_object(auth):
            password = secret_back(str(auth.get("password", "")))
            config["auth"] = {"type": "basic", "username": auth["username"], "password": password}
        elif auth is not None:
            raise ValueError("how the source signs its requests")
        return "api-call", {"http": {"method": "GET", **http}, **config}

    def _wait(self, table: JsonObject, args: JsonObject) -> tuple[str, dict[str, Json]]:
        wait = as_object(table["wait"])
        config: dict[str, Json] = {}
        if "delay_ms" in wait:
            config["delayMs"] = wait["delay_ms"]
        if wait.get("go_on"):
            config["continueOnTimeout"] = True
        if "request" in wait:
            given = as_object(emptied(dict(args), _named))
            poll: dict[str, Json] = {"http": _put_back(as_object(wait["request"]), given)}
            if wait.get("until") is not None:
                said = to_javascript(Expression.parse(str(wait["until"])), _answered)
                if said is None:
                    raise ValueError(f"the condition {wait['until']!r}")
                poll["success"] = re.sub(r"\{\{(.*?)\}\}", r"\1", said)
            for ours, theirs in (("interval_ms", "intervalMs"), ("max_attempts", "maxAttempts")):
                if ours in wait:
                    poll[theirs] = wait[ours]
            config["poll"] = poll
        return "wait-until", config

    def _asked(self, name: str, args: JsonObject) -> tuple[str, dict[str, Json]]:
        agent, task = self._around.agents.get(name, {}), emptied(args.get("task", ""), _named)
        if not agent or not name.startswith(f"{self._chain}_"):
            return "execute-agent", {"agentId": f"agent:{name}", "message": task}
        config: dict[str, Json] = {"model": bare_model(str(agent.get("model", ""))), "userPrompt": task}
        if agent.get("instructions"):
            config["systemPrompt"] = agent["instructions"]
        if args.get("output") == "json":
            config["responseFormat"] = "json"
        ids: list[Json] = [tool_id(str(each), self._kinds) for each in as_list(agent.get("tools"))]
        tools: dict[str, Json] = {"toolIds": ids} if ids else {}
        if "max_tool_calls" in agent:
            tools["maxToolCalls"] = agent["max_tool_calls"]
        return "prompt", {**config, **({"tools": tools} if tools else {})}


_REQUEST = ("url", "method", "headers", "query", "body")


def kind_of(table: JsonObject) -> str:
    """The kind of a source, by its table; empty where it has none."""
    from pegboard.config.tables import SOURCE_KINDS

    return next((kind.name for kind in SOURCE_KINDS if kind.name in table), "")


def _named(root: str, parts: tuple[Part, ...]) -> str | None:
    """How a path of ours reads in a flow: an input by its own name, a step by its id."""
    names = [*parts] if root == "input" else [root, *parts]
    if not names or not isinstance(names[0], str) or not re.fullmatch(r"[^\W\d][\w$-]*", names[0]):
        return None
    said = names[0]
    for part in names[1:]:
        plain = isinstance(part, int) or re.fullmatch(r"[^\W\d][\w$-]*", part)
        said += f".{part}" if plain else f'["{part}"]'
        if isinstance(part, str) and not plain and ('"' in part or "\\" in part):
            return None
    return said


def _answered(root: str, parts: tuple[Part, ...]) -> str | None:
    return ".".join(map(str, (root, *parts)))


def _put_back(template: Json, given: JsonObject) -> Json:
    """A request with the flow's own templates in the place of the arguments."""
    if isinstance(template, str):
        only = re.fullmatch(r"\{\{\s*([\w.-]+)\s*\}\}", template)
        if only is not None and only[1] in given:
            return given[only[1]]
        text = template
        for name in placeholders(template):
            value = given.get(name, "")
            text = re.sub(r"\{\{\s*" + re.escape(name) + r"\s*\}\}", lambda _, v=value: str(v), text)
        return secret_back(text)
    if isinstance(template, Mapping):
        return {key: _put_back(part, given) for key, part in as_object(template).items()}
    if isinstance(template, list):
        return [_put_back(part, given) for part in as_list(template)]
    return template


def secret_back(text: str) -> str:
    """A text with Runtype's references to secrets in the place of ours."""
    return _ENV.sub(r"{{secret:\1}}", text).replace("$${", "${")


def _errors(row: JsonObject) -> dict[str, Json]:
    retries = int(row.get("retries") or 0)
    chosen = row.get("on_error") or ("default" if "default" in row else "continue" if row.get("optional") else "stop")
    theirs = {"stop": "fail", "continue": "continue", "default": "continue", "retry": "retry"}[str(chosen)]
    retries = retries or (2 if chosen == "retry" else 0)
    fallbacks: list[Json] = [{"type": "retry"} for _ in range(retries)]
    found: dict[str, Json] = {"errorHandling": {"onError": theirs, "fallbacks": fallbacks} if retries else theirs}
    if "default" in row:
        found["defaultValue"] = emptied(row["default"], _named)
    return found


def _bare(text: str) -> str:
    stripped = text.strip()
    return stripped[2:-1] if stripped.startswith("${") and stripped.endswith("}") else stripped
