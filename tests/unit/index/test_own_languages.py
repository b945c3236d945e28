"""Catalogs and requests of our own in six languages, some of them for which nothing fits (`languages/*.tsv`)."""

from pathlib import Path
from typing import NamedTuple

import pytest

from pegboard import index
from pegboard.bench.peers import plain_bm25
from pegboard.core import ToolName, ToolSpec
from pegboard.discovery.suggested import FITS, is_good
from pegboard.index import Found, Index
from pegboard.index.ask import read
from pegboard.index.protocol import names_of

from .conftest import tool

FILES = sorted((Path(__file__).parent / "languages").glob("*.tsv"))


class Shelf(NamedTuple):
    """One language's file: what there is, what is asked for with the right tool, and what nothing meets."""

    tools: dict[str, str]
    asked: dict[str, str]
    unmet: list[str]

    def engine(self) -> Index:
        engine = index.default()
        engine.update(put=[ToolSpec(name=ToolName.parse(name), description=text) for name, text in self.tools.items()])
        return engine


def shelf(path: Path) -> Shelf:
    rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]
    return Shelf(
        {name: text for kind, name, text in rows if kind == "tool"},
        {text: name for kind, name, text in rows if kind == "ask"},
        [text for kind, _, text in rows if kind == "none"],
    )


def fits(found: Found) -> bool:
    return found.confidence >= FITS or is_good(found)


@pytest.fixture(params=FILES, ids=[path.stem for path in FILES])
def given(request: pytest.FixtureRequest) -> Shelf:
    return shelf(request.param)


def test_there_is_enough_to_tell() -> None:
    assert {path.stem for path in FILES} >= {"de", "es", "ja", "ko", "th", "zh"}
    for found in map(shelf, FILES):
        assert len(found.tools) > 20 and len(found.asked) > 20
        assert set(found.asked.values()) <= set(found.tools)


@pytest.mark.parametrize("first", [1, 3, 8])
def test_every_language_is_found_in_and_never_worse_than_with_plain_bm25(given: Shelf, first: int) -> None:
    engine = given.engine()
    rows = [
        {"id": name, "namespace": name.split(".")[0], "name": name.split(".")[1], "description": text}
        for name, text in given.tools.items()
    ]
    plain = plain_bm25(rows)
    ours = sum(name in names_of(engine.search(query).hits[:first]) for query, name in given.asked.items())
    theirs = sum(name in plain(query, first) for query, name in given.asked.items())
    assert ours >= theirs
    assert ours >= {1: 0.85, 3: 0.95, 8: 1.0}[first] * len(given.asked)


def test_what_is_found_is_mostly_told_to_fit_and_what_nothing_meets_never(given: Shelf) -> None:
    engine = given.engine()
    told = [fits(engine.search(query)) for query in given.asked]
    assert sum(told) >= 0.85 * len(told)
    assert not [query for query in given.unmet if fits(engine.search(query))]


def test_without_its_tool_a_request_is_less_sure(given: Shelf) -> None:
    engine = given.engine()
    sure, unsure = [], []
    for query, name in given.asked.items():
        found = engine.search(query)
        sure.append(found.confidence)
        engine.update(remove=[ToolName.parse(name)])
        unsure.append(engine.search(query).confidence)
        engine.update(put=[ToolSpec(name=ToolName.parse(name), description=given.tools[name])])
    pairs = [(with_it > without) + 0.5 * (with_it == without) for with_it in sure for without in unsure]
    assert sum(pairs) / len(pairs) >= 0.85


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("请帮我看看今天的天气怎么样", "今天的天气"),
        ("この文章を英語に翻訳してください", "文章を英語に翻訳"),
        ("이메일을 보내 주세요", "이메일을 보내"),
        ("ช่วยลบอีเมลให้หน่อย", "ลบอีเมล"),
    ],
)
def test_what_a_request_is_wrapped_in_tells_nothing(query: str, telling: str) -> None:
    assert read(query).words == read(telling).words


def test_a_request_that_is_nothing_but_wrapping_is_still_read() -> None:
    assert read("请帮我看看").words


def test_a_request_in_another_language_than_its_tools_is_never_surely_wrong(index_of) -> None:
    engine = index_of(
        tool("mail.send_email", "Send an email to somebody"),
        tool("files.delete_file", "Delete a file"),
        tool("calendar.create_event", "Create an event in a calendar"),
        tool("sky.get_forecast", "Get the weather forecast for a city"),
    )
    for query in ("Schalte das Licht im Wohnzimmer aus", "Quiero escuchar música tranquila", "我想听安静的音乐"):
        assert not fits(engine.search(query))
