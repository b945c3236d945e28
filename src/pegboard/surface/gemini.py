"""The wire format of Google's Gemini API: function declarations in both of their forms.

Source: the types of the `google-genai` package, `google.genai.types`. The API knows no deferred tools: a model finds
what is not in its list through the meta-tools, and what it has found joins the list of the next request.
"""

from typing import Any

from pegboard.catalog import View
from pegboard.core import Call, Result, Session
from pegboard.schema.repair.intake import Intake
from pegboard.schema.types import JsonObject
from pegboard.surface.definition import define_all
from pegboard.surface.describing import Cap
from pegboard.surface.offer import Offer, read_arguments
from pegboard.surface.parts import PDF, Kind, Part, joined, parts_of, plain

TAKEN = frozenset({"image/png", "image/jpeg", "image/webp", PDF})
"""Media types that a function's response may hold."""


def tools(
    view: View,
    *,
    to: str = "gemini",
    cap: Cap | None = None,
    budget: int | None = None,
    total: int | None = None,
) -> Offer:
    """The tools of a request: one entry with every declaration.

    Parameters:
        view: what the model sees.
        to: the dialect: `gemini` for the narrow form `parameters`, which every model takes, or `gemini-json` for
            `parametersJsonSchema`.
        cap: the most that a description may take.
        budget: bytes that each definition may take.
        total: bytes that all definitions may take together.

    Raises:
        DefinitionError: there is no such dialect.
    """
    found = define_all(view.listed, to, aliases=view.aliases, cap=cap, budget=budget, total=total)
    declared = [one.tool for one in found if one.tool is not None]
    entries = [{"functionDeclarations": declared}] if declared else []
    return Offer(to, entries, tuple(found), view, cap=cap, budget=budget, notes=view.notes)


def call(item: Any, offer: Offer, *, session: Session | None = None, group: str | None = None) -> Call | None:
    """The call that a part of the model's content asks for; None where it asks for none.

    The part itself goes back as it came, with its thought signature: nobody makes it anew from name and arguments.

    Parameters:
        item: a part with `functionCall`, or the function call alone, as data or as the SDK's object.
        offer: what the request offered.
        session: who calls.
        group: calls of one content share it.
    """
    row = plain(item)
    body = _body(row)
    if body is None:
        return None
    signature = row.get("thoughtSignature", row.get("thought_signature"))
    return offer.call(
        offer.find(str(body.get("name") or "")),
        read_arguments(body.get("args") or {}),
        session or Session(),
        id=body.get("id"),
        group=group,
        marks={"thought_signature": signature},
    )


def _body(row: JsonObject) -> JsonObject | None:
    """The function call of a part, or the row itself where it is one."""
    body = row.get("functionCall", row.get("function_call"))
    if body is not None:
        return body
    return row if isinstance(row.get("name"), str) and "args" in row else None


def output(item: Any, result: Result, offer: Offer) -> dict[str, Any]:
    """The part that answers a call: `output` or `error`, with pictures as parts of their own.

    Parameters:
        item: the part that asked for the call.
        result: what the call came to.
        offer: what the request offered.
    """
    body = _body(plain(item)) or {}
    name = str(body.get("name", ""))
    parts = parts_of(result, offer.spec(offer.find(name)))
    media = [part for part in parts if _native(part)]
    answer: dict[str, Any] = {"id": body["id"]} if body.get("id") else {}
    answer |= {"name": name, "response": _response(parts, result)}
    if media:
        answer["parts"] = [{"inlineData": {"mimeType": part.mime, "data": part.data}} for part in media]
    return {"functionResponse": answer}


def _native(part: Part) -> bool:
    return part.kind is not Kind.TEXT and part.mime in TAKEN


def _response(parts: tuple[Part, ...], result: Result) -> dict[str, Any]:
    text = joined(part for part in parts if not _native(part))
    if result.failure is not None:
        return {"error": text or str(result.failure)}
    plain_ = result.value is not None and not result.content and len(parts) == 1
    return {"output": Intake().copy(result.value) if plain_ else text or "See the parts."}
