"""Whether the sandboxes start on this machine, as opposed to what is known of the machine."""

from collections.abc import Iterable

from pegboard.codemode.clock import Clock
from pegboard.codemode.deno import DenoEngine
from pegboard.codemode.engine import Engine
from pegboard.codemode.limits import Limits
from pegboard.codemode.monty import MontyEngine
from pegboard.codemode.stubs import Language
from pegboard.codemode.toolbox import Toolbox
from pegboard.core import FailureCode, Result, ToolSpec
from pegboard.schema.types import JsonObject

_LIMITS = Limits(timeout_ms=10_000)
_CODE = {Language.JAVASCRIPT: "return 1", Language.PYTHON: "1"}


async def selftest(languages: Iterable[str]) -> dict[str, str | None]:
    """Run one line in each language: None where it came to its value, else why not.

    Parameters:
        languages: the languages by name.
    """
    return {name: await _tried(Language(name)) for name in languages}


async def _tried(language: Language) -> str | None:
    engine: Engine = DenoEngine(_LIMITS, warm=0) if language is Language.JAVASCRIPT else MontyEngine(_LIMITS, most=1)
    try:
        box = Toolbox((), _nothing, _LIMITS, lambda result: result.value, language=language)
        outcome = await engine.run(_CODE[language], box, Clock(_LIMITS.seconds))
    finally:
        await engine.close()
    return None if outcome.error is None else outcome.error.message


async def _nothing(spec: ToolSpec, arguments: JsonObject, key: str) -> Result:
    return Result.failed(FailureCode.UNKNOWN_TOOL, f"{spec.name} cannot be called in a test.")
