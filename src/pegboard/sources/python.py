"""Tools from a Python module: every `@tool` in it, in the order in which it stands there."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, cast

import anyio
import anyio.to_thread

from pegboard.core import Health, Listing, Note, NoteKind, SourceRef, SourceState, Tool, ToolName
from pegboard.define import ToolFunction
from pegboard.errors import PegboardError, SourceError


class PythonSource:
    """The tools of one module: its `@tool` functions and whatever else carries a tool, and those of its list `tools`.

    Parameters:
        name: the source's name, and the namespace of tools that name none.
        module: the module's dotted name.
        path: a folder that is searched before all others, such as the config's.
        prefix: the namespace in place of the name.
    """

    kind = "python"

    def __init__(self, name: str, module: str, path: str | Path | None = None, *, prefix: str | None = None) -> None:
        self.name = name
        self._module_name = module
        self._path = str(Path(path).absolute()) if path is not None else None
        self.namespace = name if prefix is None else prefix
        self._module: ModuleType | None = None
        self._closed: anyio.Event | None = None

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[None]:
        """Import the module; its folder stays on the path, at the end, as long as the source is open.

        Raises:
            SourceError: the module is not there, or fails while it is imported; it says in which file and line.
        """
        self._closed = anyio.Event()
        with on_path(self._path):
            self._module = await anyio.to_thread.run_sync(self._import)
            try:
                yield
            finally:
                self._closed.set()

    async def listing(self) -> Listing:
        """The module's tools. One that cannot be defined is set aside alone."""
        if self._module is None:
            raise SourceError("The source is not open.", where=self.name, next_step="Enter its session first.")
        tools: dict[ToolName, Tool] = {}
        notes: list[Note] = []
        for label, carrier in _carriers(self._module):
            try:
                tool = self._placed(_tool_of(carrier))
            except PegboardError as error:
                notes.append(Note(NoteKind.SET_ASIDE, label, "", str(error)))
                continue
            if tool.name in tools:
                notes.append(Note(NoteKind.SET_ASIDE, label, "", f"There is a tool {str(tool.name)!r} already."))
            else:
                tools[tool.name] = tool
        return Listing(tuple(tools.values()), tuple(notes), self._says())

    async def health(self) -> Health:
        """Ready once it is imported."""
        return Health(SourceState.IDLE if self._module is None else SourceState.READY)

    async def changes(self) -> AsyncIterator[None]:
        """A module does not change; ends with the session."""
        if self._closed is not None:
            await self._closed.wait()
        for never in ():
            yield never

    def _says(self) -> str:
        return (self._module.__doc__ or "").strip() if self._module else ""

    def _placed(self, tool: Tool) -> Tool:
        name = tool.spec.name
        if not name.namespace:
            name = replace(name, namespace=self.namespace)
        return Tool(replace(tool.spec, name=name, source=SourceRef(self.name, self.kind)), tool.handler)

    def _import(self) -> ModuleType:
        _forget_namesake(self._module_name, self._path)
        try:
            with on_path(self._path, first=True):
                return import_module(self._module_name)
        except (Exception, SystemExit) as error:  # a module may do anything while it is imported
            raise self._explained(error) from error

    def _explained(self, error: BaseException) -> SourceError:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and (self._module_name == missing or self._module_name.startswith(f"{missing}.")):
            looked = f"{self._path} and " if self._path else ""
            return SourceError(
                f"There is no Python module {missing!r}.",
                where=self.name,
                next_step=f"It was looked for in {looked}the running Python's path; correct `python`, or install it.",
            )
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        step = f"Install {missing!r} for the Python that runs here." if missing else "Correct the module."
        return SourceError(
            f"The module {self._module_name!r} cannot be imported: {what}", where=_place_of(error), next_step=step
        )


def _place_of(error: BaseException) -> str:
    """File and line of the fault: where a syntax error is, else the last line outside of the import system."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _carriers(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Everything in a module that carries a tool, each once, and each entry of its list `tools`."""
    seen: set[int] = set()
    for label, value in list(vars(module).items()):
        if _carries(value) and id(value) not in seen:
            seen.add(id(value))
            yield label, value
    listed = getattr(module, "tools", None)
    if isinstance(listed, (list, tuple)):
        for index, value in enumerate(cast("Sequence[Any]", listed)):
            if id(value) not in seen:
                seen.add(id(value))
                yield f"tools[{index}]", value


def _carries(value: Any) -> bool:
    if isinstance(value, (type, ModuleType)):
        return False
    kind = cast("type[Any]", type(value))
    return isinstance(value, Tool) or any("tool" in vars(base) for base in kind.__mro__)


def _tool_of(carrier: Any) -> Tool:
    if isinstance(carrier, Tool):
        return carrier
    found = getattr(carrier, "tool", None)
    if isinstance(found, Tool):
        return found
    if not callable(carrier):
        raise SourceError(f"{carrier!r} is neither a tool nor a function.")
    return ToolFunction(carrier, {}).tool


def _forget_namesake(module: str, path: str | None) -> None:
    """Let go of a module of the same name from another folder, so that each board gets its own."""
    top = module.partition(".")[0]
    loaded = sys.modules.get(top)
    found = PathFinder.find_spec(top, [path]) if loaded is not None and path is not None else None
    if found is None or found.origin is None or found.origin == getattr(loaded, "__file__", None):
        return
    for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
        del sys.modules[name]


@contextmanager
def on_path(path: str | None, *, first: bool = False) -> Generator[None]:
    """Have a folder on `sys.path`: first while a module is imported from it, last so that it hides nothing."""
    if path is None:
        yield
        return
    sys.path.insert(0, path) if first else sys.path.append(path)
    try:
        yield
    finally:
        if path in sys.path:
            del sys.path[sys.path.index(path) if first else len(sys.path) - 1 - sys.path[::-1].index(path)]
