"""Every tool of the recorded servers, in every provider's request: the vendors' own types take it, none is left out."""

import gzip
import json
from pathlib import Path

import pytest
from tests.checkers.vendors import ENTRIES

from pegboard.catalog import AliasTable, View
from pegboard.core import SourceRef
from pegboard.normalise import normalise_all
from pegboard.surface.targets import offer

pytestmark = pytest.mark.slow
FILES = sorted((Path(__file__).parent / "mcp").glob("*.json*"))


def view(path: Path) -> View:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    name = path.name.partition(".")[0]
    specs, _ = normalise_all(json.loads(text)["tools"], namespace=name, source=SourceRef(name, "mcp"), trusted=False)
    return View(tuple(specs), aliases=AliasTable().extend(spec.name for spec in specs))


@pytest.mark.requirement("D6.3")
@pytest.mark.parametrize("target", ENTRIES)
def test_the_vendors_types_take_every_tool(target: str) -> None:
    for path in FILES:
        made = offer(view(path), target)
        assert made.refused == {}, path.name
        ENTRIES[target](made.tools)
        sent = sum(len(entry.get("tools", entry.get("functionDeclarations", [entry]))) for entry in made.tools)
        assert sent == len(made.view.direct), path.name
