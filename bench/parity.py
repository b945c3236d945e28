"""Is what real servers answer the same through the gateway? Every tool, resource and prompt, by every client.

    npm install --prefix bench/peers --no-package-lock --ignore-scripts
    python bench/parity.py [--servers everything,git] [--clients sdk,legacy,fastmcp,typescript,inspector] [--json FILE]

Each client takes the same steps three times: twice at the server itself, once at a gateway over it (`pegboard serve`).
Names and addresses of the board are turned back into the server's own, then the answers are compared as JSON. What
differs between the first two runs (times, random numbers) is not compared. Differences that are meant are named with
their reason; the exit code is 1 if there are others.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

sys.path.insert(0, str(Path(__file__).parent))
from peers.plans import HERE, PLANS, Plan

BIN = Path(sys.executable).parent
CLOCK = re.compile(r"\b\d\d:\d\d:\d\d(\.\d+)?\b")
"""A time of day: two runs within one second agree by chance, so it is never compared."""
ASIDE = object()
"""Stands where two runs of the same server differ."""

PATIENCE = 20.0
"""Seconds for one step."""

Step = Mapping[str, Any]
Taking = Callable[["Place", Sequence[Step]], Awaitable[list[Any]]]


@dataclass(frozen=True)
class Place:
    """A server, or a gateway over it, as a client starts it."""

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str


@dataclass
class Tally:
    """What the comparisons came to."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[dict[str, Any]] = field(default_factory=list)


# The steps


def steps_of(plan: Plan, tools: Sequence[str], uris: Sequence[str], prompts: Sequence[str]) -> list[Step]:
    """Everything that a server is asked; a tool or prompt that the plan does not know is an error of the plan's."""
    found: list[Step] = []
    if plan.listed:
        return found
    for name in [*plan.calls, *(name for name in tools if name not in plan.calls)]:
        if name in plan.skipped:
            continue
        for arguments in _each(plan.calls[name]):
            found.append({"kind": "call", "name": name, "arguments": arguments})
    found += [{"kind": "read", "uri": uri} for uri in (*uris, *plan.reads)]
    for name in prompts:
        found += [{"kind": "get", "name": name, "arguments": one} for one in _each(plan.gets[name])]
    return found + [{"kind": "complete", "ref": ref, "argument": argument} for ref, argument in plan.completes]


def _each(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def renamed(step: Step, source: str) -> Step:
    """The step as the board calls things."""
    if step["kind"] == "complete":
        ref = step["ref"]
        key = "name" if "name" in ref else "uri"
        return {**step, "ref": {**ref, key: _name(ref[key], source, key)}}
    key = "uri" if step["kind"] == "read" else "name"
    return {**step, key: _name(step[key], source, key)} if key in step else step


def _name(own: str, source: str, key: str) -> str:
    return f"pegboard://{source}/{own}" if key == "uri" else f"{source}__{own}"


def unnamed(value: Any, source: str) -> Any:
    """An answer of the board in the server's own names."""
    if isinstance(value, str):
        return value.replace(f"pegboard://{source}/", "").replace(f"{source}__", "")
    if isinstance(value, list):
        return [unnamed(one, source) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: unnamed(one, source) for key, one in value.items() if not _is_stamp(key, one)}


def _is_stamp(key: str, value: Any) -> bool:
    """Whether a `_meta` only says whose answer it is, as the stateless family wants it of the gateway."""
    return key == "_meta" and isinstance(value, dict) and list(value) == ["io.modelcontextprotocol/serverInfo"]


# The clients


def sdk(mode: str) -> Taking:
    """The SDK's client, in a mode."""

    async def take(place: Place, steps: Sequence[Step]) -> list[Any]:
        async with Client(stdio_client(_parameters(place)), mode=mode) as client:
            return [await _taken(lambda step=step: _by_sdk(client, step)) for step in steps]

    return take


async def _by_sdk(client: Client, step: Step) -> Any:
    match step["kind"]:
        case "tools":
            return await _all(client.list_tools, "tools")
        case "resources":
            return await _all(client.list_resources, "resources")
        case "templates":
            return await _all(client.list_resource_templates, "resource_templates")
        case "prompts":
            return await _all(client.list_prompts, "prompts")
        case "call":
            return _plain(await client.call_tool(step["name"], step["arguments"]))
        case "read":
            return _plain(await client.read_resource(step["uri"]))
        case "get":
            return _plain(await client.get_prompt(step["name"], step["arguments"]))
        case _:
            return _plain(await client.complete(_ref(step["ref"]), step["argument"]))


async def fastmcp(place: Place, steps: Sequence[Step]) -> list[Any]:
    """FastMCP's client."""
    from fastmcp import Client as FastClient
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(place.command, list(place.args), env=dict(place.env), cwd=place.cwd, keep_alive=False)
    async with FastClient(transport) as client:
        return [await _taken(lambda step=step: _by_fastmcp(client, step)) for step in steps]


async def _by_fastmcp(client: Any, step: Step) -> Any:
    match step["kind"]:
        case "tools" | "resources" | "prompts" as kind:
            return [_plain(one) for one in await getattr(client, f"list_{kind}")()]
        case "templates":
            return [_plain(one) for one in await client.list_resource_templates()]
        case "call":
            return _plain(await client.call_tool_mcp(step["name"], step["arguments"]))
        case "read":
            return _plain(await client.read_resource_mcp(step["uri"]))
        case "get":
            return _plain(await client.get_prompt_mcp(step["name"], step["arguments"]))
        case _:
            return _plain(await client.complete_mcp(_ref(step["ref"]), step["argument"]))


async def typescript(place: Place, steps: Sequence[Step]) -> list[Any]:
    """The TypeScript SDK's client, in a process of its own."""
    given = {**vars(place), "steps": [dict(step) for step in steps]}
    done = await anyio.run_process(["node", "client.mjs"], input=json.dumps(given).encode(), cwd=HERE, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-500:])
    return json.loads(done.stdout)


