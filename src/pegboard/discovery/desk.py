"""What the meta-tools need of a board."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pegboard.catalog import Catalog, Unknown, View
from pegboard.core import Call, Discoverable, Failure, Result, Session, SourceStatus, ToolName, ToolSpec
from pegboard.discovery.residency import Exposure
from pegboard.index import Found, Prerequisite, Where

if TYPE_CHECKING:
    from pegboard.discovery.health import ServiceHealth


class Openings(Protocol):
    """What could be on a board, as the meta-tools see it."""

    def discoverables(self) -> Awaitable[Sequence[Discoverable]]:
        """Everything that could be on the board and is not, in the order of the directories."""
        ...

    def offers(self, query: str, session: Session, limit: int = 3) -> Awaitable[Sequence[Discoverable]]:
        """What could be on the board and meets a request, best first, without what this principal has declined."""
        ...

    def skills(self) -> Mapping[str, str]:
        """What the skills of installed plugins teach, by their names; untrusted text. Blocks."""
        ...

    def request(self, call: Call) -> Awaitable[Result]:
        """Take an agent's suggestion to a person, and do what was agreed to."""
        ...

    def manage(self, call: Call, action: str) -> Awaitable[Result]:
        """Install, enable, disable or uninstall, if the board lets models and a person agrees."""
        ...


class Desk(Protocol):
    """The board, as the meta-tools see it."""

    @property
    def catalog(self) -> Catalog:
        """The tools of the board now, without the meta-tools."""
        ...

    def resolve(self, text: str) -> ToolName | Unknown:
        """The tool that a name means, in any of its spellings."""
        ...

    def absent(self, missing: Unknown) -> Failure:
        """Why a name means no tool of the board."""
        ...

    def search(self, query: str, limit: int = 8, where: Where | None = None) -> Awaitable[Found]:
        """Search the catalog."""
        ...

    def view(self, session: Session) -> View:
        """What the session sees."""
        ...

    def exposure(self, name: ToolName) -> tuple[Exposure, str]:
        """Where a tool is for a model that has not searched yet, and why."""
        ...

    def deferred_bytes(self) -> int:
        """How many bytes the definitions of the tools take that are not in the list."""
        ...

    def load(self, session: Session, names: Iterable[ToolName]) -> None:
        """Remember that the session has these tools' definitions."""
        ...

    def shown_again(self, session: Session) -> set[ToolName]:
        """The tools whose definitions came with a failure since the session last called them well."""
        ...

    def run(self, call: Call) -> Awaitable[Result]:
        """Run a call through the board's whole pipeline."""
        ...

    def statuses(self) -> Awaitable[Sequence[SourceStatus]]:
        """How the sources are."""
        ...

    def read_asset(self, handle: str, offset: int, limit: int, session: Session) -> Awaitable[Result]:
        """A part of a text asset, by characters counted from 0."""
        ...

    def summaries(self) -> Sequence[SourceStatus]:
        """How the sources are, as far as is known without asking them."""
        ...

    def auth_met(self, spec: ToolSpec) -> bool | None:
        """Whether what a tool's sign-in needs is there; None where nobody knows, or it needs none."""
        ...

    def before(self, name: ToolName) -> Awaitable[Sequence[Prerequisite]]:
        """What to call before a tool, in the order of calling: by hints, and by who gives what it needs."""
        ...

    def services(self) -> Sequence[str]:
        """The names of the services that tools come from."""
        ...

    def check(self, names: Sequence[str], *, probe: bool = False) -> "Awaitable[Sequence[ServiceHealth]]":
        """How these services are, in under a second; `probe` asks them whatever was found before."""
        ...

    def page(self, id: str, number: int, session: Session) -> Awaitable[str | None]:
        """One page of a result that was cut, counted from 1; None where this principal has none."""
        ...

    @property
    def openings(self) -> Openings:
        """What could be on the board and is not."""
        ...
