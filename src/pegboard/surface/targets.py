"""Which module speaks which dialect."""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, get_args

from pegboard.catalog import View
from pegboard.errors import DefinitionError
from pegboard.schema.lower import dialect
from pegboard.surface import anthropic, gemini, mcp, openai_chat, openai_responses
from pegboard.surface.definition import Definition
from pegboard.surface.offer import Offer


def _codex(view: View, *, to: str, budget: int | None = None) -> Offer:
    return openai_responses.tools(view, to=to, search="tools", budget=budget)


def _mcp(view: View, *, to: str) -> Offer:
    """MCP takes a tool as it is: the rows of `tools/list`."""
    rows = [dict(row) for row in mcp.tools(view)]
    found = [Definition(str(row["name"]), spec, row) for row, spec in zip(rows, view.listed, strict=True)]
    return Offer(to, rows, tuple(found), view, notes=view.notes)


_TOOLS: Mapping[str, Callable[..., Offer]] = {
    "openai-responses": openai_responses.tools,
    "codex": _codex,
    "openai-chat": openai_chat.tools,
    "anthropic": anthropic.tools,
    "bedrock": anthropic.tools,
    "gemini": gemini.tools,
    "gemini-json": gemini.tools,
    "mcp": _mcp,
}


def offer(view: View, target: str, **options: Any) -> Offer:
    """What a request of a provider holds of a view.

    Parameters:
        view: what the model sees.
        target: the dialect.
        options: the options of the provider's `tools`.

    Raises:
        DefinitionError: there is no such dialect, or its provider has no such option.
    """
    tools = _TOOLS[dialect(target).name.removesuffix("-strict")]
    known = signature(tools).parameters
    odd = [name for name in options if name not in known]
    if odd:
        raise DefinitionError(f"{target} has no option {odd[0]!r}.", next_step=f"It has: {', '.join(_own(known))}.")
    _check_search(target, options.get("search"), known)
    return tools(view, to=target, **options)


def _own(known: Iterable[str]) -> list[str]:
    return [name for name in known if name not in ("view", "to")]


def _check_search(target: str, search: Any, known: Mapping[str, Parameter]) -> None:
    ways = get_args(known["search"].annotation) if "search" in known else ()
    if search is not None and search not in ways:
        raise DefinitionError(f"{target} has no search {search!r}.", next_step=f"Use {' or '.join(ways)}.")
