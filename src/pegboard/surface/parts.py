"""A result in parts: what a model is told of it, before a provider's module says it in that provider's blocks."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from pegboard.core import Report, Result, ToolSpec
from pegboard.schema.media import decode, sniff
from pegboard.schema.repair.intake import Intake, utf8
from pegboard.schema.types import Json, JsonObject, as_object
from pegboard.surface.forms import block

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types of pictures that OpenAI and Anthropic take."""

PDF = "application/pdf"
NOTHING = "The tool returned nothing."


class Kind(StrEnum):
    """What a part is."""

    TEXT = "text"
    IMAGE = "image"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of what a model is told.

    Parameters:
        kind: what it is.
        text: the text; of a picture or file, the words that stand for it where a provider does not take it.
        data: base64, of a picture or file.
        mime: its media type.
        name: its file name.
    """

    kind: Kind
    text: str
    data: str = ""
    mime: str = ""
    name: str = ""

    @property
    def url(self) -> str:
        """A picture or file as a data URL."""
        return f"data:{self.mime};base64,{self.data}"


def parts_of(result: Result, spec: ToolSpec | None = None) -> tuple[Part, ...]:
    """What a model is told of a result; never empty.

    The content comes as it is; the value follows where the content does not say it, a failure's next step likewise,
    and what was mended on the way.

    Parameters:
        result: what the call came to.
        spec: the tool, where it is known.
    """
    found = [_part(each) for each in result.content]
    texts = [part.text for part in found if part.kind is Kind.TEXT]
    if result.value is not None and not _says(texts, result.value, spec):
        found.append(_text(spelled(result.value)))
    if result.failure is not None:
        step = result.failure.next_step
        if not texts:
            found.append(_text(str(result.failure)))
        elif step and not any(step in text for text in texts):
            found.append(_text(f"Next: {step}"))
    found += [_text(remark) for remark in remarks(result.report)]
    return tuple(found) or (_text(NOTHING),)


def told_to_program(result: Result, spec: ToolSpec | None = None) -> str | None:
    """What a program that called the tool is given: the value as JSON and nothing else; None where there is none.

    A text of a tool that declares no result is the text itself.
    """
    if result.failure is not None or result.value is None:
        return None
    if isinstance(result.value, str) and (spec is None or spec.output is None):
        return utf8(result.value)
    return json.dumps(Intake().copy(result.value), ensure_ascii=False)


def joined(parts: Iterable[Part]) -> str:
    """The parts as one text."""
    return "\n".join(part.text for part in parts)


def spelled(value: Json) -> str:
    """A value as text: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def remarks(report: Report | None) -> list[str]:
    """What a model should know of the way to an answer; cuts say it themselves."""
    if report is None:
        return []
    told = [change.message for change in report.changes if change.kind == "mended"] + list(report.notes)
    return ["Note: " + " ".join(told)] if told else []


def _says(texts: list[str], value: Json, spec: ToolSpec | None) -> bool:
    """Whether the content says the value already, as MCP asks of it; the meta-tools' texts say all of theirs."""
    if not texts:
        return False
    wrapped: Any = as_object(value).get("result", value)
    return (spec is not None and spec.source.kind == "meta") or any(
        said in (value, wrapped) for text in texts for said in (text, _read(text))
    )


def _read(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(text: str) -> Part:
    return Part(Kind.TEXT, utf8(text))


def _part(found: JsonObject) -> Part:
    taken = block(found, "", [])
    if taken is None:
        return _text(json.dumps(found, ensure_ascii=False, default=str))
    match taken["type"]:
        case "text":
            return _text(taken["text"])
        case "image" | "audio":
            return _media(taken["data"], taken["mimeType"])
        case "resource_link":
            return _text(_link(taken))
        case _:
            return _resource(taken["resource"])


def _link(found: JsonObject) -> str:
    about = f" ({found['description']})" if found.get("description") else ""
    return f"{found.get('title') or found['name']}: {found['uri']}{about}"


def _resource(found: JsonObject) -> Part:
    if isinstance(found.get("text"), str):
        return _text(found["text"])
    name = str(found["uri"]).rstrip("/").rpartition("/")[2]
    return _media(found["blob"], str(found.get("mimeType") or "application/octet-stream"), name)


def _media(data: str, mime: str, name: str = "") -> Part:
    """A picture or file; one that is broken is words, since APIs refuse a whole request for it."""
    found = decode(data)
    told = sniff(found[:32]) if found else None
    if told is not None and told.startswith("image/") and mime.startswith("image/"):
        mime = told  # APIs compare the two
    size = "no bytes that can be read" if not found else f"{len(found):,} bytes"
    words = utf8(f"[{name + ', ' if name else ''}{mime}, {size}: not shown, because this API takes none here]")
    if not found:
        return Part(Kind.TEXT, words)
    kind = Kind.IMAGE if mime.startswith("image/") else Kind.FILE
    ended = utf8(name) or f"file.{utf8(mime).rpartition('/')[2]}"
    return Part(kind, words, "".join(data.split()), utf8(mime), ended)


def plain(item: Any) -> dict[str, Any]:
    """A provider's item as plain data, whether it came as that or as an object of the provider's SDK."""
    if isinstance(item, dict):
        return cast("dict[str, Any]", item)
    return item.model_dump(mode="json", by_alias=True, exclude_none=True)
