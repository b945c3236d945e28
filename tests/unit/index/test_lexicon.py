"""Tools that are read many at once are found by the same as tools that are read one by one."""

from typing import Any

import numpy as np
import pytest

from pegboard.core import ToolName, ToolSpec
from pegboard.index.engine import ToolIndex
from pegboard.index.static import bundled
from pegboard.index.text import words


def tool(name: str, description: str = "", namespace: str = "n", **more: Any) -> ToolSpec:
    return ToolSpec(name=ToolName(namespace, name), description=description, **more)


SCHEMA = {
    "properties": {
        "a": "a schema that is a string",
        "size": {"type": "string", "enum": ["very large", 3, "größer"], "title": "How big the thing is"},
        "nested": {"properties": {"userId": {"anyOf": [{"description": "deep"}, {"items": {"title": "deeper"}}]}}},
        "": {"description": "nameless"},
        "gone": None,
    }
}
TOOLS = [
    tool("we/ird name__x.y", aliases=("Große Straße", "GitHubThing")),
    tool("OAuth2k8sHTTPServer", "OAuth iPhone APIs, HTTPServer and oauth2", input=SCHEMA),
    tool("nul\0name", "a\0b \0 c", title="Ti\0tle"),
    tool("line\nname", "new\nline"),
    tool("surrogate", "a lone \ud800 surrogate"),
    tool("検索", "天気を検索する", "日本"),
    tool("datei_suchen", "Sucht die Datei und zeigt sie, wenn es sie gibt", examples=({"wo": "im Ordner der Nutzer"},)),
    tool("buscar", "Busca los archivos de la carpeta y los envía por correo", "", category="archivos"),
    tool("___", namespace=""),
    tool("send", "Send the mail to all of them; " * 20, "mail", input=SCHEMA),
    tool("slova", "Ελληνικά и кириллица", "mail"),
]
REQUESTS = ["send mail", "nutzer ordner", "correo", "天気", "weird name", "user id", "große strasse", "k8s", "deeper"]


def index() -> ToolIndex:
    table = bundled()
    assert table is not None
    return ToolIndex(table)


@pytest.mark.parametrize("tools", [TOOLS, TOOLS[::-1], [tool("_" * n, namespace="") for n in range(1, 9)]])
def test_many_tools_at_once_are_read_as_one_by_one(tools: list[ToolSpec]) -> None:
    whole, single = index(), index()
    whole.update(put=tools)
    for spec in tools:
        single.update(put=[spec])
    assert whole.tools.vocabulary.spelt == single.tools.vocabulary.spelt
    assert list(whole.tools.postings.terms) == list(single.tools.postings.terms)
    assert np.array_equal(whole.tools.name_size, single.tools.name_size)
    rows = [engine.tools.layers[0].vectors.rows[: len(tools)] for engine in (whole, single)]
    assert np.array_equal(*rows)
    for request in REQUESTS:
        assert whole.search(request) == single.search(request)


def test_a_word_that_unfolds_into_capitals_is_also_read_without_them() -> None:
    assert words("limits\u2122") == ["limitsTM", "limits"]
