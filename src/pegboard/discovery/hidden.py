"""What a model is told that names a tool which it shall not see."""

from pegboard.catalog import Unknown
from pegboard.core import Failure, FailureCode, ToolName
from pegboard.discovery.desk import Desk
from pegboard.discovery.residency import Exposure


def withheld(desk: Desk, name: ToolName | Unknown) -> Failure | None:
    """Why a model cannot have the tool that a name means: there is none, or it is hidden; None where it can.

    Parameters:
        desk: the board.
        name: what a name was resolved to.
    """
    if isinstance(name, Unknown):
        return desk.absent(name)
    if desk.exposure(name)[0] is not Exposure.HIDDEN:
        return None
    return Failure(
        FailureCode.BLOCKED,
        f"{name} is not for models on this board.",
        next_step="Find another tool with tool_search.",
    )
