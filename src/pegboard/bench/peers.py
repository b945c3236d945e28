"""What others would find: plain BM25 over one text, and FastMCP's search index where FastMCP is installed."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias, cast

Build: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], Callable[[str, int], list[str]]]
_TOKEN = re.compile(r"[a-z0-9]+|[\u00c0-\u024f\u0370-\u1fff]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def plain_bm25(tools: Sequence[Mapping[str, Any]]) -> Callable[[str, int], list[str]]:
    """BM25 (k1 1.2, b 0.75) over name, namespace, description and parameters as one text, camelCase split."""
    documents = [Counter(_tokens(_text(tool))) for tool in tools]
    lengths = [sum(document.values()) for document in documents]
    mean = sum(lengths) / max(1, len(lengths))
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for n, document in enumerate(documents):
        for token, count in document.items():
            holders[token].append((n, count / (count + 1.2 * (0.25 + 0.75 * lengths[n] / mean))))

    def search(query: str, limit: int) -> list[str]:
        scores: Counter[int] = Counter()
        for token in _tokens(query):
            rarity = math.log(1 + (len(tools) - len(holders[token]) + 0.5) / (len(holders[token]) + 0.5))
            for n, impact in holders[token]:
                scores[n] += rarity * impact  # pyright: ignore[reportArgumentType]
        return [tools[n]["id"] for n, _ in scores.most_common(limit)]

    return search


def fastmcp(tools: Sequence[Mapping[str, Any]]) -> Callable[[str, int], list[str]]:
    """FastMCP's BM25 index over the texts that its search transform reads. Raises ImportError without FastMCP."""
    index: Any = cast("Any", import_module("fastmcp.server.transforms.search.bm25"))._BM25Index()
    texts = [" ".join(part for part in _fastmcp_parts(tool) if part) for tool in tools]
    index.build(texts)
    return lambda query, limit: [tools[n]["id"] for n in index.query(query, limit)]


def _fastmcp_parts(tool: Mapping[str, Any]) -> list[str]:
    """The name as a mounted server has it, description, and top-level parameters."""
    space = tool.get("namespace") or ""
    parts = [f"{space}_{tool['name']}" if space else tool["name"], tool.get("description") or ""]
    for name, value in _properties(tool.get("parameters")).items():
        text = cast("Mapping[str, Any]", value).get("description") if isinstance(value, Mapping) else ""
        parts += [str(name), str(text or "")]
    return parts


def _tokens(text: str) -> list[str]:
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text)
    return _TOKEN.findall(text.replace("_", " ").lower())


def _text(tool: Mapping[str, Any]) -> str:
    texts = (tool.get("namespace") or "", tool["name"], tool.get("description") or "", _deep(tool.get("parameters"), 3))
    return " ".join(texts)


def _deep(schema: Any, depth: int) -> str:
    found: list[str] = []
    for name, value in _properties(schema).items() if depth else ():
        found.append(str(name))
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value)
            found += [
                str(value.get("description") or ""),
                _deep(value, depth - 1),
                _deep(value.get("items"), depth - 1),
            ]
    return " ".join(filter(None, found))


def _properties(schema: Any) -> Mapping[str, Any]:
    found = cast("Mapping[str, Any]", schema).get("properties") if isinstance(schema, Mapping) else None
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
