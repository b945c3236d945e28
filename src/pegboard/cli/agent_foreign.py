"""`pegboard agent import` and `agent export`: agents of Runtype, `config.tools` above all, and back."""

import json as jsonlib
from pathlib import Path
from typing import Any

from pegboard.cli import foreign
from pegboard.cli.chain_flows import Flag, Pairs
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.config.runtype.agent import AgentImport, read_agent
from pegboard.config.runtype.agentout import write_agent
from pegboard.schema.types import JsonObject


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
    """Take over an agent of Runtype with its config.tools: prints its tables, or adds them to the config with --write.

    What means nothing or something else here is said, each with a code and a JSON pointer; with --write the agent is
    kept beside the config, so that `agent export` gives it back. Ends with exit code 1 where something cannot be taken
    over: then nothing is.

    Parameters
    ----------
    file
        The agent: JSON or YAML, `{"name", "config": {...}}`.
    name
        What it is called; as in the file if left out.
    pairs
        What an id of a Runtype account stands for here: ID=TOOL.
    allow_private
        Whether its servers and tools may stand at private addresses.
    write
        Add the tables to the config; the file as it was is kept beside it, with the ending .bak.
    """
    given = foreign.read_document(file)
    found = read_agent(given, name=name, tools=await foreign.tools_of(config, pairs), private=allow_private)
    remarks = [f"[{table}] {jsonlib.dumps(dict(keys), ensure_ascii=False)}" for table, keys in found.board.items()]
    told = foreign.Told(found.findings, _shape(found), f"[agent.{found.name}]", remarks)
    return foreign.take_over(config, _taken(found, write=write) if found.ok else None, told, write=write, json=json)


def export(name: str, *, config: ConfigFile = DEFAULT_CONFIG, json: AsJson = False) -> int:
    """Print an agent as one of Runtype. One that was taken over and not changed since comes back as it was.

    Ends with exit code 1 where it could do there what it cannot here, or the other way round; what that is, is said.

    Parameters
    ----------
    name
        The agent.
    """
    tables = foreign.raw_tables(config)
    table = foreign.table_named(tables, "agent", name)
    made = write_agent(name, tables, foreign.origin_of(config, table))
    return foreign.give_back("agent", made.agent, made.findings, as_it_was=made.as_it_was, ok=made.ok, json=json)


def _taken(found: AgentImport, *, write: bool) -> foreign.Taken:
    origin = f"{found.name}.agent.json"
    agent: dict[str, Any] = {**found.agent, "origin": origin} if write else dict(found.agent)
    tables: dict[tuple[str, str], Any] = {("agent", found.name): agent}
    tables |= {("sources", name): table for name, table in found.sources.items()}
    tables |= {("agent", name): table for name, table in found.agents.items()}
    return foreign.Taken(tables=tables, board=found.board, origin=origin, document=found.origin)


def _shape(found: AgentImport) -> JsonObject:
    return {
        "ok": found.ok,
        "name": found.name,
        "agent": dict(found.agent) if found.ok else None,
        "sources": dict(found.sources) if found.ok else {},
        "agents": dict(found.agents) if found.ok else {},
        "board": {table: dict(keys) for table, keys in found.board.items()} if found.ok else {},
    }
