"""Many clients, mixed calls, upstreams that die: is every answer right, has every failure a code, does anything leak?

    python bench/soak.py [--minutes 30] [--clients 32] [--kill-every 20] [--pause 0.3] [--json FILE]

One gateway process over HTTP serves two upstreams over stdio, one over HTTP and a Python function; half of the
clients speak the handshake family, half the stateless one. Every answer is compared with what was asked. Each client
says goodbye and comes back now and then. Every few seconds one upstream is killed (and the one over HTTP is started
again at its port). The process is judged by its memory and file descriptors at the end against those after a sixth
of the time (minute five of thirty). Exit code 1: a wrong answer, a failure without a code, or a leak over a tenth.
"""

import argparse
import base64
import hashlib
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NUMBERS = {
    "type": "object",
    "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
    "required": ["numbers"],
}
DESK = """from pegboard import tool


@tool
def shout(text: str) -> str:
    'Give a text back in capital letters.'
    return text.upper()
"""
PATIENCE = 60.0
"""Seconds after which a client gives up on an answer: one that comes later counts as a failure without a code."""


def upstream() -> Server[Any]:
    """The server behind the gateway."""
    about = {"echo": TEXT, "total": NUMBERS, "long_text": TEXT, "picture": TEXT, "wait": TEXT, "complain": TEXT}

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(name=name, description=f"Do {name}.", input_schema=schema) for name, schema in about.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        if params.name == "wait":
            for step in range(3):
                await context.session.report_progress(step, 3)
                await anyio.sleep(0.1)
        return answer(params.name, given)

    return Server("upstream", on_list_tools=list_tools, on_call_tool=call_tool)


def answer(tool: str, given: dict[str, Any]) -> types.CallToolResult:
    """What a tool says to its arguments: also what the clients compare with."""
    if tool == "total":
        total = sum(given["numbers"])
        return types.CallToolResult(content=[words(str(total))], structured_content={"total": total})
    said = given["text"]
    if tool == "picture":
        data = base64.b64encode(hashlib.sha256(said.encode()).digest() * 20).decode()
        return types.CallToolResult(content=[types.ImageContent(type="image", data=data, mime_type="image/png")])
    if tool == "long_text":
        return types.CallToolResult(content=[words(said * 1000)])
    if tool == "complain":
        return types.CallToolResult(content=[words(f"No: {said}")], is_error=True)
    return types.CallToolResult(content=[words(said)], structured_content={"text": said})


def words(text: str) -> types.TextContent:
    """A text block."""
    return types.TextContent(type="text", text=text)


async def serve_upstream(port: int | None) -> None:
    """Be an upstream, on stdio or at a port."""
    if port is None:
        async with stdio_server() as streams:
            server = upstream()
            await server.run(*streams, server.create_initialization_options())
        return
    import uvicorn

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen()
    print(listening.getsockname()[1], flush=True)
    app = upstream().streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).serve(sockets=[listening])


@dataclass
class Remote:
    """The upstream over HTTP; it comes back at the port that it had."""

    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, or start it again."""
        argv = [sys.executable, __file__, "--upstream", str(self.port)]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """End it without a word."""
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@dataclass
class Tally:
    """What came of the calls."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    without_code: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    visits: int = 0
    samples: list[tuple[float, float, int]] = field(default_factory=list)

    def failed(self, code: str, message: str) -> None:
        """Count a failure that has a code."""
        self.failures[code] += 1
        self.examples.setdefault(code, message)

    @property
    def calls(self) -> int:
        """All calls."""
        return sum(map(len, self.seconds.values()))


