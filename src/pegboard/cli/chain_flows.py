"""`pegboard chain import` and `chain export`: flows of Runtype as chains, and back."""

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pegboard.cli import foreign
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import counted
from pegboard.config.runtype.flow import FlowImport, read_flow
from pegboard.config.runtype.flowout import Around, write_flow
from pegboard.schema.types import JsonObject, as_object

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
    hidden = f"Models need not see its own tools: [board] hidden = {jsonlib.dumps(found.hidden)}"
    made = f"[chain.{found.name}], {counted(len(found.chain['steps']), 'step')}" if found.ok else ""
    told = foreign.Told(found.findings, _shape(found), made, [hidden] if found.hidden else [])
    return foreign.take_over(config, _taken(found, write=write) if found.ok else None, told, write=write, json=json)


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
    return foreign.give_back("flow", made.flow, made.findings, as_it_was=made.as_it_was, ok=made.ok, json=json)


def _taken(found: FlowImport, *, write: bool) -> foreign.Taken:
    origin = f"{found.name}.flow.json"
    chain = {**found.chain, "origin": origin} if write else dict(found.chain)
    tables: dict[tuple[str, str], Any] = {("chain", found.name): chain}
    tables |= {("sources", name): table for name, table in found.sources.items()}
    tables |= {("agent", name): table for name, table in found.agents.items()}
    hidden: dict[str, Any] = {"board": {"hidden": found.hidden}} if found.hidden else {}
    return foreign.Taken(tables=tables, board=hidden, origin=origin, document=found.origin)


def _shape(found: FlowImport) -> JsonObject:
    return {
        "ok": found.ok,
        "name": found.name,
        "chain": found.chain if found.ok else None,
        "sources": dict(found.sources) if found.ok else {},
        "agents": dict(found.agents) if found.ok else {},
        "hidden": found.hidden if found.ok else [],
    }
