"""A mode of one tool that another tool shall answer, as a config writes it."""

from dataclasses import dataclass

from pegboard.core.call import Mode
from pegboard.schema.types import Json


@dataclass(frozen=True, slots=True)
class Wish:
    """That another tool answers a mode of a tool.

    Parameters:
        namespace: the tool's namespace.
        name: its name, or a glob.
        mode: preview or explore.
        by: the other tool's name, or a table of `tool`, `args` and `value`.
    """

    namespace: str
    name: str
    mode: Mode
    by: Json
