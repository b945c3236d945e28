"""Landlock: what a process of ours can touch, told to the Linux kernel (`man 7 landlock`)."""

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import lru_cache

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System call numbers, the same on every architecture (generic table)."""
_VERSION = 1
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_SEE = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""The rights over files that each version of the interface knows."""
_TCP = 0b11
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


@lru_cache(maxsize=1)
def version() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    found = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    return max(found, 0)


def ruleset(readable: Sequence[str]) -> int | None:
    """A set of rules under which only these files and folders can be read, and nothing written, no TCP used.

    Parameters:
        readable: files and folders; those that are not there are passed over.

    Returns:
        A file descriptor for `restrict`, or None where the kernel has no Landlock.
    """
    abi = version()
    if not abi:
        return None
    rights = _FILE_RIGHTS[max(known for known in _FILE_RIGHTS if known <= abi)]
    rules = _Ruleset(rights, _TCP if abi >= 4 else 0, _SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    made = _libc().syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if made < 0:
        return None
    for path in readable:
        _allow(made, path)
    return made


def restrict(made: int) -> None:
    """Hold this process and all that it starts to a set of rules, for good. Runs between fork and exec."""
    libc = _libc()
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.syscall(_RESTRICT, made, 0):
        raise OSError("Landlock refused the rules.")


def _allow(made: int, path: str) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = _SEE if os.path.isdir(path) else _EXECUTE | _READ_FILE
    rule = _PathBeneath(rights, handle)
    _libc().syscall(_ADD, made, 1, ctypes.byref(rule), ctypes.c_uint32(0))
    os.close(handle)


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
