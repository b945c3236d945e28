"""Measuring search: the engines in the form that retrieval evaluations ask for, sets of requests, and what peers find.

`build(tools) -> search`, `search(query, k) -> ids`, `search.confidence(query) -> 0..1`; a tool is
`{"id", "name", "namespace", "description", "parameters": <JSON Schema>}`.
"""

from pegboard.bench.engines import Search, default, encoder, spec_of

__all__ = ["Search", "default", "encoder", "spec_of"]
