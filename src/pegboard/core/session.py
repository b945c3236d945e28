"""One agent run, as an identity: who calls, in which session. Its state lives elsewhere, keyed by `id`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Session:
    """Who is calling.

    Parameters:
        id: the session; calls with the same id share loaded tools, budget, grants and the trace run.
        principal: the authenticated caller; `local` on a loopback or in-process board.
        agent: the agent's or client's own name, if it told one.
        run: the trace run, where it differs from the session.
    """

    id: str = "local"
    principal: str = "local"
    agent: str | None = None
    run: str | None = None

    @property
    def run_id(self) -> str:
        """The trace run that this session's calls belong to."""
        return self.run or self.id