async def inspector(place: Place, steps: Sequence[Step]) -> list[Any]:
    """The MCP Inspector's command line, a process for each step."""
    return [await _by_inspector(place, step) for step in steps]


async def _by_inspector(place: Place, step: Step) -> Any:
    kind = step["kind"]
    methods = {
        "templates": "resources/templates/list",
        "call": "tools/call",
        "read": "resources/read",
        "get": "prompts/get",
    }
    more: list[str] = ["--method", methods.get(kind, f"{kind}/list")]
    named = {"call": ("--tool-name", "--tool-arg"), "get": ("--prompt-name", "--prompt-args")}
    if kind in named:
        flag, argument = named[kind]
        more += [flag, step["name"]]
        for key, value in (step["arguments"] or {}).items():
            more += [argument, f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    if kind == "read":
        more += ["--uri", step["uri"]]
    env = [part for key, value in place.env.items() for part in ("-e", f"{key}={value}")]
    command = [str(HERE / "node_modules/.bin/mcp-inspector"), "--cli", *env, place.command, *place.args, *more]
    done = await anyio.run_process(command, cwd=place.cwd, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = (done.stderr or done.stdout).decode()
        return {
            "error": {"code": None, "message": next(iter(re.findall(r"(?m)^.*(?:rror|failed).*$", said)), said)[:300]}
        }
    return found[next(iter(found))] if kind in ("tools", "resources", "templates", "prompts") else found


CLIENTS: Mapping[str, Taking] = {
    "sdk": sdk("auto"),
    "legacy": sdk("legacy"),
    "fastmcp": fastmcp,
    "typescript": typescript,
    "inspector": inspector,
}


def _parameters(place: Place) -> StdioServerParameters:
    return StdioServerParameters(command=place.command, args=list(place.args), env=dict(place.env), cwd=place.cwd)


async def _taken(take: Callable[[], Awaitable[Any]]) -> Any:
    try:
        with anyio.fail_after(PATIENCE):
            return await take()
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message}}
    except Exception as error:
        return {"error": {"code": None, "message": f"{type(error).__name__}: {error}"[:300]}}


async def _all(list_: Any, member: str) -> list[Any]:
    rows: list[Any] = []
    page = await list_()
    while True:
        rows += [_plain(row) for row in getattr(page, member)]
        if page.next_cursor is None:
            return rows
        page = await list_(cursor=page.next_cursor)


