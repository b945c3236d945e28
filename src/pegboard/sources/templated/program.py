"""A tool that is one run of a program: an argument list, never a shell."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

import anyio

from pegboard.core import Call, Effects, Failure, FailureCode, Mode, Report, Result
from pegboard.errors import DefinitionError
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.sources.http.exchange import BadArgument
from pegboard.sources.templated.fill import Missing, fill, fill_text, placeholders, text_of

Output: TypeAlias = Literal["auto", "json", "lines", "text"]

MAX_OUTPUT = 1_000_000
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER")


@dataclass(frozen=True)
class ProgramTemplate:
    """An argument list with placeholders.

    Each entry is a text, or a table `{ when = "name", args = [...] }` whose texts are added only where that argument is
    given (and not false). An entry that is one placeholder of a list becomes one argument per item. A value that would
    stand alone and begins with a dash is refused, unless `--` stands before it.

    Parameters:
        argv: the entries; the first is the program.
        stdin: what is written to its standard input.
        cwd: where it runs.
        env: environment variables, besides a few harmless ones.
        seconds: how long it may run.
        output: how its output is read.
    """

    argv: tuple[Json, ...]
    stdin: str | None = None
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    seconds: float = 60.0
    output: Output = "auto"

    @classmethod
    def read(cls, table: Json, where: str, *, cwd: str | None, seconds: float) -> "ProgramTemplate":
        """The template that a list, or a table with `argv`, describes.

        Raises:
            DefinitionError: it names no program, or a program that is a placeholder.
        """
        rows = as_object(table)
        argv = tuple(cast("Sequence[Json]", rows.get("argv") if rows else table) or ())
        if not argv or not isinstance(argv[0], str) or not argv[0] or placeholders(argv[0]):
            raise DefinitionError(
                "There is no program to run.", where=where, next_step='Write ["program", "--option", "{{name}}"].'
            )
        output = rows.get("output", "auto")
        if output not in ("auto", "json", "lines", "text"):
            raise DefinitionError(f"There is no output {output!r}.", where=where, next_step="Use json, lines or text.")
        env = {str(key): str(value) for key, value in as_object(rows.get("env")).items()}
        stdin = rows.get("stdin")
        folder = str(rows.get("cwd") or cwd or "") or None
        return cls(argv, stdin, folder, env, float(rows.get("timeout", seconds)), output)

    @property
    def names(self) -> list[str]:
        """The placeholders and conditions, each once."""
        conditions = [str(as_object(entry)["when"]) for entry in self.argv if "when" in as_object(entry)]
        texts = [as_object(entry).get("args", entry) for entry in self.argv]
        return list(dict.fromkeys([*placeholders([*texts, self.stdin or ""]), *conditions]))

    @property
    def needed(self) -> list[str]:
        """The placeholders that every run needs."""
        return placeholders([*(entry for entry in self.argv if isinstance(entry, str)), self.stdin or ""])

    def command(self, arguments: JsonObject) -> list[str]:
        """The argument list for these arguments. Raises `BadArgument` where one cannot stand in its place."""
        command: list[str] = []
        for entry in self.argv:
            table = as_object(entry)
            if not table:
                command += self._filled(str(entry), arguments, "--" in command)
            elif arguments.get(str(table.get("when"))) not in (None, False):
                for text in table.get("args", ()):
                    command += self._filled(str(text), arguments, "--" in command)
        return command

    def _filled(self, text: str, arguments: JsonObject, ended: bool) -> list[str]:
        names = placeholders(text)
        try:
            value = fill(text, arguments)
        except Missing as error:
            raise BadArgument(str(error.args[0]), "It is needed and was not given.") from None
        values = cast("list[Json]", value) if isinstance(value, list) else [value]
        found = [text_of(part) for part in values]
        # A number that was given as one was declared so. The text "-9" is an option to kill, and "-1" one to ls.
        numeric = all(isinstance(part, int | float) for part in values)
        for part in found:
            if "\0" in part:
                raise BadArgument(names[0] if names else "", "An argument of a program cannot hold a zero byte.")
            if names and part.startswith("-") and text.startswith("{{") and not ended and not numeric:
                message = f"{part!r} looks like an option, and only a value may stand here."
                raise BadArgument(names[0], message, "Give one that does not begin with -; a file may be ./-name.")
        return found


@dataclass(frozen=True)
class ProgramRun:
    """The handler of a tool that is one run of a program."""

    template: ProgramTemplate
    effects: Effects

    async def __call__(self, call: Call) -> Result:
        """Fill the template and run the program; a preview shows the argument list, unrun."""
        mode = call.mode or Mode.EXECUTE
        try:
            command = self.template.command(call.arguments)
            stdin = fill_text(self.template.stdin, call.arguments) if self.template.stdin else ""
        except BadArgument as error:
            return Result(failure=error.failure, mode=mode)
        except Missing as error:
            return Result(failure=BadArgument(str(error.args[0]), "It is needed.").failure, mode=mode)
        if mode is not Mode.EXECUTE:
            note = "This is the command. It was not run: what it would change is not known."
            return Result(value={"run": False, "command": command}, mode=mode, report=Report(notes=(note,)))
        return await self._run(command, stdin.encode())

    async def _run(self, command: list[str], stdin: bytes) -> Result:
        env = {name: os.environ[name] for name in _KEPT if name in os.environ} | dict(self.template.env)
        try:
            process = await anyio.open_process(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.template.cwd,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            return Result.failed(
                FailureCode.UNAVAILABLE,
                f"{command[0]} cannot be started: {reason}.",
                next_step="Install it, or correct its path.",
            )
        out, err = bytearray(), bytearray()
        try:
            with anyio.fail_after(self.template.seconds):
                async with process, anyio.create_task_group() as tasks:
                    tasks.start_soon(_feed, process, stdin)
                    tasks.start_soon(_drain, process.stdout, out)
                    tasks.start_soon(_drain, process.stderr, err)
                    await process.wait()
        except TimeoutError:
            return self._late(bytes(out), bytes(err))
        finally:
            _end(process)
        return self._outcome(command[0], process.returncode or 0, bytes(out), bytes(err))

    def _late(self, out: bytes, err: bytes) -> Result:
        code = FailureCode.TIMEOUT if self.effects.repeatable else FailureCode.OUTCOME_UNKNOWN
        message = f"It ran longer than {self.template.seconds:g} s and was ended."
        step = "Ask for less, or check what it did before you try again."
        return Result.failed(code, message, next_step=step, details=_tails(out, err))

    def _outcome(self, program: str, code: int, out: bytes, err: bytes) -> Result:
        said = err.decode("utf-8", "replace").strip()
        if code != 0:
            text = (said or out.decode("utf-8", "replace").strip())[-1_000:]
            failure = Failure(
                FailureCode.FAILED,
                f"{program} ended with code {code}" + (f": {text}" if text else "."),
                next_step="Correct the arguments as it says, and call again.",
                details={"exit_code": code, **_tails(out, err)},
            )
            return Result(failure=failure)
        notes = [said[-500:]] if said else []
        if len(out) >= MAX_OUTPUT:
            notes.append(f"Its output was cut at {MAX_OUTPUT} bytes.")
        value = _read(out.decode("utf-8", "replace"), self.template.output)
        if self.template.output == "json" and isinstance(value, str) and not out.strip().startswith(b'"'):
            notes.append("Its output is no JSON; it is given as a text.")
        return Result(value=value, report=Report(notes=tuple(notes)) if notes else None)


def _tails(out: bytes, err: bytes) -> dict[str, Json]:
    """The ends of what a program said before it failed: a part of its work may be done."""
    streams = {"stdout": out, "stderr": err}
    return {name: text[-2_000:].decode("utf-8", "replace") for name, text in streams.items() if text.strip()}


async def _feed(process: anyio.abc.Process, data: bytes) -> None:
    assert process.stdin is not None
    try:
        if data:
            await process.stdin.send(data)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # it did not want its input
    finally:
        await process.stdin.aclose()


async def _drain(stream: anyio.abc.ByteReceiveStream | None, into: bytearray) -> None:
    assert stream is not None
    async for part in stream:
        if len(into) < MAX_OUTPUT:  # the rest is read and dropped, so that the program is not held up
            into += part[: MAX_OUTPUT - len(into)]


def _end(process: anyio.abc.Process) -> None:
    """End the program and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _read(text: str, output: Output) -> Json:
    if output == "lines":
        return text.splitlines()
    if output in ("json", "auto"):
        try:
            return json.loads(text)
        except ValueError:
            pass
    return text
