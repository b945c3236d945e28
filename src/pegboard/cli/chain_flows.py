"""`pegboard chain import` and `chain export`: flows of Runtype as chains, and back."""

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pegboard.cli import foreign
from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted, data, document, say
from pegboard.cli.output import foreign as show
from pegboard.config.runtype.flow import FlowImport, read_flow
from pegboard.config.runtype.flowout import Around, write_flow
from pegboard.config.runtype.write import tables_text
from pegboard.schema.types import as_object

Pairs = Annotated[Sequence[str], Parameter(name="--map", consume_multiple=True)]
Flag = Annotated[bool, Parameter(negative="")]


async def import_(
    file: Path,
    *,
    name: str | None = None,
    pairs: Pairs = (),
    allow_private: Flag = False,
    write: Flag = False,
    config: ConfigFile = DEFAULT_CONFIG,
    json: AsJson = False,
) -> int:
    """Take over a flow of Runtype as a chain: prints its tables, or adds them to the config with --write.

    What a flow has that means nothing or something else here is said, each with a code and a JSON pointer; with --write
    the flow is kept beside the config, so that `chain export` gives it back. Ends with exit code 1 where a step cannot
    be taken over: then nothing is.

    Parameters
    ----------
    file
        The flow: JSON or YAML, by itself or inside of a dispatch request.
    name
        What the chain is called; after the flow if left out.
    pairs
        What an id of a Runtype account stands for here: ID=TOOL.
    allow_private
        Whether its requests may go to private addresses.
    write
        Add the tables to the config; the file as it was is kept beside it, with the ending .bak.
    """
    flow = foreign.read_document(file)
    found = read_flow(flow, name=name, tools=await foreign.tools_of(config, pairs), private=allow_private)
    taken = _taken(found, write=write)
    text, left = foreign.whole(config, taken) if found.ok else ("", [])
    backup = foreign.write(config, text, taken) if write and found.ok else None
    if json:
        document(_shape(found, taken, left, written=write and found.ok))
        return Exit.OK if found.ok else Exit.FINDING
    foreign.tell(found.findings)
    if not found.ok:
        say("Nothing is taken over.")
        return Exit.FINDING
    if not write:
        show(tables_text(taken.tables))
        if found.hidden:
            say(f"Models need not see its own tools: [board] hidden = {jsonlib.dumps(found.hidden)}")
    for line in left:
        say(line)
    kept = f"; the file as it was is {backup}" if backup else ""
    made = counted(len(found.chain["steps"]), "step")
    say(f"[chain.{found.name}], {made}: " + (f"written{kept}." if write else "add it with --write."))
    return Exit.OK


def export(name: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Print a chain as a flow of Runtype. One that was taken over and not changed since comes back as it was.

    Ends with exit code 1 where the flow would do something else than the chain; what that is, is said.

    Parameters
    ----------
    name
        The chain.
    """
    from pegboard.chain.file import with_file

    tables = foreign.raw_tables(config)
    table = foreign.table_named(tables, "chain", name)
    if table.get("file"):
        path, _ = foreign.config_text(config)
        table = with_file({**table, "file": str(path.resolve().parent / str(table["file"]))})
    around = Around(sources=as_object(tables.get("sources")), agents=as_object(tables.get("agent")))
    made = write_flow(name, table, around, foreign.origin_of(config, table))
    if json:
        findings = [one.to_json() for one in made.findings]
        document({"ok": made.ok, "as_it_was": made.as_it_was, "flow": made.flow, "findings": findings})
    else:
        data(jsonlib.dumps(made.flow, ensure_ascii=False, indent=2))
        foreign.tell(made.findings)
    return Exit.OK if made.ok else Exit.FINDING


def _taken(found: FlowImport, *, write: bool) -> foreign.Taken:
    origin = f"{found.name}.flow.json"
    chain = {**found.chain, "origin": origin} if write else dict(found.chain)
    tables: dict[tuple[str, str], Any] = {("chain", found.name): chain}
    tables |= {("sources", name): table for name, table in found.sources.items()}
    tables |= {("agent", name): table for name, table in found.agents.items()}
    hidden: dict[str, Any] = {"board": {"hidden": found.hidden}} if found.hidden else {}
    return foreign.Taken(tables=tables, board=hidden, origin=origin, document=found.origin)


def _shape(found: FlowImport, taken: foreign.Taken, left: list[str], *, written: bool) -> dict[str, object]:
    return {
        "ok": found.ok,
        "name": found.name,
        "written": written,
        "origin": taken.origin if written else None,
        "chain": found.chain if found.ok else None,
        "sources": dict(found.sources) if found.ok else {},
        "agents": dict(found.agents) if found.ok else {},
        "hidden": found.hidden if found.ok else [],
        "findings": [one.to_json() for one in found.findings],
        "left": left,
    }
