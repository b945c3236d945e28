"""Whatever a source sends, what clients are given has the form that they check: by the SDK's own models."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.methods import validate_server_result

from pegboard.core import Result, SourceRef
from pegboard.normalise import normalise
from pegboard.sources.mcp.outcome import result_of
from pegboard.surface.mcp import Family, output, tool

VERSIONS = {Family.HANDSHAKE: "2025-11-25", Family.STATELESS: "2026-07-28"}
STATELESS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
SOURCE = SourceRef("up", "mcp")

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 7.5, "", "text", "user", "dark"])
odd = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "uri", "text"]), inner)
)


def some(**fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with any of these fields, each well or odd."""
    return st.fixed_dictionaries({}, optional={key: field | odd for key, field in fields.items()})


icons = st.lists(some(src=st.just("data:,"), sizes=st.just(["1x1"]), theme=st.just("dark")) | odd, max_size=2)
hints = some(title=st.just("T"), readOnlyHint=st.booleans(), openWorldHint=st.booleans())
schemas = some(
    **{"type": st.just("object"), "$schema": st.just("x:y")},
    properties=st.just({"a": {}}) | st.just({"a": True}),
    required=st.just(["a"]),
)
rows = some(
    title=st.just("T"),
    description=st.just("D"),
    annotations=hints,
    icons=icons,
    inputSchema=schemas,
    outputSchema=schemas,
    execution=some(taskSupport=st.just("optional")),
    _meta=st.just({"a/b": 1}),
).map(lambda row: {**row, "name": "t"})
blocks = some(
    type=st.sampled_from(["text", "image", "audio", "resource_link", "resource", "hologram"]),
    text=st.just("t"),
    data=st.just("AA=="),
    mimeType=st.just("image/png"),
    uri=st.just("a:b"),
    name=st.just("n"),
    size=st.just(1),
    icons=icons,
    resource=some(uri=st.just("a:b"), text=st.just("t"), blob=st.just("AA=="), mimeType=st.just("x/y")),
    annotations=some(audience=st.just(["user"]), priority=st.just(1), lastModified=st.just("now")),
    _meta=st.just({"a/b": 1}),
)
answers = some(content=st.lists(blocks | odd, max_size=3), structuredContent=odd, isError=st.booleans(), _meta=odd)


def accepted(method: str, body: Mapping[str, Any], family: Family) -> bool:
    """Whether a client of this family takes the answer."""
    validate_server_result(method, VERSIONS[family], {**(STATELESS if family is Family.STATELESS else {}), **body})
    return True


@pytest.mark.parametrize("family", Family)
@settings(max_examples=300, deadline=None)
@given(rows)
def test_a_list_is_taken_whatever_a_source_puts_in_a_row(family: Family, row: dict[str, Any]) -> None:
    spec = normalise(row, namespace="up", source=SOURCE, trusted=False).spec
    assert spec is not None
    assert accepted("tools/list", {"tools": [tool(spec, "up__t", family)]}, family)


@pytest.mark.parametrize("family", Family)
@settings(max_examples=300, deadline=None)
@given(answers)
def test_an_answer_is_taken_and_no_block_is_lost_whatever_a_source_sends(
    family: Family, answer: dict[str, Any]
) -> None:
    result: Result = result_of(answer)
    body = output(result, None, family)
    assert accepted("tools/call", body, family)
    assert len(body["content"]) >= len(result.content)