@dataclass
class Visit:
    """One client and what it asks."""

    client: Client
    dice: random.Random
    tally: Tally

    async def call(self, tool: str, given: dict[str, Any]) -> types.CallToolResult | None:
        """Call; a failure with a code is counted and nothing comes back."""
        result = await self.client.call_tool(tool, given)
        failure = (result.meta or {}).get("pegboard/failure")
        if failure is None or failure["code"] == "failed":
            return result
        self.tally.failed(failure["code"], f"{tool}: {failure.get('message')}")
        return None

    async def compare(self, source: str, tool: str, given: dict[str, Any]) -> None:
        """Call a tool of an upstream, by its own name or through `tool_call`."""
        name = f"{source}__{tool}"
        through = self.dice.random() < 0.2
        got = await (self.call("tool_call", {"name": name, "arguments": given}) if through else self.call(name, given))
        want = answer(tool, given)
        if got is not None and (got.content != want.content or bool(got.is_error) != bool(want.is_error)):
            self.tally.wrong.append(f"{name} {str(given)[:60]}: {str(got)[:200]}")

    async def shout(self) -> None:
        """Call the function."""
        text = self.token()
        got = await self.call("desk__shout", {"text": text})
        if got is not None and text.upper() not in str(got.content):
            self.tally.wrong.append(f"shout {text}: {got}")

    async def search(self) -> None:
        """Look for a tool."""
        got = await self.call("tool_search", {"query": "give a text back in capital letters"})
        if got is not None and "shout" not in str(got.content):
            self.tally.wrong.append(f"search: {str(got)[:200]}")

    async def list(self) -> None:
        """List the tools."""
        if not (await self.client.list_tools()).tools:
            self.tally.wrong.append("an empty list")

    async def withdraw(self) -> None:
        """Call, and lose patience."""
        with anyio.move_on_after(0.05):
            await self.call(f"{self.source()}__wait", {"text": self.token()})

    async def misuse(self) -> None:
        """Call with arguments that do not fit: the failure has its code."""
        before = self.tally.failures["invalid_arguments"]
        await self.call(f"{self.source()}__total", {"numbers": "three"})
        self.tally.failures["invalid_arguments"] = before

    def token(self) -> str:
        """A text that no other call has."""
        return f"{self.dice.getrandbits(64):016x}"

    def source(self) -> str:
        """One of the upstreams."""
        return self.dice.choice(["steady", "shaky", "remote"])

    async def once(self) -> None:
        """One call of a kind that the dice choose, with its time."""
        kind = self.dice.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
        begun = time.perf_counter()
        try:
            await KINDS[kind][1](self)
        except MCPError as error:
            self.tally.failed(f"JSON-RPC {error.error.code}", str(error))
        self.tally.seconds[kind].append(time.perf_counter() - begun)


def asking(tool: str) -> Callable[[Visit], Awaitable[None]]:
    """A call of an upstream's tool with a new text."""
    return lambda visit: visit.compare(visit.source(), tool, {"text": visit.token()})


def adding(visit: Visit) -> Awaitable[None]:
    """A sum of new numbers."""
    return visit.compare(visit.source(), "total", {"numbers": [visit.dice.randrange(1000) for _ in range(20)]})


KINDS: dict[str, tuple[int, Callable[[Visit], Awaitable[None]]]] = {
    "echo": (30, asking("echo")),
    "total": (15, adding),
    "long text": (8, asking("long_text")),
    "picture": (6, asking("picture")),
    "wait": (5, asking("wait")),
    "complain": (5, asking("complain")),
    "function": (10, Visit.shout),
    "tool_search": (8, Visit.search),
    "tools/list": (5, Visit.list),
    "withdrawn": (4, Visit.withdraw),
    "misuse": (4, Visit.misuse),
}


async def visitor(number: int, address: str, until: float, pause: float, tally: Tally) -> None:
    """One client: visits of some hundred calls until the time is over."""
    dice = random.Random(number)
    while time.monotonic() < until:
        mode = "legacy" if number % 2 else "auto"
        try:
            async with Client(address, mode=mode, read_timeout_seconds=PATIENCE) as client:
                tally.visits += 1
                visit = Visit(client, dice, tally)
                for _ in range(dice.randrange(50, 300)):
                    if time.monotonic() > until:
                        return
                    await visit.once()
                    await anyio.sleep(dice.random() * 2 * pause)
        except Exception as error:
            tally.without_code.append(repr(error)[:300])
            await anyio.sleep(pause)


