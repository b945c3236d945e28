"""A PyPI package in a virtual environment of its own."""

import configparser
import importlib.util
import os
import re
import sys
from pathlib import Path

from pegboard.core.discoverable import Package
from pegboard.directory.fault import InstallError, Tell
from pegboard.directory.installer.run import program, run

_WINDOWS = os.name == "nt"


async def install(package: Package, folder: Path, wanted: str, tell: Tell) -> tuple[str, str | None]:
    """Install a package and what it needs.

    Parameters:
        package: the package; its version is the exact one, its hash is checked before anything of it runs.
        folder: where the environment goes.
        wanted: the program that is looked for.
        tell: hears what is being done.

    Returns:
        The program's path, and the version that is there.

    Raises:
        InstallError: it cannot be installed, or brings no program.
    """
    await tell("making an environment")
    python, pip = await _environment(folder)
    requirement = f"{package.identifier}=={package.version}" if package.version else package.identifier
    await tell(f"installing {requirement}")
    places = _places(package)
    if package.sha256 is not None:
        pinned = folder / "pinned.txt"
        pinned.write_text(f"{requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
        await run([*pip, *places, "--no-deps", "-r", str(pinned)], f"Installing {requirement} with its hash")
    await run([*pip, *places, requirement], f"Installing {requirement}")
    name = package.identifier.partition("[")[0]
    return _program(folder, name, wanted, python), _version(folder, name)


async def _environment(folder: Path) -> tuple[str, list[str]]:
    """A new environment: its Python, and the command that installs into it."""
    python = str(folder / ("Scripts/python.exe" if _WINDOWS else "bin/python"))
    quiet = ["install", "--disable-pip-version-check", "--no-input", "--quiet"]
    making = "Making a virtual environment"
    bundled = _bundled_pip()
    if bundled is not None:  # half the time and size of an environment with a pip of its own
        await run([sys.executable, "-m", "venv", "--without-pip", str(folder)], making)
        return python, [python, f"{bundled}/pip", *quiet]
    if importlib.util.find_spec("ensurepip") is not None:
        await run([sys.executable, "-m", "venv", str(folder)], making)
        return python, [python, "-m", "pip", *quiet]
    uv = program("uv", for_="A Python without ensurepip")
    await run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], making)
    return python, [uv, "pip", "install", "--quiet", "--python", python]


def _bundled_pip() -> Path | None:
    """The pip that this Python brings for new environments, as a file that runs by itself."""
    found = importlib.util.find_spec("ensurepip")
    if found is None or found.origin is None:
        return None
    return max(Path(found.origin).parent.glob("_bundled/pip-*.whl"), default=None)


def _places(package: Package) -> list[str]:
    if package.wheelhouse is not None:
        return ["--no-index", "--find-links", package.wheelhouse]
    return ["--index-url", package.index] if package.index is not None else []


def _program(folder: Path, name: str, wanted: str, python: str) -> str:
    """The program that was named; where none was, the only one that the package brings."""
    scripts = folder / ("Scripts" if _WINDOWS else "bin")
    own = _scripts(folder, name)
    only = own[0] if len(own) == 1 and wanted == name else None
    chosen = wanted if wanted in own or (scripts / wanted).exists() else only
    if chosen is None or Path(chosen).name != chosen:
        told = f"It brings {', '.join(own)}: name one as `program`." if own else "It brings no program at all."
        raise InstallError(f"{name} has no program {wanted!r}.", next_step=told)
    path = scripts / (f"{chosen}.exe" if _WINDOWS else chosen)
    if not path.exists():
        raise InstallError(f"{name} names a program {chosen!r} that is not there ({python}).")
    return str(path)


def _scripts(folder: Path, name: str) -> list[str]:
    parser = configparser.ConfigParser(strict=False, delimiters=("=",))
    for info in _infos(folder, name):
        if (info / "entry_points.txt").exists():
            parser.read(info / "entry_points.txt", encoding="utf-8")
    return sorted(parser["console_scripts"]) if parser.has_section("console_scripts") else []


def _version(folder: Path, name: str) -> str | None:
    return next((info.name.removesuffix(".dist-info").rpartition("-")[2] for info in _infos(folder, name)), None)


def _infos(folder: Path, name: str) -> list[Path]:
    """The package's own metadata folders; names are compared as PEP 503 does."""
    return [
        info
        for info in sorted(folder.glob("[Ll]ib/**/*.dist-info"))
        if _plain(info.name.removesuffix(".dist-info").rpartition("-")[0]) == _plain(name)
    ]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
