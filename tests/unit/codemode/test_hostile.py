"""Code that tries to get out, or to stay, does neither."""

import gc
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.abc
import pytest
from anyio.abc import SocketStream
from code_kit import POOL, answer

import pegboard
from pegboard.codemode import Limits, Outcome, Toolbox
from pegboard.codemode.clock import Clock
from pegboard.codemode.confine import resident_mb
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.engine import Engine
from pegboard.codemode.monty import MontyEngine
from pegboard.codemode.outcome import Stop
from pegboard.codemode.stubs import Language
from pegboard.compose.inner import payload
from pegboard.core import Result, ToolSpec
from pegboard.schema.types import JsonObject

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
SECRET = "c0ffee-5ecret"
LIMITS = Limits(timeout_ms=1000, max_calls=50, max_memory_mb=64, max_log=10_000)
AT_ONCE = 3


class Scene:
    """What the code could reach if nothing held it in, and what it did reach."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "secret.txt"
        self.file.write_text(SECRET)
        self.connected = 0
        self.called: set[str] = set()
        self.port = 0

    async def greet(self, stream: SocketStream) -> None:
        """Count who comes over the network."""
        self.connected += 1
        await stream.send(f"HTTP/1.1 200 OK\r\ncontent-length: {len(SECRET)}\r\n\r\n{SECRET}".encode())
        await stream.aclose()

    async def dial(self, spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        """Count which tools are called."""
        self.called.add(str(spec.name))
        return await answer(spec, arguments, key)

    async def outcomes(self, engine: Engine, language: Language) -> dict[str, Outcome]:
        """What every snippet comes to, a few at once."""
        rows = tomllib.loads((HERE / f"hostile_{language}.toml").read_text())["snippet"]
        found: dict[str, Outcome] = {}
        room = anyio.CapacityLimiter(AT_ONCE)

        async def run(name: str, code: str) -> None:
            async with room:
                put_in = code.replace("{file}", str(self.file)).replace("{port}", str(self.port))
                box = Toolbox(POOL, self.dial, LIMITS, payload, language=language)
                found[name] = await engine.run(put_in, box, Clock(LIMITS.seconds))

        async with anyio.create_task_group() as tasks:
            for row in rows:
                tasks.start_soon(run, row["name"], row["code"])
        assert len(found) == len(rows)
        return found


def _engine(language: Language) -> Engine:
    return DenoEngine(LIMITS, warm=0) if language is Language.JAVASCRIPT else MontyEngine(LIMITS, most=AT_ONCE)


@pytest.mark.slow
@pytest.mark.requirement("R4.3")
@pytest.mark.requirement("R4.4")
@pytest.mark.parametrize(("language", "least"), [(Language.JAVASCRIPT, 140), (Language.PYTHON, 90)])
async def test_hostile_code_reaches_nothing_and_ends(
    language: Language, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGBOARD_TEST_SECRET", SECRET)
    scene, engine = Scene(tmp_path), _engine(language)
    gc.collect()
    before = resident_mb(os.getpid())
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    scene.port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, scene.greet)
        found = await scene.outcomes(engine, language)
        tasks.cancel_scope.cancel()
    await engine.close()
    assert len(found) >= least
    told = {name: str(outcome.to_json()) for name, outcome in found.items()}
    leaks = [name for name, text in told.items() if SECRET in text or "LEAK" in text]
    assert not leaks
    assert not [name for name, text in told.items() if str(Path(pegboard.__file__).parent) in text]
    assert scene.connected == 0
    assert scene.called <= {"ops.echo", "search_nodes"}
    assert scene.file.read_text() == SECRET
    assert _late(found) == []
    assert {name: outcome.error for name, outcome in found.items() if _is(outcome, Stop.UNAVAILABLE)} == {}
    after = resident_mb(os.getpid())
    if before is not None and after is not None:
        assert after - before < 100


def _late(found: dict[str, Outcome]) -> Sequence[str]:
    return [name for name, outcome in found.items() if outcome.usage["ms"] > LIMITS.timeout_ms + 1000]


def _is(outcome: Outcome, stop: Stop) -> bool:
    return outcome.error is not None and outcome.error.stop is stop
