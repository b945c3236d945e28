"""A tool: a spec and a handler."""

from dataclasses import dataclass

from pegboard.core.call import Handler
from pegboard.core.name import ToolName
from pegboard.core.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that an agent can call.

    Parameters:
        spec: what it is, as data.
        handler: what runs: `async (Call) -> Result`. It may assume valid arguments; the pipeline has checked them.
    """

    spec: ToolSpec
    handler: Handler

    @property
    def name(self) -> ToolName:
        """The full name."""
        return self.spec.name
