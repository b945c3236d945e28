"""Code that a model writes, run in a sandbox where it can call the tools of a board."""

from pegboard.codemode.limits import Limits
from pegboard.codemode.outcome import Fault, Outcome, Stop
from pegboard.codemode.tool import Runner, run_code_spec
from pegboard.codemode.toolbox import Toolbox

__all__ = ["Fault", "Limits", "Outcome", "Runner", "Stop", "Toolbox", "run_code_spec"]