def _plain(found: Any) -> Any:
    return found.model_dump(by_alias=True, exclude_none=True, mode="json")


def _ref(ref: Mapping[str, str]) -> Any:
    from mcp_types import PromptReference, ResourceTemplateReference

    return PromptReference(name=ref["name"]) if "name" in ref else ResourceTemplateReference(uri=ref["uri"])


# The comparison

MEANT: Sequence[tuple[str, str]] = (
    (r"/(ttlMs|cacheScope|resultType)$", "fields of the stateless family, which the server does not speak"),
    (r"^tools .*/(input|output)Schema/\$schema$", "a schema in an older dialect is brought to 2020-12"),
    (r"^tools .*/title$", "a title that stands in the annotations alone stands in the row too"),
    (
        r"^tools .*Schema/.*/properties$",
        "a schema is mended: an object that names no properties gets an empty list of them",
    ),
    (r"^tools .*/execution$", "the gateway runs the task itself, so that every client can call the tool"),
    (r"^call .*(/_meta|/content/\d+/text)$", "the gateway checks arguments itself, and says what is wrong"),
    (r"^call .*/structuredContent/.*/(data|blob)$", "base64 that is a content block is not sent twice"),
    (r"^call .*/content/\d+/(type|resource)$", "bytes from 4,096 on are kept as an asset, its handle in their place"),
)
"""Differences that are meant: where, as a regular expression over the kind of step and the JSON pointer, and why."""


