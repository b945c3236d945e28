"""Running one tool alone on recorded examples: does it still come to what it came to."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pegboard.core import Result, ToolSpec
from pegboard.schema.types import Json, as_list, as_object, canonical
from pegboard.trace.record import Run

MOST = 20
TRIAL = "pegboard test"
"""The agent's name in traces of trials: they say nothing of what agents do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Arguments for a tool, and what is known of the outcome.

    Parameters:
        arguments: the arguments.
        origin: where they come from: `example` of the definition, `case` of an applied finding, `trace`.
        ok: whether the call succeeded when it was recorded; None where nothing is known.
        result: what it came to then; None where nothing is known.
        gives: results of which each has to stand in the answer; empty where any answer will do.
        run: the run that it comes from.
    """

    arguments: Mapping[str, Json]
    origin: str
    ok: bool | None = None
    result: Json = None
    gives: tuple[Json, ...] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How one example went.

    Parameters:
        example: the example.
        faults: in what the outcome differs; none where it is as it was.
        result: what the call came to.
    """

    example: Example
    faults: tuple[str, ...]
    result: Result

    def to_json(self) -> dict[str, Json]:
        """As `pegboard test --json` prints it."""
        failure = self.result.failure
        return {
            "arguments": dict(self.example.arguments),
            "origin": self.example.origin,
            "run": self.example.run,
            "passed": not self.faults,
            "faults": list(self.faults),
            "ok": self.result.ok,
            "error": None if failure is None else str(failure),
        }


def examples_of(spec: ToolSpec, cases: Json, runs: Iterable[Run], *, most: int = MOST) -> list[Example]:
    """Examples for a tool, each arguments once: of its definition, of a case file, of recorded calls.

    Parameters:
        spec: the tool.
        cases: what `pegboard insight apply` wrote beside the tool; None where there is none.
        runs: recorded runs.
        most: how many are enough.
    """
    found: dict[str, Example] = {}
    declared = (Example(arguments=example, origin="example") for example in spec.examples)
    for example in (*_cases(cases), *declared, *_traced(spec, runs, most)):
        found.setdefault(canonical(example.arguments), example)
    return list(found.values())[:most]


async def trial(examples: Sequence[Example], call: Callable[[Mapping[str, Json]], Awaitable[Result]]) -> list[Tried]:
    """Run each example and compare: the outcome, the shape of the result, and what it has to hold.

    Parameters:
        examples: the examples.
        call: makes one call of the tool.
    """
    return [
        Tried(example=each, faults=faults(each, result := await call(each.arguments)), result=result)
        for each in examples
    ]


def faults(example: Example, result: Result) -> tuple[str, ...]:
    """In what an outcome differs from an example."""
    failure = result.failure
    if failure is not None:
        if example.ok is False:
            return ()
        return (f"it fails: {failure.message}",)
    if example.ok is False:
        return ("it failed when it was recorded, and succeeds now",)
    said = payload(result)
    lost = [each for each in example.gives if not holds(said, each)]
    told = [f"the answer does not hold {canonical(each)[:80]}" for each in lost]
    differing = [] if example.result is None else list(differences(example.result, said))
    return (*told, *differing[:5])


def payload(result: Result) -> Json:
    """What a result says, as data."""
    if result.value is not None or not result.content:
        return result.value
    texts = [str(block.get("text", "")) for block in result.content if block.get("type") == "text"]
    return texts[0] if len(texts) == 1 else texts


def holds(whole: Json, part: Json) -> bool:
    """Whether a value holds another one: as itself, as a text in a text, or written out as JSON."""
    wanted = canonical(part)
    texts = {wanted} | ({part} if isinstance(part, str) else set[str]())
    for node in _nodes(whole):
        if canonical(node) == wanted or isinstance(node, str) and any(text in node for text in texts):
            return True
        if isinstance(part, str) and not isinstance(node, str) and part == canonical(node):
            return True
    return isinstance(part, str) and _parsed(part) is not None and holds(whole, _parsed(part))


def differences(before: Json, after: Json, where: str = "") -> Iterator[str]:
    """In what the shapes of two values differ: types, and keys that are gone; lists by their first entries.

    Parameters:
        before: what was recorded; a text that is JSON counts as what it says.
        after: what came now.
        where: the place in the value, as a JSON pointer.
    """
    before, after = _parsed(before) or before, _parsed(after) or after
    if before is None or after is None or not where and isinstance(before, str) and not isinstance(after, str):
        return  # a record may hold the text of what is now data
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast("Mapping[str, Json]", before), cast("Mapping[str, Json]", after)
        for key in old:
            if key not in new:
                yield f"{where}/{key} is gone"
            else:
                yield from differences(old[key], new[key], f"{where}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        olds, news = cast("list[Json]", before), cast("list[Json]", after)
        if olds and news:
            yield from differences(olds[0], news[0], f"{where}/0")
    elif _kind(before) != _kind(after):
        yield f"{where or 'the result'} was {_kind(before)} and is {_kind(after)}"


def _cases(document: Json) -> Iterator[Example]:
    for row in as_list(as_object(document).get("cases")):
        case: dict[str, Any] = as_object(row)
        gives = tuple(each for each in as_list(case.get("gives")) if each is not None)
        yield Example(
            arguments=as_object(case.get("arguments")), origin="case", ok=True, gives=gives, run=case.get("run")
        )


def _traced(spec: ToolSpec, runs: Iterable[Run], most: int) -> Iterator[Example]:
    names = {str(spec.name), spec.name.name, f"{spec.name.namespace}__{spec.name.name}"}
    found = 0
    for run in runs:
        for call in run.calls:
            given: Json = call.arguments
            if call.tool not in names or call.ok is None or not isinstance(given, Mapping):
                continue
            cut = bool(call.values) or bool(call.meta.get("cut") or call.meta.get("recorded_cut"))
            result = None if cut or not call.ok else call.result
            taken = cast("Mapping[str, Json]", given)
            yield Example(arguments=taken, origin="trace", ok=call.ok, result=result, run=run.id)
            found += 1
            if found >= 4 * most:
                return


def _nodes(value: Json) -> Iterator[Json]:
    stack: list[Json] = [value]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Mapping):
            stack.extend(cast("Mapping[str, Json]", node).values())
        elif isinstance(node, list):
            stack.extend(cast("list[Json]", node))


def _parsed(value: Json) -> Json:
    import json

    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _kind(value: Json) -> str:
    match value:
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
