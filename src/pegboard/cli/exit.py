"""How a command ends."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes."""

    OK = 0
    FINDING = 1
    """A finding, a failed call, an unknown tool: the command did its work, and the news is bad."""
    USAGE = 2
    """The command line or the config is wrong."""
    INTERRUPTED = 130
