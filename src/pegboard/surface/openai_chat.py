"""The wire format of OpenAI's Chat Completions API, which many other providers speak too.

Source: the types of the `openai` package, `openai.types.chat`. The API knows no deferred tools and no namespaces: a
model finds what is not in its list through the meta-tools, and what it has found joins the list of the next request.
"""

from typing import Any

from pegboard.catalog import View
from pegboard.core import Call, Result, Session
from pegboard.schema.types import JsonObject
from pegboard.surface.definition import define_all
from pegboard.surface.describing import Cap
from pegboard.surface.offer import Offer, read_arguments
from pegboard.surface.parts import joined, parts_of, plain


def tools(
    view: View,
    *,
    to: str = "openai-chat",
    cap: Cap | None = None,
    budget: int | None = None,
    total: int | None = None,
) -> Offer:
    """The tools of a request.

    Parameters:
        view: what the model sees.
        to: the dialect: `openai-chat`, or with `-strict`.
        cap: the most that a description may take.
        budget: bytes that each definition may take.
        total: bytes that all definitions may take together.

    Raises:
        DefinitionError: there is no such dialect.
    """
    found = define_all(view.listed, to, aliases=view.aliases, cap=cap, budget=budget, total=total)
    entries = [one.tool for one in found if one.tool is not None]
    return Offer(to, entries, tuple(found), view, cap=cap, budget=budget, notes=view.notes)


def call(item: Any, offer: Offer, *, session: Session | None = None, group: str | None = None) -> Call | None:
    """The call that one of a message's `tool_calls` asks for; None where it is of a type that is not known.

    Parameters:
        item: one of `tool_calls`, as data or as the SDK's object.
        offer: what the request offered.
        session: who calls.
        group: calls of one message share it.
    """
    row = plain(item)
    body = _body(row)
    if body is None:
        return None
    arguments = {"input": body.get("input", "")} if "custom" in row else read_arguments(body.get("arguments"))
    return offer.call(
        offer.find(str(body.get("name") or "")), arguments, session or Session(), id=row.get("id"), group=group
    )


def _body(row: JsonObject) -> JsonObject | None:
    return row.get("custom") or row.get("function")


def output(item: Any, result: Result, offer: Offer) -> dict[str, Any]:
    """The message that answers a call; this API takes text alone, and has no mark for an error but words.

    Parameters:
        item: the one of `tool_calls` that asked for the call.
        result: what the call came to.
        offer: what the request offered.
    """
    row = plain(item)
    body = _body(row) or {}
    text = joined(parts_of(result, offer.spec(offer.find(str(body.get("name", ""))))))
    failed = result.failure is not None and not text.casefold().startswith("error")
    return {"role": "tool", "tool_call_id": row.get("id"), "content": f"Error: {text}" if failed else text}
