"""The JSON that commands print: stable shapes, one function each."""

from dataclasses import asdict
from typing import Any

from pegboard.catalog import AliasTable
from pegboard.core import Note, Report, Result, SourceStatus, ToolSpec
from pegboard.index import Found, Hit
from pegboard.schema.types import JsonObject


def tool(spec: ToolSpec, aliases: AliasTable) -> JsonObject:
    """A tool as `list` shows it."""
    return {
        "name": str(spec.name),
        "namespace": spec.name.namespace,
        "wire_name": aliases.wire.get(spec.name, spec.name.name),
        "title": spec.title,
        "description": spec.description,
        "input_schema": spec.input,
        "output_schema": spec.output,
        "effects": spec.effects.value,
        "source": spec.source.name,
        "kind": spec.source.kind,
    }


def definition(spec: ToolSpec, aliases: AliasTable, exposure: tuple[str, str] = ("", "")) -> JsonObject:
    """A tool as `describe` shows it: everything that is known, and where it is for a model, with the reason."""
    return {
        **tool(spec, aliases),
        "version": spec.name.version,
        "modes": list(spec.modes),
        "costly": spec.costly,
        "category": spec.category,
        "auth": spec.auth,
        "rung": spec.rung,
        "hints": [str(hint) for hint in spec.hints],
        "examples": list(spec.examples),
        "aliases": list(spec.aliases),
        "deprecated": spec.deprecation,
        "successor": spec.successor,
        "sunset": spec.sunset,
        "annotations": spec.annotations,
        "exposure": exposure[0],
        "exposure_reason": exposure[1],
        "digest": spec.digest,
        "meta": spec.meta,
    }


def source(status: SourceStatus) -> JsonObject:
    """A source as `list` shows it."""
    return {
        "name": status.name,
        "kind": status.kind,
        "state": status.state.value,
        "tools": status.tools,
        "error": status.error,
    }


def checked_source(status: SourceStatus) -> JsonObject:
    """A source as `doctor` shows it."""
    return {**source(status), "start_seconds": status.start_seconds, "notes": [note(item) for item in status.notes]}


def note(item: Note) -> JsonObject:
    """What was repaired, set aside or odd."""
    return {"kind": item.kind.value, "tool": item.tool, "where": item.where, "message": item.message}


def found(answer: Found, aliases: AliasTable) -> JsonObject:
    """The answer of `search`."""
    return {
        "hits": [_hit(hit, aliases) for hit in answer.hits],
        "query": answer.query,
        "confidence": answer.confidence,
        "total": answer.total,
        "next_names": [str(name) for name in answer.next_names],
        "unknown_terms": list(answer.unknown_terms),
        "did_you_mean": list(answer.did_you_mean),
    }


def _hit(hit: Hit, aliases: AliasTable) -> JsonObject:
    return {
        "name": str(hit.name),
        "score": hit.score,
        "confidence": hit.confidence,
        "matched": {field: list(terms) for field, terms in hit.matched.items()},
        "unmatched": list(hit.unmatched),
        "wire_name": aliases.wire.get(hit.name, hit.name.name),
        "title": hit.spec.title,
        "description": hit.spec.description,
        "source": hit.spec.source.name,
    }


def result(outcome: Result) -> JsonObject:
    """What `call` came to."""
    return {
        "ok": outcome.ok,
        "mode": outcome.mode.value,
        "value": outcome.value,
        "content": list(outcome.content),
        "failure": outcome.failure.to_json() if outcome.failure else None,
        "report": report(outcome.report) if outcome.report else None,
    }


def report(inside: Report) -> JsonObject:
    """What happened inside a call."""
    plain: dict[str, Any] = asdict(inside)
    return {**plain, "counts": inside.counts}
