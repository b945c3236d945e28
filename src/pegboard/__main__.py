"""`python -m pegboard` and the `pegboard` command."""

import os
import sys
import threading
import time

from pegboard.errors import MissingExtraError

_PATIENCE = 0.5
"""Seconds for threads to end."""


def main() -> None:
    """Run the command line, and end with its exit code."""
    from pegboard.cli.app import run

    try:
        leave(run(sys.argv[1:]))
    except ModuleNotFoundError as problem:
        if problem.name != "cyclopts":
            raise
        sys.exit(f"pegboard: {MissingExtraError('gateway', feature='The command line')}")


def leave(code: int) -> None:
    """End the process, even where a tool's thread, which nobody can stop, still runs although its call is over.

    Parameters:
        code: the exit code.
    """
    until = time.monotonic() + _PATIENCE
    left = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    for thread in left:
        thread.join(max(until - time.monotonic(), 0))
    if any(thread.is_alive() for thread in left):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
