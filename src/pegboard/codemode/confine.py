"""What holds a child process in: its runtime's own permissions, Landlock, limits of the system, a watchdog."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pegboard.codemode import landlock

_MEGABYTE = 1 << 20
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom")
BASE_MB = 160
"""Megabytes that the runtime itself takes, besides the code's values."""


@dataclass(frozen=True, slots=True)
class Protection:
    """One thing that holds code in.

    Parameters:
        name: what it is.
        active: whether it is in force on this machine.
        about: what it does, or what is missing.
    """

    name: str
    active: bool
    about: str


def confinement(readable: Sequence[str], *, cpu_seconds: int) -> Callable[[], None] | None:
    """What a child does between fork and exec to hold itself in; None where the machine offers nothing.

    Parameters:
        readable: the files that its program is made of.
        cpu_seconds: processor time after which the kernel ends it, should this process no longer be able to.
    """
    if sys.platform == "win32":
        return None
    import resource

    rules = landlock.ruleset([*readable, *_LIBRARIES])

    def confine() -> None:
        if rules is not None:
            landlock.restrict(rules)
        for kind, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, _MEGABYTE),
            (resource.RLIMIT_CPU, cpu_seconds),
            (resource.RLIMIT_NOFILE, 64),
        ):
            hard = resource.getrlimit(kind)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (least, least))

    return confine


def resident_mb(pid: int) -> float | None:
    """Megabytes of memory that a process holds; None where that cannot be seen, or it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE
    except (OSError, ValueError, IndexError):
        return None


def protections() -> list[Protection]:
    """What holds JavaScript in on this machine, and what is missing."""
    abi = landlock.version()
    linux = sys.platform == "linux"
    return [
        Protection("process", True, "each run has a process of its own, which is killed at the end"),
        Protection(
            "permissions", True, "the deno child may not read, write, run, reach the network or the environment"
        ),
        Protection(
            "landlock",
            abi > 0,
            f"the kernel refuses files{' and TCP' if abi >= 4 else ''} too (version {abi})"
            if abi
            else "this kernel has no Landlock: deno's own permissions alone keep code from files",
        ),
        Protection(
            "rlimits",
            sys.platform != "win32",
            "processor time, file size and open files are limited"
            if sys.platform != "win32"
            else "Windows has no rlimits",
        ),
        Protection(
            "memory watchdog",
            linux and Path("/proc/self/statm").exists(),
            "a process that takes too much memory is killed"
            if linux
            else "without /proc only V8's own heap limit holds, which does not count buffers",
        ),
    ]