def differing(one: Any, two: Any, at: str = "") -> list[str]:
    """JSON pointers of what differs."""
    if one is ASIDE or two is ASIDE:
        return []
    if isinstance(one, dict) and isinstance(two, dict):
        keys = [*one, *(key for key in two if key not in one)]
        return [
            path for key in keys for path in _member(one, two, key, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
        ]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [
            path for index, pair in enumerate(zip(one, two, strict=True)) for path in differing(*pair, f"{at}/{index}")
        ]
    if isinstance(one, str) and isinstance(two, str):
        return [] if CLOCK.sub("", one) == CLOCK.sub("", two) else [at]
    return [] if one == two and type(one) is type(two) else [at]


def _member(one: dict[str, Any], two: dict[str, Any], key: str, at: str) -> list[str]:
    return differing(one[key], two[key], at) if key in one and key in two else [at]


def settled(one: Any, two: Any) -> Any:
    """The first answer, with what changes from run to run set aside."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return {key: settled(one[key], two[key]) for key in one}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [settled(*pair) for pair in zip(one, two, strict=True)]
    return one if one == two else ASIDE


def at_pointer(value: Any, pointer: str) -> Any:
    """What stands at a JSON pointer, shortened; None where nothing does."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError, TypeError):
            return None
    return str(value)[:200]


# The runs


class Bench:
    """One server, and the folder that it works in.

    Parameters:
        name: the server's name, and the source's.
        work: a folder that is made anew for each run.
    """

    def __init__(self, name: str, work: Path) -> None:
        self.name, self.plan, self.work = name, PLANS[name], work
        command = [part.replace("{work}", str(work)) for part in self.plan.command]
        program = BIN / command[0]
        self.command = [str(program) if program.exists() else command[0], *command[1:]]
        self.env = {key: value.replace("{work}", str(work)) for key, value in self.plan.env.items()}

    def fresh(self) -> None:
        """Make the folder anew."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.plan.prepare(self.work)

    def direct(self) -> Place:
        """The server itself."""
        self.fresh()
        return Place(self.command[0], self.command[1:], self.env, str(self.work))

    def gateway(self, folder: Path) -> Place:
        """A gateway over it."""
        self.fresh()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        env = ", ".join(f"{key} = {json.dumps(value)}" for key, value in self.env.items())
        table = f"[sources.{self.name}]\nmcp = {json.dumps(self.command)}\ncwd = {json.dumps(str(self.work))}\n"
        (folder / "pegboard.toml").write_text(
            f'[board]\nthreshold = 1000\n\n[approval]\nallow = ["*"]\n\n{table}env = {{ {env} }}\n'
        )
        return Place(str(BIN / "pegboard"), ["serve", "--stdio"], {}, str(folder))


async def compare(bench: Bench, client: str, folder: Path, tally: Tally) -> None:
    """Take all steps at the server and at the gateway, and compare."""
    take = CLIENTS[client]
    lists: list[Step] = [{"kind": kind} for kind in ("tools", "resources", "templates", "prompts")]
    rows = await CLIENTS["sdk"](bench.direct(), lists)
    has = [not isinstance(found, dict) for found in rows]
    lists = [step for step, there in zip(lists, has, strict=True) if there]
    keys = ("name", "uri", "uriTemplate", "name")
    names = [[row[key] for row in found] if there else [] for found, key, there in zip(rows, keys, has, strict=True)]
    steps = [*lists, *steps_of(bench.plan, names[0], names[1], names[3])]
    if client == "inspector":
        steps = [step for step in steps if step["kind"] != "complete"]
    steps = json.loads(json.dumps(steps).replace("{work}", str(bench.work)))
    one, two = await take(bench.direct(), steps), await take(bench.direct(), steps)
    board = await take(bench.gateway(folder), [renamed(step, bench.name) for step in steps])
    for step, first, second, found in zip(steps, one, two, board, strict=True):
        judge(bench.name, client, step, (settled(first, second), unnamed(found, bench.name)), tally)


def judge(server: str, client: str, step: Step, answers: tuple[Any, Any], tally: Tally) -> None:
    """Count one step, and keep what differs."""
    direct, through = answers
    what = f"{step['kind']} {step.get('name') or step.get('uri') or ''}".strip()
    paths = differing(unnamed(direct, server), through)
    reasons = {
        path: next((why for where, why in MEANT if re.search(where, f"{step['kind']} {path}")), None) for path in paths
    }
    verdict = "equal" if not paths else "meant" if all(reasons.values()) else "different"
    tally.counts[f"{server}/{client}/{verdict}"] += 1
    for path, why in reasons.items():
        shown = {"direct": at_pointer(direct, path), "gateway": at_pointer(through, path)}
        tally.differences.append({"server": server, "client": client, "step": what, "at": path, "why": why, **shown})


async def run(servers: Sequence[str], clients: Sequence[str]) -> Tally:
    """Compare every server by every client."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for server in servers:
            bench = Bench(server, Path(folder) / "work")
            for client in clients:
                try:
                    await compare(bench, client, Path(folder) / "board", tally)
                except Exception as error:
                    tally.counts[f"{server}/{client}/different"] += 1
                    tally.differences.append(
                        {"server": server, "client": client, "step": "all", "error": repr(error)[:500]}
                    )
                print(
                    server,
                    client,
                    {key.split("/")[2]: n for key, n in tally.counts.items() if key.startswith(f"{server}/{client}/")},
                    flush=True,
                )
    return tally


def tell(tally: Tally) -> None:
    """Print what differs, each thing once for all clients."""
    grouped: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for one in tally.differences:
        why = one.get("why") or one.get("error") or "NOT MEANT"
        at = re.sub(r"^/\d+/", "/*/", one.get("at", ""))
        grouped.setdefault((one["server"], one["step"], at, why), []).append(one)
    for (server, step, at, why), found in sorted(grouped.items()):
        print(f"{server}: {step} {at} ({', '.join(sorted({one['client'] for one in found}))}, {len(found)}): {why}")
        print(f"    direct   {found[0].get('direct')}\n    gateway  {found[0].get('gateway')}")


def main() -> int:
    """Run the comparison, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", default=",".join(PLANS))
    parser.add_argument("--clients", default=",".join(CLIENTS))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not (HERE / "node_modules").is_dir():
        subprocess.run(
            [
                "npm",
                "install",
                "--prefix",
                str(HERE),
                "--no-package-lock",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
            ],
            check=True,
        )
    tally = anyio.run(run, given.servers.split(","), given.clients.split(","))
    tell(tally)
    totals = Counter[str]()
    for key, number in tally.counts.items():
        totals[key.split("/")[2]] += number
    print(dict(totals))
    if given.json is not None:
        given.json.write_text(json.dumps({"counts": tally.counts, "differences": tally.differences}, indent=1))
    return 1 if totals["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
