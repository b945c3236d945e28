"""Running a package manager: an argument list, never a shell; its secrets are not ours, and its last words are told."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from pegboard.directory.fault import InstallError
from pegboard.trace.redact import Redactor, looks_secret

MINUTES = 10
_SHOWN = 1200
_ITS_OWN = ("PIP_", "UV_", "NPM_CONFIG_", "npm_config_", "DOCKER_")
_REDACTOR = Redactor()


def program(name: str, *, for_: str) -> str:
    """The path of a package manager.

    Raises:
        InstallError: it is not on PATH.
    """
    found = shutil.which(name)
    if found is None:
        raise InstallError(f"{for_} needs {name}, which is not on PATH.", next_step=f"Install {name}, and try again.")
    return found


async def run(argv: Sequence[str], what: str, *, cwd: Path | None = None, minutes: float = MINUTES) -> str:
    """Run a program to its end; its output, which is also told where it fails.

    Parameters:
        argv: the program and its arguments.
        what: what it does, for errors.
        cwd: where it runs.
        minutes: how long it may take.

    Raises:
        InstallError: it cannot be started, takes too long, or ends with an error.
    """
    try:
        with anyio.fail_after(minutes * 60):
            done = await anyio.run_process(
                list(argv), check=False, cwd=cwd, env=environment(os.environ), stdin=subprocess.DEVNULL
            )
    except TimeoutError:
        raise InstallError(f"{what} took longer than {minutes:g} minutes.", next_step="Try again later.") from None
    except OSError as problem:
        raise InstallError(f"{what}: {argv[0]} cannot be started: {problem.strerror}.") from problem
    told = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    shown = _REDACTOR.text(told[-_SHOWN:])
    raise InstallError(
        f"{what} failed: {shown or f'exit code {done.returncode}'}",
        next_step="Correct the directory's entry (name, version, hash, index), or install it by hand.",
    )


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for a package manager: all but those that look secret and are not its own settings."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_ITS_OWN) or not (looks_secret(name) or name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"))
    }
