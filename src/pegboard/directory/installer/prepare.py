"""From a discoverable to sources that can be started, everything they need put down; or nothing at all."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import time

import anyio
import anyio.to_thread

from pegboard.core import Discoverable
from pegboard.core.discoverable import Part
from pegboard.directory.fault import InstallError, Tell
from pegboard.directory.installer import node, python
from pegboard.directory.installer.run import program, run
from pegboard.directory.plugin import DATA, ROOT, digest_of
from pegboard.directory.reading import Unreadable, slug
from pegboard.directory.registry import image_of
from pegboard.directory.state import FOLDER, Installed
from pegboard.schema.types import Json, JsonObject


async def prepare(one: Discoverable, store: Path | None, taken: Iterable[str], tell: Tell) -> list[Installed]:
    """Fetch what a discoverable needs.

    Parameters:
        one: what to install.
        store: the board's store; None where nothing outlives the process.
        taken: the names of the board's sources.
        tell: hears what is being done.

    Returns:
        Its sources; a plugin that only brings topics comes as one without a table.

    Raises:
        InstallError: something went wrong; nothing is left of it.
    """
    work = _Work(one, store, set(taken), tell)
    try:
        return await work.run()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_remove, work.made)
        raise


async def discard(installed: Iterable[Installed]) -> None:
    """Take what was put down for sources off the disk."""
    folders = [Path(one.folder) for one in installed if one.folder is not None]
    await anyio.to_thread.run_sync(_remove, folders)


def sweep(store: Path, kept: Iterable[Installed]) -> None:
    """Take off the disk what no installed source owns: what a process that was killed has left."""
    owned = {Path(one.folder).resolve() for one in kept if one.folder is not None}
    place = store / FOLDER
    if place.is_dir():
        _remove(path for path in place.iterdir() if path.resolve() not in owned)


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class _Work:
    one: Discoverable
    store: Path | None
    taken: set[str]
    tell: Tell
    made: list[Path] = field(default_factory=list[Path])

    async def run(self) -> list[Installed]:
        copied: dict[str, Path] = {}
        found = [await self._part(part, copied) for part in self.one.parts]
        if found or not self.one.topics:
            return found
        root = Path(self.one.topics[0].path).parents[2]
        return [self._installed(self._free(slug(self.one.id)), {}, await self._copied(root), self.one.trust.version)]

    async def _part(self, part: Part, copied: dict[str, Path]) -> Installed:
        name = self._free(part.name)
        package, version = part.package, self.one.trust.version
        if package is None:
            return self._installed(name, part.table, None, version)
        if package.registry == "folder":
            if package.identifier not in copied:
                copied[package.identifier] = await self._copied(Path(package.identifier))
            return self._installed(name, part.table, copied[package.identifier], version)
        command: Sequence[str] = part.table["mcp"]
        if package.registry == "oci":
            docker = program("docker", for_="A container image")
            await self.tell(f"pulling {image_of(package)}")
            await run([docker, "pull", "--quiet", image_of(package)], f"Pulling {image_of(package)}")
            return self._installed(name, part.table, None, package.version)
        folder = self._folder(name)
        install = python.install if package.registry == "pypi" else node.install
        path, version = await install(package, folder, command[0], self.tell)
        return self._installed(name, {**part.table, "mcp": [path, *command[1:]]}, folder, version)

    async def _copied(self, root: Path) -> Path:
        """A copy of a plugin's folder, which is what is run: what happens to the original later changes nothing."""
        await self.tell(f"copying {root.name}")
        folder = self._folder(slug(self.one.id))

        def copy() -> str:
            shutil.copytree(root, folder / "plugin", ignore=shutil.ignore_patterns("__pycache__", ".git"))
            (folder / "data").mkdir()
            return digest_of(folder / "plugin")

        try:
            found = await anyio.to_thread.run_sync(copy)
        except (OSError, Unreadable) as problem:
            raise InstallError(f"{root} cannot be copied: {problem}.", next_step="Correct the folder.") from problem
        if self.one.trust.sha256 not in (None, found):
            raise InstallError(f"{root} has changed meanwhile.", next_step="Look at it, and ask again.")
        return folder

    def _folder(self, name: str) -> Path:
        if self.store is None:
            raise InstallError(
                "This board keeps nothing, so there is no place to install a package.",
                next_step="Name a folder as `store` in [board].",
            )
        place = self.store / FOLDER
        folder = next(path for n in count() if not (path := place / (f"{name}-{n}" if n else name)).exists())
        place.mkdir(parents=True, exist_ok=True)
        self.made.append(folder)
        return folder

    def _free(self, name: str) -> str:
        free = next(each for n in count(1) if (each := name if n == 1 else f"{name}-{n}") not in self.taken)
        self.taken.add(free)
        return free

    def _installed(self, name: str, table: JsonObject, folder: Path | None, version: str | None) -> Installed:
        filled: JsonObject = _filled(table, {ROOT: f"{folder}/plugin", DATA: f"{folder}/data"}) if folder else table
        return Installed(
            name=name,
            table=filled,
            tool_id=self.one.id,
            type=self.one.type,
            directory=self.one.directory,
            digest=self.one.digest,
            version=version,
            folder=None if folder is None else str(folder),
            at=time(),
        )


def _filled(value: Json, folders: JsonObject) -> Json:
    """A table with the plugin's folders in the place of their marks, as texts that hold no reference."""
    match value:
        case str():
            for mark, path in folders.items():
                value = value.replace(mark, path.replace("${", "$${"))
            return value
        case dict():
            return {key: _filled(item, folders) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return [_filled(item, folders) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
