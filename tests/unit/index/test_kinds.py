"""What a request names by its form alone: files, addresses."""

import pytest

from pegboard.index.ask import read
from pegboard.index.kinds import named_kinds
from pegboard.index.protocol import names_of

from .conftest import tool


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("open notes.txt", ["file"]),
        ("show me package.json, src/main.py and README.md", ["file", "multiple"]),
        ("what does https://example.org/about say", ["url"]),
        ("write to ann@example.org", ["email"]),
        ("grab the article at example.com/news", ["url"]),
        ("what is 17.5 percent of 240", []),
        ("it works. Or does it? See v2.1.3 e.g. this", []),
    ],
)
def test_files_and_addresses_are_known_by_their_form(text: str, kinds: list[str]) -> None:
    assert named_kinds(text.split()) == kinds


def test_a_request_that_names_a_file_finds_what_reads_files(index_of) -> None:
    engine = index_of(
        tool("memory.open_nodes", "Open nodes of the graph by their names"),
        tool("disk.read_file", "Read a file"),
        tool("web.fetch", "Fetch a URL"),
    )
    assert names_of(engine.search("open the readme.md for me").hits)[0] == "disk.read_file"
    assert names_of(engine.search("what does https://example.org/about say").hits)[0] == "web.fetch"


def test_a_kind_that_is_said_already_is_read_once() -> None:
    assert read("read the file notes.txt").words.count("file") == 1
