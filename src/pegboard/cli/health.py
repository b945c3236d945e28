"""`pegboard health`: whether the services can be relied on now."""

from typing import Annotated

from cyclopts import Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.open import opened
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import document, table
from pegboard.discovery.health import ServiceStatus
from pegboard.errors import ConfigError, nearest


async def health(
    *services: str,
    probe: Annotated[bool, Parameter(negative="")] = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Say whether services are healthy, degraded or unavailable, in under a second each time.

    Ends with exit code 1 if one is not healthy. What is not running counts as healthy, as it was when last seen.

    Parameters
    ----------
    services
        Which ones: names of sources; all of them if left out.
    probe
        Start what is not running, and ask each now. A start that takes longer than a second is not waited for.
    """
    async with opened(config, refresh=False) as board:
        known = board.services()
        for name in services:
            if name not in known:
                near = nearest(name, known) or list(known)
                step = f"Name one of {', '.join(near)}." if near else "Add a [sources.NAME] table."
                raise ConfigError(f"There is no service {name!r}.", next_step=step)
        found = await board.check(services or known, probe=probe)
    if json:
        document({"services": [one.to_json() for one in found]})
    else:
        rows = [(one.service, one.status, one.state, one.tools, " ".join(one.reasons)) for one in found]
        table(("service", "status", "state", "tools", "why"), rows)
    return Exit.OK if all(one.status is ServiceStatus.HEALTHY for one in found) else Exit.FINDING
