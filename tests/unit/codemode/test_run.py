"""Code in both languages calls tools, catches their errors, and comes back with its value."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest
from code_kit import ECHO, FIND, POOL, answer, ran

from pegboard.codemode import Limits, Outcome, Toolbox
from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.engine import Engine
from pegboard.codemode.monty import MontyEngine
from pegboard.codemode.outcome import Stop
from pegboard.codemode.stubs import Language, stub
from pegboard.codemode.tool import EXAMPLES, run_code_spec
from pegboard.compose.inner import payload
from pegboard.core import Result, ToolName, ToolSpec
from pegboard.schema.types import Json, JsonObject

pytestmark = pytest.mark.anyio
JS, PY = Language.JAVASCRIPT, Language.PYTHON
CLOSED = ["failed", "Call ops.open first."]
TOLD = "failed: It is closed. Next: Call ops.open first."
LATE = "The code took longer than its 700 ms and was stopped."
COUNT = """
n = 0
try:
    while True:
        ops__echo(text='x')
        n += 1
except Exception as e:
    r = [n, str(e)[:6]]
r
"""


@pytest.fixture
async def engines() -> AsyncIterator[dict[Language, Engine]]:
    """Both sandboxes, with room for ten seconds."""
    limits = Limits(timeout_ms=10_000)
    made: dict[Language, Engine] = {JS: DenoEngine(limits, warm=0), PY: MontyEngine(limits)}
    yield made
    for engine in made.values():
        await engine.close()


@pytest.mark.requirement("R4.4")
@pytest.mark.parametrize(
    ("language", "code", "value"),
    [
        (JS, "return 1 + 1", 2),
        (JS, "", None),
        (JS, "return undefined", None),
        (JS, "return (await tools.ops.echo({ text: 'é\\u2028' }))", "é\u2028"),
        (JS, "return await tools.ops__echo({ text: 'x' })", "x"),
        (JS, "return await tools['ops.echo']({ text: 'x' })", "x"),
        (JS, "return (await tools.search_nodes({ query: 'x', limit: 3 })).length", 3),
        (JS, "return Promise.all(['a', 'b'].map((text) => tools.ops.echo({ text })))", ["a", "b"]),
        (JS, "let n = 0; for (const one of await tools.search_nodes({ query: 'q' })) n += one.id; return n", 1),
        (JS, "try { await tools.ops.echo({ text: 'fail' }) } catch (e) { return [e.code, e.next_step] }", CLOSED),
        (JS, "return '\\ud800'", "\ufffd"),
        (JS, "return ['a', 'b'].map((text) => tools.ops.echo({ text }))", ["a", "b"]),
        (PY, "# await nothing\n'await' + ops__echo(text='x')", "awaitx"),
        (PY, "[float('nan'), float('inf'), 1.5]", [None, None, 1.5]),
        (JS, "await new Promise((done) => setTimeout(done, 5)); return 'later'", "later"),
        (PY, "1 + 1", 2),
        (PY, "", None),
        (PY, "r = search_nodes(query='x', limit=3)\nlen(r)", 3),
        (PY, "r = await search_nodes(query='x', limit=3)\nlen(r)", 3),
        (PY, "search_nodes('x', 1)", [{"id": 0, "for": "x"}]),
        (PY, "search_nodes({'query': 'x', 'limit': 1})", [{"id": 0, "for": "x"}]),
        (PY, "import asyncio\nawait asyncio.gather(ops__echo(text='a'), ops__echo(text='b'))", ["a", "b"]),
        (PY, "try:\n    echo(text='fail')\nexcept Exception as e:\n    r = str(e)\nr", TOLD),
        (PY, "{1: (1, 2), 'é': {3}}", {"1": [1, 2], "é": [3]}),
    ],
)  # fmt: skip
async def test_code_comes_to_its_value(
    engines: dict[Language, Engine], language: Language, code: str, value: Json
) -> None:
    outcome = await ran(engines[language], code, language)
    assert outcome.error is None
    assert outcome.value == value


@pytest.mark.parametrize("language", Language)
async def test_every_example_in_the_description_runs_in_the_sandbox(
    engines: dict[Language, Engine], language: Language
) -> None:
    """Case cm-03: the model copies the examples."""
    assert EXAMPLES[language] in run_code_spec(POOL, list(Language)).description
    outcome = await ran(engines[language], EXAMPLES[language], language)
    assert outcome.error is None
    assert isinstance(outcome.value, list)
    assert outcome.logs


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (JS, "return await tools.search_nodes({ q: 'x' })"),
        (PY, "search_nodes(q='x')"),
        (JS, "return await tools.ops.echo(5)"),
    ],
)
async def test_a_wrong_call_tells_the_tools_signature(
    engines: dict[Language, Engine], language: Language, code: str
) -> None:
    """Case cm-04: arguments go by the tool's own names, and a wrong call shows what right ones look like."""
    outcome = await ran(engines[language], code, language)
    assert outcome.error is not None
    assert stub(ECHO if "echo" in code else FIND, language) in outcome.error.message


