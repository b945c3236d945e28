"""A saved `tools/list` answer as a source: listed and searched like any other, but nothing can be called."""

import gzip
import json
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from pegboard.core import (
    Call,
    FailureCode,
    Health,
    Listing,
    Note,
    NoteKind,
    Result,
    SourceRef,
    SourceState,
    Tool,
)
from pegboard.errors import SourceError
from pegboard.normalise import normalise_all
from pegboard.schema.types import Json
from pegboard.sources.rows import answer, each_row
from pegboard.sources.still import Still

if TYPE_CHECKING:
    from pegboard.sources.replayed import Answers


class RecordedSource(Still):
    """Tools from a file: `{"tools": [...]}`, an array or JSON Lines, plain or .gz, in any spelling.

    With traces, it stands in for the upstream that they were recorded from: calls get the answers that stand there.

    Parameters:
        name: the source's name.
        path: the file.
        prefix: the namespace of its tools; the source's name by default. A row's own `namespace` wins.
        trust_annotations: whether its hints may loosen a policy.
        answers: trace files, of any known format.
    """

    kind = "recorded"

    def __init__(
        self,
        name: str,
        path: str | Path,
        *,
        prefix: str | None = None,
        trust_annotations: bool = False,
        answers: Sequence[str | Path] = (),
    ) -> None:
        super().__init__()
        self.name = name
        self.namespace = name if prefix is None else prefix
        self.path = Path(path)
        self._trusted = trust_annotations
        self._answers = tuple(map(Path, answers))

    async def listing(self) -> Listing:
        """Every tool of the file; a row or line that is none is set aside alone.

        Raises:
            SourceError: the file is missing, or nothing in it can be read.
        """
        return await anyio.to_thread.run_sync(self._read)

    async def health(self) -> Health:
        """Whether the file is there."""
        if self.path.is_file():
            return Health(SourceState.READY)
        return Health(SourceState.UNAVAILABLE, f"There is no file {self.path}.")

    def _read(self) -> Listing:
        notes: list[Note] = []
        instructions, rows = read_rows(read_text(self.path, where=f"sources.{self.name}: {self.path}"), notes)
        specs, more = normalise_all(
            rows, namespace=self.namespace, source=SourceRef(self.name, self.kind), trusted=self._trusted
        )
        notes += more
        if not specs:
            raise _fault(
                f"sources.{self.name}: {self.path}",
                "holds no tools.",
                'It must be {"tools": [...]}, an array, or one tool a line.',
            )
        if not self._answers:
            return Listing(tuple(Tool(spec, self._refuse) for spec in specs), tuple(notes), instructions)
        answers = self._recorded()
        specs = tuple(answers.eased(spec, notes) for spec in specs)
        return Listing(tuple(Tool(spec, answers) for spec in specs), tuple(notes), instructions)

    def _recorded(self) -> "Answers":
        from pegboard.sources.replayed import Answers
        from pegboard.trace.importers import Skipped, read

        missing = next((path for path in self._answers if not path.exists()), None)
        if missing is not None:
            raise SourceError(
                "The traces that calls are answered from are not there.",
                where=f"sources.{self.name}.answers: {missing}",
                next_step="Check the path; it is relative to the config.",
            )
        return Answers.of(item for path in self._answers for item in read(path) if not isinstance(item, Skipped))

    async def _refuse(self, call: Call) -> Result:
        return Result.failed(
            FailureCode.UNAVAILABLE,
            f"{call.tool} is known from a recording only; nothing behind it can be called.",
            where=self.name,
            next_step=f"Connect the real server as `mcp` in [sources.{self.name}].",
        )


def read_text(path: Path, *, where: str = "") -> str:
    """The text of a recording, plain or .gz, UTF-8 or UTF-16.

    Parameters:
        path: the file.
        where: what to call it in errors.

    Raises:
        SourceError: it is missing or damaged.
    """
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except OSError as error:
        raise _fault(where or str(path), f"cannot be read: {error.strerror or error}.", "Check the path.") from None
    except (EOFError, zlib.error):
        raise _fault(where or str(path), "is a damaged gzip file.", "Save it again.") from None
    return raw.decode("utf-16" if raw[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig", "replace")


def _fault(where: str, what: str, next_step: str) -> SourceError:
    return SourceError(f"The recording {what}", where=where, next_step=next_step)


def read_rows(text: str, notes: list[Note]) -> tuple[str, list[Json]]:
    """The instructions and the tool rows of a recording; lines that are no JSON are noted."""
    rows: list[Json] = []
    for row, fault in each_row(text):
        if fault:
            where, _, why = fault.partition(" is ")
            notes.append(Note(NoteKind.SET_ASIDE, None, where, f"The line is {why}; it was set aside."))
        else:
            rows.append(row)
    try:
        whole = answer(json.loads(text.removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return "", rows
    rows = [] if rows == [whole] and not whole.keys() & {"name", "function"} else rows
    instructions = whole.get("instructions")
    return instructions if isinstance(instructions, str) else "", rows
