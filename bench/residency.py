"""What a model reads of a board: the full list, the list that it is shown, and one search, for 50, 277 and 6,000 tools.

    python bench/residency.py [--catalog ../shared/bench/mcp-catalog/tools.jsonl.gz] [--sizes 50 277 6000] [--json]

Up to 277 tools come from `tests/corpus/mcp`, real `tools/list` answers of fifteen servers; larger boards from the
catalog file (JSON Lines with `namespace`, `name`, `description`, `parameters`). All are recorded sources of a board.
Bytes are those of compact JSON in UTF-8; tokens are bytes / 4, no tokenizer's. The lists are bodies of `tools/list`
answers, all pages together. A search answer stands twice in an MCP result, as text and as data; a client hands its
model one of them.
"""

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import anyio

from pegboard.board import Board
from pegboard.board.gateway import Gateway, announcement
from pegboard.discovery import Residency
from pegboard.sources.recorded import RecordedSource
from pegboard.wire.server.front import Peer

HERE = Path(__file__).parent
CORPUS = HERE.parent / "tests/corpus/mcp"
CATALOG = HERE.parents[1] / "shared/bench/mcp-catalog/tools.jsonl.gz"
SIZES = (50, 277, 6000)
QUERIES = (
    "read a text file", "take a screenshot of the page", "create a pull request", "list the pods of a cluster",
    "search for train tickets", "draw a pie chart", "add a comment to a page", "show the commit history",
    "fetch a web page as markdown", "find entities in the knowledge graph", "send a message to a channel",
    "what is trending today", "add a table to a document", "move a file", "click a button", "query a database",
    "get the weather forecast", "schedule a meeting", "convert a currency", "translate a text",
)  # fmt: skip
BYTES_PER_TOKEN = 4


def size(value: Any) -> int:
    """Bytes of a text, or of a value as compact JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace"))


def recordings(folder: Path, count: int, catalog: Path) -> Iterator[RecordedSource]:
    """Recorded sources of so many tools together, one a server."""
    servers: dict[str, list[Any]] = {}
    for server, row in corpus() if count <= 277 else catalogued(catalog):
        if count == 0:
            break
        count -= 1
        servers.setdefault(server, []).append(row)
    for server, rows in servers.items():
        path = folder / f"{len(list(folder.iterdir()))}.json"
        path.write_text(json.dumps({"tools": rows}))
        yield RecordedSource(server, path)


def corpus() -> Iterator[tuple[str, Any]]:
    """The tools of the corpus, by server."""
    for path in sorted(CORPUS.glob("*.json*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for row in json.loads(text)["tools"]:
            yield path.name.partition(".")[0], row


def catalogued(path: Path) -> Iterator[tuple[str, Any]]:
    """The tools of the catalog file, by server."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield (
                row.get("namespace") or "none",
                {"name": row["name"], "description": row["description"], "inputSchema": row["parameters"]},
            )


async def listed(board: Board) -> list[Any]:
    """Every row that a client of the handshake family gets."""
    gateway, peer = Gateway(board), Peer("bench", stateless=False)
    rows, cursor = [], None
    while True:
        body = await gateway.list_tools(peer, cursor)
        rows += body["tools"]
        cursor = body.get("nextCursor")
        if cursor is None:
            return rows


async def measure(count: int, catalog: Path) -> dict[str, Any]:
    """The figures of one size."""
    with tempfile.TemporaryDirectory() as folder:
        sources = list(recordings(Path(folder), count, catalog))
        async with Board.of(*sources, residency=Residency(search="off", max_direct=10**6)) as board:
            full = await listed(board)
        async with Board.of(*sources) as board:
            shown = await listed(board)
            answers = [await board.call("tool_search", {"query": query}) for query in QUERIES]
            intents = [await board.call("find_tool_by_intent", {"intent": query}) for query in QUERIES]
            told = announcement(board.view())
    return {
        "tools": count,
        "namespaces": len(sources),
        "full list": size({"tools": full}),
        "shown list": size({"tools": shown}),
        "shown entries": len(shown),
        "instructions": size(told),
        "search, as text": round(mean(size(answer.content[0]["text"]) for answer in answers)),
        "search, as data": round(mean(size(answer.value) for answer in answers)),
        "intent, as text": round(mean(size(answer.content[0]["text"]) for answer in intents)),
    }


def show(found: list[dict[str, Any]]) -> None:
    """The figures as a table: bytes, and tokens as bytes / 4."""
    print(f"{'':18}" + "".join(f"{row['tools']:>22,} tools" for row in found))
    for key in found[0]:
        if key in ("tools", "namespaces", "shown entries"):
            cells = [f"{row[key]:>28,}" for row in found]
        else:
            cells = [f"{row[key]:>14,} B {row[key] // BYTES_PER_TOKEN:>9,} t" for row in found]
        print(f"{key:18}" + "".join(cells))
    shares = [f"{row['shown list'] / row['full list']:>28.2%}" for row in found]
    print(f"{'shown / full':18}" + "".join(shares))


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--catalog", type=Path, default=CATALOG)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = [await measure(count, args.catalog) for count in args.sizes]
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)


if __name__ == "__main__":
    anyio.run(main)