@pytest.mark.parametrize(
    ("language", "code", "line"),
    [(JS, "const a = 1;\nthrow new TypeError('no')", 2), (PY, "a = 1\nraise TypeError('no')", 2)],
)
async def test_code_that_throws_says_where(
    engines: dict[Language, Engine], language: Language, code: str, line: int
) -> None:
    outcome = await ran(engines[language], code, language)
    assert outcome.error is not None
    assert (outcome.error.stop, outcome.error.name, outcome.error.message) == (Stop.ERROR, "TypeError", "no")
    assert outcome.error.line == line


@pytest.mark.parametrize(
    ("language", "code"),
    [(JS, "console.log('first'); await tools.ops.echo({text: 'x'}); for (;;) {}"),
     (PY, "print('first')\nops__echo(text='x')\nwhile True:\n    pass")],
)  # fmt: skip
@pytest.mark.requirement("R4.3")
@pytest.mark.slow
async def test_a_stopped_run_reports_what_it_did(
    engines: dict[Language, Engine], language: Language, code: str
) -> None:
    outcome = await ran(engines[language], code, language, Limits(timeout_ms=700))
    told = outcome.to_json()
    assert set(told) == {"ok", "value", "error", "logs", "calls", "usage"}
    assert told["error"] == {"code": "timeout", "message": LATE, "name": None, "line": None}
    assert told["logs"] == "first"
    assert [row["tool"] for row in told["calls"]] == ["ops.echo"]
    assert told["usage"]["ms"] < 1700


@pytest.mark.parametrize("language", Language)
async def test_calls_beyond_the_limit_fail_in_the_code(engines: dict[Language, Engine], language: Language) -> None:
    code = {
        JS: "let n = 0; try { for (;;) { await tools.ops.echo({ text: 'x' }); n++ } } catch (e) { return [n, e.code] }",
        PY: COUNT,
    }[language]
    outcome = await ran(engines[language], code, language, Limits(timeout_ms=10_000, max_calls=3))
    assert outcome.value == [3, "budget"]


@pytest.mark.parametrize("language", Language)
async def test_no_more_calls_run_at_once_than_may(engines: dict[Language, Engine], language: Language) -> None:
    running, most = 0, 0

    async def dial(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.lowlevel.checkpoint()
        running -= 1
        return await answer(spec, arguments, key)

    code = {
        JS: "return (await Promise.all(Array.from({ length: 20 }, () => tools.ops.echo({ text: 'x' })))).length",
        PY: "import asyncio\nlen(await asyncio.gather(*[ops__echo(text='x') for _ in range(20)]))",
    }[language]
    limits = Limits(timeout_ms=10_000, at_once=3)
    box = Toolbox(POOL, dial, limits, payload, language=language)
    outcome: Outcome = await engines[language].run(code, box, Clock(limits.seconds))
    assert outcome.value == 20
    assert 1 <= most <= 3


async def test_a_run_sees_nothing_of_another(engines: dict[Language, Engine]) -> None:
    engine = DenoEngine(Limits(timeout_ms=10_000), warm=1)
    for _ in range(3):
        outcome = await ran(engine, "const seen = globalThis.left ?? null; globalThis.left = 1; return seen", JS)
        assert outcome.value is None
    await engine.close()
    for _ in range(3):
        await ran(engines[PY], "left = 1", PY)
        outcome = await ran(engines[PY], "left", PY)
        assert outcome.error is not None
        assert outcome.error.name == "NameError"


async def test_the_time_stands_still_while_a_person_is_asked() -> None:
    now = [0.0]
    clock = Clock(10, now=lambda: now[0])
    now[0] = 4
    with clock.asking(), clock.asking():
        now[0] = 100
        assert clock.left == 6
    now[0] = 101
    assert clock.left == 5


async def test_the_log_shows_its_end(engines: dict[Language, Engine]) -> None:
    code = "for (let i = 0; i < 100; i++) console.log('line ' + i)"
    outcome = await ran(engines[JS], code, JS, Limits(timeout_ms=10_000, log_tail=15))
    assert outcome.logs == "line 98\nline 99"


def named(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name=ToolName("ns", name), input=ECHO.input) for name in names]


@pytest.mark.parametrize("languages", [[JS], [PY], [JS, PY]])
@pytest.mark.parametrize("names", [[], ["a"], [f"tool_{n}" for n in range(500)], ["x" * 900]])
def test_the_description_stays_within_what_providers_take(languages: list[Language], names: list[str]) -> None:
    spec = run_code_spec(named(*names), languages)
    assert len(spec.description) <= 1024
    assert len(json.dumps([spec.description, spec.input])) < 1600
    assert ("more (search for them)" in spec.description) is (len(names) > 100)
    assert ("ns." in spec.description.rpartition("\n")[2]) is (0 < len("".join(names)) < 900 or len(names) > 100)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("ops.echo(text='x')", "Call a tool as namespace__tool(name=value)."),
        ("tools.ops.echo(text='x')", "Call a tool as namespace__tool(name=value)."),
        ("ops__ecko(text='x')", "Did you mean ops__echo"),
        ("x = await ops__echo(text='a')\nops__echo(text='b')", "Write await before every call."),
        ("x = await ops__echo(text='a')\nsearch_nodes(query='b')[0]", "Write await before every call."),
    ],
)
async def test_python_that_calls_wrongly_is_told_how(engines: dict[Language, Engine], code: str, hint: str) -> None:
    outcome = await ran(engines[PY], code, PY)
    assert outcome.error is not None
    assert hint in outcome.error.message
