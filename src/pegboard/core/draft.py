"""A tool that is made of other tools, before the board has bound it to them."""

from dataclasses import dataclass
from typing import Any

from pegboard.core.call import Call, FailureCode, Result
from pegboard.core.name import ToolName
from pegboard.core.spec import OWN_META, SourceRef, ToolSpec
from pegboard.core.tool import Tool

DRAFT = f"{OWN_META}draft"
"""Set in `ToolSpec.meta` of a tool that is made of others, until it is bound to them."""


@dataclass(frozen=True, slots=True)
class Unbound:
    """The handler of a composed tool that is on no board yet; binding replaces it.

    Parameters:
        composite: the definition, a `compose.Composite`.
    """

    composite: Any

    async def __call__(self, call: Call) -> Result:
        """Say that the tool is on no board."""
        return Result.failed(
            FailureCode.UNAVAILABLE,
            f"{call.tool} is made of other tools and stands on no board.",
            next_step="Call it through a board that has the tools it is made of.",
        )

    @classmethod
    def tool(cls, composite: Any, description: str) -> Tool:
        """The definition as a tool that a source can list before it is bound."""
        name: ToolName = composite.name
        spec = ToolSpec(
            name=name,
            description=description,
            meta={DRAFT: True, f"{OWN_META}uses": list(composite.uses)},
            source=SourceRef("compose", type(composite).__name__.lower()),
        )
        return Tool(spec, cls(composite))
