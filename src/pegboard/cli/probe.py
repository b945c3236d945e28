"""`pegboard probe`: how findable each tool is in its catalog, and which tool stands before it."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, document, say, table


async def probe(
    *target: str,
    config: ConfigFile = DEFAULT_CONFIG,
    within: Annotated[int, Parameter(validator=Number(gte=1, lte=20))] = 3,
    threshold: Annotated[float, Parameter(validator=Number(gte=0, lte=1))] = 0.5,
    tool: str | None = None,
    all: Annotated[bool, Parameter(negative="")] = False,
    env: tuple[str, ...] = (),
    header: tuple[str, ...] = (),
    timeout: float = 30,
    json: AsJson = False,
) -> int:
    """Ask a catalog for each of its tools: in its own examples, title and words, and in paraphrases of them.

    No model is asked, so the same catalog gives the same ranks. Shows the tools that are not always found, each with
    the tool that stands before it and the words that put it there. Ends with exit code 1 if a tool is below the
    threshold.

    Parameters
    ----------
    target
        As of `pegboard check`: a config, a file of tools, an OpenAPI description, an MCP server. Without it, the board.
    within
        A tool counts as found at this rank or above.
    threshold
        The share of its requests, from 0 to 1, by which each tool must be found.
    tool
        Show every request of this tool only.
    all
        Show the tools that are always found as well.
    env
        A variable for the program: NAME=VALUE, or NAME to pass on the one that is set here.
    header
        An HTTP header for an address: "NAME: VALUE".
    timeout
        Seconds until a server must have answered.
    """
    from pegboard.check.probe import probe as probe_tools
    from pegboard.cli.subject import Asked, subject
    from pegboard.index import default

    found = await subject(Asked(target, config, env, header, timeout))
    specs = [spec for spec in found.tools.specs if spec.source.kind != "builtin"]
    probed = probe_tools(specs, default())
    if tool is not None:
        probed = _only(probed, tool)
    below = [one for one in probed if one.found(within) < threshold]
    if json:
        document(_shape(probed, below, within, threshold))
    elif tool is not None:
        _requests(probed)
    else:
        _table(probed if all else [one for one in probed if one.found(1) < 1], within)
        say(_summary(probed, below, within, threshold))
    return Exit.FINDING if below else Exit.OK


def _only(probed: Sequence[Any], tool: str) -> tuple[Any, ...]:
    from pegboard.errors import PegboardError, nearest

    found = tuple(one for one in probed if tool in (one.tool, one.tool.rpartition(".")[2]))
    if not found:
        near = nearest(tool, [one.tool for one in probed], limit=1)
        raise PegboardError(
            f"There is no tool {tool!r}.", next_step=f"Did you mean {near[0]}?" if near else "`pegboard list` has them."
        )
    return found


def _table(probed: Sequence[Any], within: int) -> None:
    rows = [
        (
            one.tool,
            f"{one.found(within):.0%}",
            f"{one.reciprocal:.2f}",
            "; ".join(f"{shadow.tool} ({', '.join(shadow.words[:5])})" for shadow in one.shadows[:2]),
        )
        for one in probed
    ]
    table(("tool", f"found within {within}", "reciprocal rank", "shadowed by (words)"), rows)


def _requests(probed: Sequence[Any]) -> None:
    rows = [
        (
            outcome.request.text,
            outcome.request.origin,
            outcome.rank or "-",
            f"{outcome.shadow.tool} ({', '.join(outcome.shadow.words)})" if outcome.shadow else "",
        )
        for one in probed
        for outcome in one.outcomes
    ]
    table(("request", "made of", "rank", "shadowed by (words)"), rows)


def _summary(probed: Sequence[Any], below: Sequence[Any], within: int, threshold: float) -> str:
    asked = sum(len(one.outcomes) for one in probed)
    hits = sum(one.found(within) * len(one.outcomes) for one in probed)
    share = hits / asked if asked else 1.0
    worst = f" Below {threshold:.0%}: {clean(', '.join(one.tool for one in below[:5]))}." if below else ""
    size = f"{counted(len(probed), 'tool')}, {counted(asked, 'request')}"
    return f"{size}: {share:.1%} find their tool within {within}.{worst}"


def _shape(probed: Sequence[Any], below: Sequence[Any], within: int, threshold: float) -> dict[str, Any]:
    return {
        "within": within,
        "threshold": threshold,
        "below": [one.tool for one in below],
        "tools": [one.to_json(within) for one in probed],
    }
