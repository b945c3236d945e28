"""An npm package in a folder of its own."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from pegboard.core.discoverable import Package
from pegboard.directory.fault import InstallError, Tell
from pegboard.directory.installer.run import program, run
from pegboard.schema.types import as_object

_QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


async def install(package: Package, folder: Path, wanted: str, tell: Tell) -> tuple[str, str | None]:
    """Install a package and what it needs, without running the scripts that packages bring for installing.

    Parameters:
        package: the package; its hash, where there is one, is that of its tarball.
        folder: where it goes.
        wanted: the program that is looked for.
        tell: hears what is being done.

    Returns:
        The program's path, and the version that is there.

    Raises:
        InstallError: it cannot be installed, or brings no program.
    """
    npm = program("npm", for_="A package of npm")
    folder.mkdir(parents=True)
    place = ["--registry", package.index] if package.index is not None else []
    target = f"{package.identifier}@{package.version}" if package.version else package.identifier
    await tell(f"installing {target}")
    if package.sha256 is not None:
        target = await _checked(npm, target, package.sha256, folder, place)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    command = [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--omit=dev", *_QUIET, *place, target]
    await run(command, f"Installing {package.identifier}", cwd=folder)
    own = as_object(_manifest(folder, package.identifier))
    return _program(folder, package.identifier, own, wanted), str(own.get("version") or "") or None


async def _checked(npm: str, target: str, sha256: str, folder: Path, place: list[str]) -> str:
    """The tarball of a package, if it is the one that is pinned."""
    told = await run([npm, "pack", "--silent", *place, target, "--pack-destination", str(folder)], f"Fetching {target}")
    tarball = folder / told.strip().splitlines()[-1]
    found = hashlib.sha256(tarball.read_bytes()).hexdigest()
    if found != sha256:
        raise InstallError(f"{target} has the hash {found}, and {sha256} is pinned.", next_step="Ask its publisher.")
    return str(tarball)


def _manifest(folder: Path, identifier: str) -> Any:
    try:
        return json.loads((folder / "node_modules" / identifier / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InstallError(f"{identifier} was installed without a package.json: {problem}.") from problem


def _program(folder: Path, identifier: str, own: Any, wanted: str) -> str:
    named = own.get("bin")
    programs = [identifier.rpartition("/")[2]] if isinstance(named, str) else sorted(as_object(named))
    only = programs[0] if len(programs) == 1 and wanted == identifier.rpartition("/")[2] else None
    chosen = wanted if wanted in programs else only
    if chosen is None or Path(chosen).name != chosen:
        told = f"It brings {', '.join(programs)}: name one as `program`." if programs else "It brings no program."
        raise InstallError(f"{identifier} has no program {wanted!r}.", next_step=told)
    return str(folder / "node_modules" / ".bin" / (f"{chosen}.cmd" if os.name == "nt" else chosen))
