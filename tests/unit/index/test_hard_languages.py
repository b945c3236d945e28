"""Many siblings and few shared words, in languages other than English (`hard/*.tsv`), beside plain BM25."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pegboard import bench
from pegboard.bench.peers import plain_bm25
from pegboard.discovery.suggested import FITS
from pegboard.index.protocol import names_of

from .conftest import tool

HARD = Path(__file__).parent / "hard"
LISTS = Path(__file__).parents[2] / "corpus/mcp"
RECORDED = ("trends-hub", "12306-mcp", "mcp-server-chart")
Search = Any


ENGLISH = [
    tool("mail.send_email", "Send an email to somebody"),
    tool("files.delete_file", "Delete a file"),
    tool("files.read_file", "Read the contents of a file"),
    tool("calendar.create_event", "Create an event in a calendar"),
    tool("sky.get_forecast", "Get the weather forecast for a city"),
    tool("maps.route", "Find the way from one place to another"),
]


class Asked(NamedTuple):
    """One request: which tools are right, and whether anyone looked at it while search was improved."""

    kind: str
    right: tuple[str, ...]
    text: str
    seen: bool


class Shelf(NamedTuple):
    """One language's catalog, its requests, and the two that search it."""

    asked: list[Asked]
    ours: Search
    plain: Search

    def recall(self, search: Search, *, limit: int = 8, **like: Any) -> float:
        """The mean share of a request's right tools that are among the first."""
        asked = [one for one in self.asked if all(getattr(one, key) == value for key, value in like.items())]
        found = [len(set(search(one.text, limit)) & set(one.right)) / len(one.right) for one in asked]
        return sum(found) / len(found)


def row(name: str, description: str, parameters: str = "") -> dict[str, Any]:
    space, _, bare = name.partition(".")
    told = dict(part.split("=", 1) for part in parameters.split(";") if part)
    properties = {key: {"type": "string", "description": text} for key, text in told.items()}
    schema = {"type": "object", "properties": properties}
    return {"id": name, "namespace": space, "name": bare, "description": description, "parameters": schema}


def recorded(server: str) -> list[dict[str, Any]]:
    plain, packed = LISTS / f"{server}.json", LISTS / f"{server}.json.gz"
    listed = json.loads(plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes()))
    rows = [(one, row(f"{server}.{one['name']}", one.get("description") or "")) for one in _tools(listed)]
    return [{**found, "parameters": one["inputSchema"]} for one, found in rows]


def _tools(listed: Any) -> list[dict[str, Any]]:
    return listed["tools"] if isinstance(listed, dict) else listed


@cache
def shelf(language: str) -> Shelf:
    lines = [line.split("\t") for line in (HARD / f"{language}.tsv").read_text(encoding="utf8").splitlines()]
    tools = [row(*rest) for kind, *rest in lines if kind == "tool"]
    if language == "zh":
        tools += [one for server in RECORDED for one in recorded(server)]
    asked = [
        Asked(kind, tuple(right.split()), text, bool(seen)) for kind, right, text, *seen in lines if kind != "tool"
    ]
    assert {name for one in asked for name in one.right} <= {one["id"] for one in tools} | {"-"}
    return Shelf(asked, bench.default(tools), plain_bm25(tools))


def test_chinese_requests_find_four_in_five_of_their_tools_where_plain_bm25_finds_less() -> None:
    chinese = shelf("zh")
    plain = chinese.recall(chinese.plain, kind="ask", seen=False)
    assert 0.75 <= plain <= 0.82
    assert chinese.recall(chinese.ours, kind="ask", seen=False) >= max(0.84, plain + 0.05)


def test_chinese_requests_in_other_words_than_the_tools_find_far_more_than_plain_bm25() -> None:
    chinese = shelf("zh")
    for limit in (3, 8):
        plain = chinese.recall(chinese.plain, kind="said", limit=limit)
        assert chinese.recall(chinese.ours, kind="said", limit=limit) >= plain + 0.1


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize("language", ["de", "es", "fr", "ja", "ko"])
def test_inflected_and_compound_words_are_found_and_never_worse_than_with_plain_bm25(language: str, limit: int) -> None:
    given = shelf(language)
    plain = given.recall(given.plain, kind="ask", limit=limit)
    assert given.recall(given.ours, kind="ask", limit=limit) >= plain


@pytest.mark.parametrize(("language", "more"), [("de", 0.14), ("es", 0.12), ("fr", 0.05)])
def test_european_requests_are_found_by_meaning_where_plain_bm25_has_no_word(language: str, more: float) -> None:
    given = shelf(language)
    plain = given.recall(given.plain, kind="ask")
    assert given.recall(given.ours, kind="ask") >= max(0.8, plain + more)


@pytest.mark.parametrize("language", ["es", "fr", "ja", "ko"])
def test_what_no_tool_meets_is_not_told_to_fit(language: str) -> None:
    given = shelf(language)
    unmet = [one.text for one in given.asked if one.kind == "none"]
    assert len(unmet) > 5
    assert not [text for text in unmet if given.ours.confidence(text) >= FITS]


@pytest.mark.parametrize(
    "query",
    [
        "幫我查一下快遞到哪裡了",
        "查询快递物流",
        "查詢快遞物流",
        "查 询 快 递 物 流",
        "查询快递物流！！",
        "ｔｒａｃｋ 查询快递物流",
    ],
)
def test_traditional_characters_and_wide_ones_find_the_same_as_simplified_and_narrow_ones(index_of, query) -> None:
    engine = index_of(
        tool("express.track", "快递物流查询，根据运单号返回物流轨迹"),
        tool("express.price", "运费估算，按始发地、目的地与重量计算"),
        tool("shop.orders", "查询订单列表"),
    )
    assert names_of(engine.search(query).hits)[0] == "express.track"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("删除一个文件", "files.delete_file"),
        ("给同事发一封电子邮件", "mail.send_email"),
        ("明天的天气怎么样", "sky.get_forecast"),
        ("在日历里新建一个会议", "calendar.create_event"),
    ],
)
def test_a_chinese_request_finds_its_tool_in_an_english_catalog(index_of, query: str, name: str) -> None:
    engine = index_of(*ENGLISH)
    assert names_of(engine.search(query).hits)[0] == name


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Lösche eine Datei", "files.delete_file"),
        ("Elimina un archivo", "files.delete_file"),
        ("Quelle météo pour demain à Paris ?", "sky.get_forecast"),
        ("メールを送信して", "mail.send_email"),
    ],
)
def test_a_request_finds_its_tool_in_an_english_catalog_from_other_languages_too(index_of, query, name) -> None:
    engine = index_of(*ENGLISH)
    assert name in names_of(engine.search(query).hits)[:2]
