"""A tool in another shape."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

from pegboard.core import (
    Call,
    Change,
    Effects,
    Failure,
    FailureCode,
    Hint,
    Mode,
    Report,
    Result,
    Shelf,
    Tool,
    ToolName,
    ToolSpec,
    default_mode,
    mode_parameter,
    with_modes,
    without_modes,
)
from pegboard.core.mode import own_modes, with_own_modes
from pegboard.core.spec import DOCUMENTED_OUTPUT, MODEL
from pegboard.errors import DefinitionError, StoreError
from pegboard.schema.cut import json_text
from pegboard.schema.types import Json, JsonObject, pointer
from pegboard.schema.validate import Validator, validator
from pegboard.schema.violation import Violation
from pegboard.schema.walk import tokens
from pegboard.sources.shaped.input import ArgumentError, InputShape, input_shape
from pegboard.sources.shaped.output import AnswerError, OutputShape, output_shape
from pegboard.sources.shaped.references import defined
from pegboard.sources.shaped.shape import Shape, Shaping
from pegboard.sources.shaped.words import Words, property_names

_KEPT_DETAILS = ("status", "retry_after")
_SEEN_AS_THEY_ARE = ("image", "audio")


@dataclass(frozen=True)
class Trial:
    """The parameter by which a tool only shows what it would do.

    Parameters:
        parameter: what the tool calls it.
        value: what it is then.
    """

    parameter: str
    value: Json = True


@dataclass(frozen=True)
class ShapedRun:
    """The handler of a reshaped tool.

    Parameters:
        inner: the tool behind it.
        input: how arguments change.
        output: how answers change; None where they do not.
        words: the backend's words, which nobody shall read.
        shown: the reshaped spec, for the mode schema.
        judge: what the tool behind takes.
        trial: how it previews, if it does so by a parameter.
        shelf: where raw answers are kept.
        keep: whether each is, not only those that fit no shape.
    """

    inner: Tool
    input: InputShape
    output: OutputShape | None
    words: Words
    shown: JsonObject
    judge: Validator
    trial: Trial | None = None
    shelf: Shelf | None = None
    keep: bool = False

    async def __call__(self, call: Call) -> Result:
        """Turn the arguments, run the tool behind, and turn what it answers."""
        if call.mode is Mode.SCHEMA:
            return Result(value=self.shown, mode=Mode.SCHEMA, report=Report(notes=("Nothing was called.",)))
        try:
            arguments = self.input.arguments(call.arguments)
        except ArgumentError as problem:
            return _refused(problem.where, problem.message, call)
        trying = self.trial is not None and call.mode in (Mode.PREVIEW, Mode.DRY_RUN)
        if self.trial is not None and trying:
            arguments = {**arguments, self.trial.parameter: self.trial.value}
        if call.mode is not Mode.EXPLORE and not self.judge.is_valid(arguments):
            return self._invalid(arguments, call)
        mode = Mode.EXECUTE if trying else call.mode
        result = await self.inner.handler(replace(call, tool=self.inner.name, arguments=arguments, mode=mode))
        result = await self._outward(result, call)
        return replace(result, mode=call.mode or Mode.EXECUTE) if trying else result

    async def _outward(self, result: Result, call: Call) -> Result:
        report = self._report(result.report)
        if result.failure is not None:
            return await self._failed(result, call, report)
        if report is not None and report.data.get("prepared"):
            value: Json = {"sent": False, "arguments": dict(call.arguments)}
            return Result(value=value, report=report, mode=result.mode)
        if self.output is None:
            return result if report is result.report else replace(result, report=report)
        if call.mode is Mode.EXPLORE:
            value = self.words.value(result.value)
            return replace(result, value=value, content=self._texts(result.content), report=report, meta={})
        return await self._shaped(self.output, result, call, report)

    async def _shaped(self, output: OutputShape, result: Result, call: Call, report: Report | None) -> Result:
        raw = _value_of(result)
        blocks = tuple(block for block in result.content if block.get("type") in _SEEN_AS_THEY_ARE)
        if raw is None and (blocks or result.mode is Mode.DRY_RUN):
            return replace(result, content=blocks or result.content, report=report, meta={})
        try:
            value, notes = output.apply(raw)
            value = self.words.text(value) if isinstance(value, str) else value
        except AnswerError as problem:
            message = f"The answer cannot be brought into its shape: {self.words.text(str(problem))}."
            failure = Failure(
                FailureCode.UPSTREAM, message, next_step="Report it to whoever runs the board; do not guess the answer."
            )
            return await self._with_raw(Result(failure=failure, report=report, mode=result.mode), raw, call)
        told = tuple(self.words.text(note) for note in notes)
        report = replace(report or Report(), notes=(*(report.notes if report else ()), *told)) if told else report
        made = Result(value=value, content=blocks, report=report, assets=result.assets, mode=result.mode)
        return await self._with_raw(made, raw, call) if self.keep or told else made

    async def _failed(self, result: Result, call: Call, report: Report | None) -> Result:
        failure = cast("Failure", result.failure)
        details = {key: failure.details[key] for key in _KEPT_DETAILS if key in failure.details}
        mended = replace(
            failure,
            message=self.words.text(failure.message),
            where=self._place(failure.where),
            next_step=self.words.text(failure.next_step) if failure.next_step else None,
            details=details,
        )
        if self.output is None:
            return replace(
                result,
                failure=replace(mended, details=self.words.value(failure.details)),
                value=self.words.value(result.value),
                content=self._texts(result.content),
                report=report,
            )
        raw = failure.details.get("body", result.value)
        shown = self._texts(block for block in result.content if block.get("type") == "text")
        made = Result(failure=mended, content=shown, report=report, mode=result.mode)
        return made if raw is None or not self.keep else await self._with_raw(made, raw, call)

    async def _with_raw(self, result: Result, raw: Json, call: Call) -> Result:
        """The result with the raw answer as an asset; it stands nowhere else."""
        if self.shelf is None or raw is None:
            return result
        try:
            data = json_text(raw).encode()
            asset = await self.shelf.put(data, "application/json", call.session.principal)
        except StoreError:
            return result
        report = result.report or Report()
        return replace(
            result,
            assets=(*result.assets, asset.handle(self.shelf.scheme)),
            report=replace(report, data={**report.data, "raw": asset.handle(self.shelf.scheme)}),
        )

    def _invalid(self, arguments: JsonObject, call: Call) -> Result:
        faults = self.judge.violations(arguments)
        told = [replace(one, pointer=self._place(one.pointer) or "") for one in faults]
        first = told[0]
        return _refused(first.pointer, self.words.text("; ".join(_said(one) for one in told)), call)

    def _place(self, where: str | None) -> str | None:
        if not where or not where.startswith("/"):
            return self.words.text(where) if where else where
        keys = self.input.place(tuple(tokens(where)))
        return self.words.text(pointer(*keys))

    def _texts(self, blocks: Iterable[JsonObject]) -> tuple[JsonObject, ...]:
        return tuple(
            {**block, "text": self.words.text(block["text"])} if isinstance(block.get("text"), str) else block
            for block in blocks
        )

    def _report(self, report: Report | None) -> Report | None:
        if report is None or not self.words.table:
            return report
        return replace(
            report,
            changes=tuple(
                Change(one.kind, self.words.text(one.where), self.words.text(one.message)) for one in report.changes
            ),
            notes=tuple(map(self.words.text, report.notes)),
            data=self.words.value(report.data),
        )


def _said(violation: Violation) -> str:
    return str(violation)


def _refused(where: str, message: str, call: Call) -> Result:
    failure = Failure(
        FailureCode.INVALID_ARGUMENTS,
        f"{where or 'The arguments'}: {message}." if where not in message else f"{message}.",
        where=where or None,
        next_step="Correct this and call again. Nothing was done.",
    )
    return Result(failure=failure, mode=call.mode or Mode.EXECUTE)


def _value_of(result: Result) -> Json:
    """The structured answer; of a server that gives none, the JSON that its only text is."""
    if result.value is not None:
        return result.value
    texts = [block["text"] for block in result.content if block.get("type") == "text"]
    if len(texts) != 1:
        return None
    try:
        return json.loads(texts[0])
    except (ValueError, RecursionError):
        return texts[0]


def reshape(
    tool: Tool, shape: Shape, shaping: Shaping | None = None, shelf: Shelf | None = None, *, lenient: bool = False
) -> Tool:
    """A tool in another shape: what it takes, what it answers, and what it says of itself.

    Parameters:
        tool: the tool.
        shape: how it shall look.
        shaping: the source's maps and models.
        shelf: where raw answers are kept.
        lenient: whether patches of parameters that the tool does not have are left out.

    Raises:
        DefinitionError: the shape does not fit the tool.
    """
    held = shaping or Shaping()
    bare = without_modes(tool.spec)
    whole = bare.input
    bare = replace(bare, input=defined(bare.input), output=None if bare.output is None else defined(bare.output))
    trial = _trial(shape, bare)
    patches = shape.input
    if trial is not None:
        patches = {**patches, trial.parameter: _untried(trial, bare, shape.preview)}
    taken = input_shape(bare.input, patches, held, owner=bare.name.name, takes=shape.takes, lenient=lenient)
    promised = bare.output is not None and DOCUMENTED_OUTPUT not in bare.meta
    output = output_shape(bare.output, shape, held, promised=promised) if shape.reshapes_output else None
    words = _words_of(bare, shape, taken, output, held)
    spec = _spec(bare, shape, taken, output, words)
    spec = _with_modes(spec, tool.spec, trial)
    run = ShapedRun(tool, taken, output, words, spec.input, validator(whole), trial, shelf, keep=shape.raw)
    return Tool(spec, run)


def _trial(shape: Shape, bare: ToolSpec) -> Trial | None:
    wish = shape.preview
    if isinstance(wish, str) and wish in bare.properties:
        return Trial(wish)
    if isinstance(wish, dict) and "parameter" in wish:
        table = cast("dict[str, Any]", wish)
        return Trial(str(table["parameter"]), table.get("value", True))
    if wish is not None and not isinstance(wish, str | dict):
        raise DefinitionError(
            "A preview is the name of a parameter or tool, or a table.",
            where="preview",
            next_step='Write for example preview = "dryRun".',
        )
    return None


def _untried(trial: Trial, bare: ToolSpec, wish: Any) -> dict[str, Json]:
    """What stands for the parameter in a call that executes."""
    table = cast("dict[str, Json]", wish) if isinstance(wish, dict) else {}
    if "execute" in table:
        return {"fix": table["execute"]}
    if trial.value is True:
        return {"fix": False}
    return {"hide": True}


def _words_of(bare: ToolSpec, shape: Shape, taken: InputShape, output: OutputShape | None, shaping: Shaping) -> Words:
    renamed = {old: new for old, new in taken.renamed() if old != new}
    hidden = {*taken.all_hidden(), *taken.all_fixed()}
    shown = {*property_names(dict(taken.schema))}
    if output is not None:
        shown |= {*property_names(dict(output.schema or {}))}
        hidden |= {*property_names(dict(bare.output or {}))}
        for old, new in output.words():
            if new is None:
                hidden.add(old)
            else:
                renamed.setdefault(old, new)
    # What the source says of one tool may speak of its other tools, and of what holds for all of them.
    hidden |= shaping.hidden
    for old, new in shaping.renamed.items():
        renamed.setdefault(old, new)
    if shape.name and shape.name != bare.name.name:
        renamed[bare.name.name] = shape.name
        renamed[f"{bare.name.namespace}__{bare.name.name}"] = f"{bare.name.namespace}__{shape.name}"
    return Words({old: new for old, new in renamed.items() if old not in shown}, frozenset(hidden), frozenset(shown))


def _spec(bare: ToolSpec, shape: Shape, taken: InputShape, output: OutputShape | None, words: Words) -> ToolSpec:
    meta: dict[str, Json] = {}
    if bare.meta.get(DOCUMENTED_OUTPUT) and (output is None or output.model is None):
        meta[DOCUMENTED_OUTPUT] = True
    if output is not None and output.model is not None:
        meta[MODEL] = output.model.name
    says = shape.description if shape.description is not None else words.text(bare.description)
    if output is not None and output.model is not None:
        many = "a list of " if output.listed else ""
        says = f"{says.rstrip()}\nAnswers {many}{output.model.name} (the canonical model, mapped).".lstrip()
    named = shape.name is not None and shape.name != bare.name.name
    return replace(
        bare,
        name=ToolName(bare.name.namespace, shape.name or bare.name.name, bare.name.version),
        title=shape.title or (None if named else words.text(bare.title) if bare.title else None),
        description=says,
        category=shape.category or bare.category,
        effects=shape.effects or bare.effects,
        input=words.schema(taken.schema),
        output=bare.output if output is None else words.schema(output.schema),
        hints=tuple(_hinted(hint, taken, words) for hint in bare.hints if _is_of(hint.parameter, taken)),
        freeform=bare.freeform if taken.slots.keys() >= {"input"} else None,
        deprecated=words.text(bare.deprecated) if bare.deprecated else bare.deprecated,
        examples=(),
        aliases=() if named else tuple(name for name in bare.aliases if words.text(name) == name),
        annotations=_annotations(bare, shape, words),
        meta=meta,
        original_input=None,
        accepts=None,
    )


def _is_of(parameter: str | None, taken: InputShape) -> bool:
    return parameter is None or any(slot.inner == parameter for slot in taken.slots.values())


def _hinted(hint: Hint, taken: InputShape, words: Words) -> Hint:
    shown = next((name for name, slot in taken.slots.items() if slot.inner == hint.parameter), None)
    return replace(hint, tool=words.text(hint.tool), when=words.text(hint.when), parameter=shown)


def _annotations(bare: ToolSpec, shape: Shape, words: Words) -> JsonObject:
    kept = {key: value for key, value in bare.annotations.items() if key != "title"}
    if shape.effects is not None:
        kept |= {
            "readOnlyHint": shape.effects is Effects.READ_ONLY,
            "destructiveHint": shape.effects is Effects.DESTRUCTIVE,
        }
    return words.value(kept)


def _with_modes(spec: ToolSpec, before: ToolSpec, trial: Trial | None) -> ToolSpec:
    own = [mode for mode in own_modes(before) if mode is not Mode.SCHEMA]
    if trial is not None:
        return with_modes(spec, {*own, Mode.PREVIEW})
    if mode_parameter(before) is not None:
        return with_modes(spec, own, default=default_mode(before))
    return with_own_modes(spec, own) if own else spec
