"""`pegboard bench`: measure what can be measured on your own data."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import AsJson
from pegboard.cli.output import document, say, table

if TYPE_CHECKING:
    from pegboard.bench.sets import Score

app = App(name="bench", help="Measure on your own data.")


@app.command
def search(
    folder: Path = Path("."),
    *,
    encoder: Annotated[bool, Parameter(negative=())] = False,
    json: AsJson = False,
) -> int:
    """Run sets of requests, and print how often the right tools are found, beside plain BM25 and FastMCP's index.

    A set is a folder with tools.jsonl and queries.jsonl (or .gz): a tool has id, name, namespace, description and
    parameters; a query has query and gold (ids), and gold_groups where any of several tools will do.

    Parameters
    ----------
    folder
        One set, or a folder of sets.
    encoder
        Also measure the engine with the sentence encoder (extra `encoder`).
    """
    from pegboard.bench.engines import default
    from pegboard.bench.engines import encoder as with_encoder
    from pegboard.bench.peers import Build, fastmcp, plain_bm25
    from pegboard.bench.sets import read_sets, score

    engines: dict[str, Build] = {"pegboard": default, **({"pegboard + encoder": with_encoder} if encoder else {})}
    engines |= {"plain BM25": plain_bm25, "FastMCP": fastmcp}
    scores: list[Score] = []
    for given in read_sets(folder):
        for name, build in list(engines.items()):
            try:
                scores.append(score(name, build, given))
            except ImportError:
                say(f"{name} is not installed, and not measured.")
                del engines[name]
    if json:
        document([{"set": row.set, "engine": row.engine, **row.figures} for row in scores])
    else:
        rows = [(row.set, row.engine, *_shown(row.figures.values())) for row in scores]
        table(("set", "engine", *scores[0].figures), [*rows, *_means(scores)])
    return Exit.OK


def _means(scores: "Sequence[Score]") -> Iterator[Sequence[str]]:
    """A row an engine, where there are several sets."""
    for engine in dict.fromkeys(row.engine for row in scores):
        figures = [row.figures.values() for row in scores if row.engine == engine]
        if len(figures) > 1:
            yield ("mean", engine, *_shown(fmean(column) for column in zip(*figures, strict=True)))


def _shown(figures: Iterable[float]) -> list[str]:
    return [f"{figure:.3f}" for figure in figures]