async def killer(gateway: int, remote: Remote, every: float, tally: Tally) -> None:
    """Kill one upstream after another."""
    for turn in range(1_000_000):
        await anyio.sleep(every)
        if turn % 3 == 2:
            tally.kills["remote"] += 1
            await anyio.to_thread.run_sync(remote.kill)
            await anyio.sleep(1)
            await anyio.to_thread.run_sync(remote.start)
            continue
        name = ["steady", "shaky"][turn % 3]
        for child in children(gateway):
            if f"--name\0{name}" in Path(f"/proc/{child}/cmdline").read_text():
                tally.kills[name] += 1
                os.kill(child, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [
        int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()
    ]


async def sampler(gateway: int, begun: float, tally: Tally) -> None:
    """Look at the gateway's memory (MB) and file descriptors, every five seconds."""
    while True:
        await anyio.sleep(5)
        status = Path(f"/proc/{gateway}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
        tally.samples.append((time.monotonic() - begun, resident, len(os.listdir(f"/proc/{gateway}/fd"))))


def board(folder: Path, remote: Remote) -> list[str]:
    """Write the board; returns the command that serves it."""
    (folder / "desk.py").write_text(DESK)

    def stdio(name: str) -> str:
        return f"[sources.{name}]\nmcp = {json.dumps([sys.executable, __file__, '--upstream', '-', '--name', name])}"

    tables = [
        '[board]\nname = "soak"\nsearch = "on"',
        stdio("steady"),
        stdio("shaky"),
        f'[sources.remote]\nmcp = "http://127.0.0.1:{remote.port}/mcp"',
        '[sources.desk]\npython = "desk"',
    ]
    (folder / "pegboard.toml").write_text("\n\n".join(tables))
    config = str(folder / "pegboard.toml")
    return [sys.executable, "-m", "pegboard", "serve", "--config", config, "--http", "127.0.0.1:0"]


def started(argv: list[str], log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start the gateway; returns it with its address."""
    process = subprocess.Popen(argv, stdout=log.open("wb"), stderr=subprocess.STDOUT)
    while process.poll() is None:
        if "Serving at " in (told := log.read_text()):
            return process, told.split("Serving at ")[1].split()[0]
        time.sleep(0.05)
    raise SystemExit(log.read_text())


async def soak(options: argparse.Namespace) -> Tally:
    """Let them all loose for the time."""
    tally, remote = Tally(), Remote()
    remote.start()
    with tempfile.TemporaryDirectory() as name:
        process, address = started(board(Path(name), remote), Path(name) / "log")
        begun = time.monotonic()
        until = begun + options.minutes * 60
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(killer, process.pid, remote, options.kill_every, tally)
                beside.start_soon(sampler, process.pid, begun, tally)
                beside.start_soon(progress, begun, until, tally)
                async with anyio.create_task_group() as visitors:
                    for number in range(options.clients):
                        visitors.start_soon(visitor, number, address, until, options.pause, tally)
                beside.cancel_scope.cancel()
        finally:
            process.terminate()
            process.wait(30)
            remote.kill()
    return tally


async def progress(begun: float, until: float, tally: Tally) -> None:
    """Say every minute how it goes."""
    while True:
        await anyio.sleep(60)
        now = time.monotonic()
        resident, handles = tally.samples[-1][1:] if tally.samples else (0.0, 0)
        print(
            f"{(now - begun) / 60:5.1f} of {(until - begun) / 60:.0f} min: {tally.calls} calls,"
            f" {len(tally.wrong)} wrong, {len(tally.without_code)} without a code, {resident:.0f} MB, {handles} fds",
            file=sys.stderr,
            flush=True,
        )


def level(tally: Tally, at: float, width: float, column: int) -> float:
    """The median of the samples around a time, in seconds."""
    return statistics.median(sample[column] for sample in tally.samples if abs(sample[0] - at) <= width)


def report(tally: Tally, minutes: float) -> dict[str, Any]:
    """The figures, and whether they pass."""
    end, width = tally.samples[-1][0], max(15.0, minutes)
    early, late = end / 6, end - width
    memory, handles = ((level(tally, early, width, at), level(tally, late, width, at)) for at in (1, 2))
    good = (
        not tally.wrong and not tally.without_code and memory[1] <= memory[0] * 1.1 and handles[1] <= handles[0] * 1.1
    )
    return {
        "ok": good,
        "minutes": minutes,
        "calls": tally.calls,
        "calls_per_second": round(tally.calls / end, 1),
        "visits": tally.visits,
        "kills": dict(tally.kills),
        "wrong": tally.wrong[:20],
        "without_code": tally.without_code[:20],
        "failures": dict(tally.failures.most_common()),
        "examples": {code: message[:300] for code, message in tally.examples.items()},
        "memory_mb": [round(figure, 1) for figure in memory],
        "file_descriptors": list(handles),
        "samples": [[round(figure, 1) for figure in sample] for sample in tally.samples[::12]],
        "milliseconds": {kind: spread(seconds) for kind, seconds in sorted(tally.seconds.items())},
    }


def spread(seconds: list[float]) -> dict[str, float]:
    """How many, the median and the slowest in a hundred."""
    ordered = sorted(seconds)
    at = [ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]]
    return {"calls": len(ordered), "p50": round(at[0] * 1e3, 1), "p99": round(at[1] * 1e3, 1)}


def show(figures: dict[str, Any]) -> None:
    """Print the report."""
    for key, value in figures.items():
        if key not in ("milliseconds", "samples"):
            print(f"{key:18} {value}")
    print(f"\n{'kind':14}{'calls':>8}{'p50 ms':>10}{'p99 ms':>10}")
    for kind, row in figures["milliseconds"].items():
        print(f"{kind:14}{row['calls']:8}{row['p50']:10}{row['p99']:10}")


def main() -> None:
    """Read the flags and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--kill-every", type=float, default=20)
    parser.add_argument("--pause", type=float, default=0.3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--upstream", help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.upstream:
        anyio.run(serve_upstream, None if options.upstream == "-" else int(options.upstream))
        return
    figures = report(anyio.run(soak, options), options.minutes)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    show(figures)
    sys.exit(not figures["ok"])


if __name__ == "__main__":
    main()
