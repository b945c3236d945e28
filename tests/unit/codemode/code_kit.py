"""A pool of two tools and what one must not reach."""

from pegboard.codemode import Limits, Outcome, Toolbox
from pegboard.codemode.clock import Clock
from pegboard.codemode.engine import Engine
from pegboard.codemode.stubs import Language
from pegboard.compose.inner import payload
from pegboard.core import FailureCode, Result, ToolName, ToolSpec
from pegboard.schema.types import JsonObject

ECHO = ToolSpec(
    name=ToolName("ops", "echo"),
    description="Say the same again.",
    input={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    output={"type": "string"},
)
FIND = ToolSpec(
    name=ToolName("", "search_nodes"),
    description="Search nodes by words.",
    input={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
    output={"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
)
POOL = (ECHO, FIND)


async def answer(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
    """What the tools of the pool answer."""
    unknown = [name for name in arguments if name not in spec.properties]
    if unknown:
        return Result.failed(FailureCode.INVALID_ARGUMENTS, f"/{unknown[0]}: is not a known parameter.")
    if spec is FIND:
        return Result(
            value=[{"id": number, "for": arguments["query"]} for number in range(arguments.get("limit") or 2)]
        )
    if arguments["text"] == "fail":
        return Result.failed(FailureCode.FAILED, "It is closed.", next_step="Call ops.open first.")
    return Result(value=arguments["text"])


def box(language: Language, limits: Limits | None = None) -> Toolbox:
    """The tools of one run."""
    return Toolbox(POOL, answer, limits or Limits(timeout_ms=10_000), payload, language=language)


async def ran(engine: Engine, code: str, language: Language, limits: Limits | None = None) -> Outcome:
    """What code comes to."""
    held = limits or Limits(timeout_ms=10_000)
    return await engine.run(code, box(language, held), Clock(held.seconds))
