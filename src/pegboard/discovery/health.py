"""`check_service_health`: whether a service can be relied on now, before turns are spent on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pegboard.core import Call, Failure, FailureCode, Result, SourceState
from pegboard.discovery.answers import answer
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.errors import nearest
from pegboard.schema.types import JsonObject


class ServiceStatus(StrEnum):
    """Whether a service can be relied on."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


STATUS_OF: Mapping[SourceState, ServiceStatus] = {
    SourceState.READY: ServiceStatus.HEALTHY,
    SourceState.IDLE: ServiceStatus.HEALTHY,
    SourceState.STARTING: ServiceStatus.DEGRADED,
    SourceState.DEGRADED: ServiceStatus.DEGRADED,
    SourceState.UNAVAILABLE: ServiceStatus.UNAVAILABLE,
    SourceState.DISABLED: ServiceStatus.UNAVAILABLE,
}
"""What the states of sources mean for who wants to call them. An idle one was well when it was last seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHealth:
    """How one service is.

    Parameters:
        service: the source's name.
        status: whether it can be relied on.
        state: the state of its source.
        reasons: why; empty where there is nothing to say.
        tools: how many tools it offers.
        age: how many seconds ago that was found out.
    """

    service: str
    status: ServiceStatus
    state: SourceState
    reasons: tuple[str, ...] = ()
    tools: int = 0
    age: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "service": self.service,
            "status": self.status.value,
            "state": self.state.value,
            "reasons": list(self.reasons),
            "tools": self.tools,
            "age_seconds": round(self.age, 1),
        }


SPEC = meta_spec(
    "check_service_health",
    "Check whether a service (a source of tools) is healthy, degraded or unavailable, with reasons, in under a second."
    " Without a name: all of them.",
    {
        "service": {"type": "string", "description": "The service's name; often the namespace of its tools."},
        "probe": {"type": "boolean", "default": False, "description": "Ask it now, whatever was found before."},
    },
)


async def check_service_health(desk: Desk, call: Call) -> Result:
    """How one service is, or each."""
    name, probe = str(call.arguments.get("service") or ""), bool(call.arguments.get("probe", False))
    known = desk.services()
    if name and name not in known:
        return Result(failure=_unknown(name, known))
    found = await desk.check([name] if name else list(known), probe=probe)
    rows: list[JsonObject] = [one.to_json() for one in found]
    value: dict[str, Any] = {"services": rows} | ({"status": rows[0]["status"]} if name else {})
    return answer(value, "\n".join(map(told, found)) or "This board has no services.")


def told(health: ServiceHealth) -> str:
    """One service in one line."""
    reasons = f": {' '.join(health.reasons)}" if health.reasons else ""
    return f"{health.service} is {health.status}{reasons}"


def _unknown(name: str, known: Sequence[str]) -> Failure:
    near = nearest(name, known) or list(known[:8])
    step = f"Ask for one of {', '.join(near)}, or for none to see all." if near else "This board has no services."
    return Failure(
        FailureCode.INVALID_ARGUMENTS,
        f"There is no service {name!r}.",
        "/service",
        step,
        details={"candidates": near},
    )
