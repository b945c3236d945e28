"""`pegboard agent import` and `agent export`: agents of Runtype, `config.tools` above all, and back."""

import json as jsonlib
from pathlib import Path
from typing import Any

from pegboard.cli import foreign
from pegboard.cli.chain_flows import Flag, Pairs
from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import data, document, say
from pegboard.cli.output import foreign as show
from pegboard.config.runtype.agent import AgentImport, read_agent
from pegboard.config.runtype.agentout import write_agent
from pegboard.config.runtype.write import tables_text


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
        for table, keys in found.board.items():
            say(f"[{table}] {jsonlib.dumps(dict(keys), ensure_ascii=False)}")
    for line in left:
        say(line)
    kept = f"; the file as it was is {backup}" if backup else ""
    say(f"[agent.{found.name}]: " + (f"written{kept}." if write else "add it with --write."))
    return Exit.OK


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
    if json:
        findings = [one.to_json() for one in made.findings]
        document({"ok": made.ok, "as_it_was": made.as_it_was, "agent": made.agent, "findings": findings})
    else:
        data(jsonlib.dumps(made.agent, ensure_ascii=False, indent=2))
        foreign.tell(made.findings)
    return Exit.OK if made.ok else Exit.FINDING


def _taken(found: AgentImport, *, write: bool) -> foreign.Taken:
    origin = f"{found.name}.agent.json"
    agent: dict[str, Any] = {**found.agent, "origin": origin} if write else dict(found.agent)
    tables: dict[tuple[str, str], Any] = {("agent", found.name): agent}
    tables |= {("sources", name): table for name, table in found.sources.items()}
    tables |= {("agent", name): table for name, table in found.agents.items()}
    return foreign.Taken(tables=tables, board=found.board, origin=origin, document=found.origin)


def _shape(found: AgentImport, taken: foreign.Taken, left: list[str], *, written: bool) -> dict[str, object]:
    return {
        "ok": found.ok,
        "name": found.name,
        "written": written,
        "origin": taken.origin if written else None,
        "agent": dict(found.agent) if found.ok else None,
        "sources": dict(found.sources) if found.ok else {},
        "agents": dict(found.agents) if found.ok else {},
        "board": {table: dict(keys) for table, keys in found.board.items()} if found.ok else {},
        "findings": [one.to_json() for one in found.findings],
        "left": left,
    }
