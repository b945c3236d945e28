"""How a tool is called: namespace, name and, where several run side by side, a version."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, order=True)
class ToolName:
    """The full name of a tool; its text form is `namespace.name`, with `@version` where it has one.

    Parameters:
        namespace: the group it belongs to; empty for a tool of no group.
        name: its name inside the group, exactly as its source spells it (it may hold dots, slashes or spaces).
        version: set where several versions of the tool run in parallel.
    """

    namespace: str
    name: str
    version: str | None = None

    def __str__(self) -> str:
        return f"{self.qualified}@{self.version}" if self.version else self.qualified

    @property
    def qualified(self) -> str:
        """`namespace.name`, without the version."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `namespace.name` or a bare name; the first dot separates."""
        namespace, dot, name = text.partition(".")
        return cls(namespace, name) if dot else cls("", text)
