"""Who holds a run: this process, named so that another one on the same machine can tell whether it still lives."""

import os
import socket
from contextlib import suppress
from functools import cache
from pathlib import Path


def this_process() -> str:
    """The name of this process: machine, process id, and when it began (process ids are used again)."""
    return f"{_machine()}/{os.getpid()}/{_began(os.getpid())}"


def has_ended(owner: str) -> bool:
    """Whether the process of this name is known to be gone; False where that cannot be told from here."""
    machine, number, began = (*owner.split("/"), "", "")[:3]
    if machine != _machine() or not number.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _began(int(number)) != began


@cache
def _machine() -> str:
    space = ""
    with suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")  # two containers of one name do not see one another's processes
    return f"{socket.gethostname()}.{space}".replace("/", "_")


def _began(number: int) -> str:
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]  # field 22 of proc(5), counted after the name in brackets
