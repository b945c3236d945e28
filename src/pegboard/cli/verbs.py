"""Every verb, as data, so that help is shown without importing any of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of the command line.

    Parameters:
        name: as typed.
        home: where it is defined: `module:attribute`, imported when it is used.
        summary: what it does, in one line.
    """

    name: str
    home: str
    summary: str


VERBS = (
    Verb("init", "pegboard.cli.init:init", "Write a commented pegboard.toml."),
    Verb("import", "pegboard.cli.import_:import_", "Take over the servers that other clients have."),
    Verb("discover", "pegboard.cli.discover:discover", "Show what an MCP server offers, without adding it."),
    Verb("connect", "pegboard.cli.connect:connect", "Point an MCP client at the board."),
    Verb("auth", "pegboard.cli.auth:app", "Sign in to remote servers, see who is signed in, and sign out."),
    Verb("serve", "pegboard.cli.serve:serve", "Serve the board to MCP clients, over stdio or HTTP."),
    Verb("list", "pegboard.cli.list:list_tools", "List the tools of the board, and how its sources are."),
    Verb("search", "pegboard.cli.search:search", "Find tools by what they do."),
    Verb("describe", "pegboard.cli.describe:describe", "Show everything about one tool."),
    Verb(
        "discoverables", "pegboard.cli.discoverables:app", "Look at connectors and plugins that could be on the board."
    ),
    Verb("install", "pegboard.cli.install:install", "Install a connector or plugin of a directory."),
    Verb("uninstall", "pegboard.cli.install:uninstall", "Take something that was installed off the board."),
    Verb("enable", "pegboard.cli.install:enable", "Switch on a source that is switched off."),
    Verb("disable", "pegboard.cli.install:disable", "Switch a source off without losing it."),
    Verb("resources", "pegboard.cli.resources:app", "List and read the resources of MCP servers."),
    Verb("prompts", "pegboard.cli.prompts:app", "List and get the prompts of MCP servers."),
    Verb("call", "pegboard.cli.call:call", "Call a tool."),
    Verb("chain", "pegboard.cli.chain:app", "Run a chain, resume, fork, cancel its runs, and look at them."),
    Verb("code", "pegboard.cli.code:app", "Run code that calls tools, go on with its runs, and look at them."),
    Verb("lower", "pegboard.cli.lower:lower", "Bring tool definitions into a provider's dialect."),
    Verb("raise", "pegboard.cli.lower:raise_", "Turn a model's arguments back into what the tool wants."),
    Verb("export", "pegboard.cli.export:export", "Print the board's tools as a provider's request takes them."),
    Verb("publish", "pegboard.cli.publish:app", "Freeze the board's definitions as a version."),
    Verb("versions", "pegboard.cli.versions:app", "Compare published versions, choose one; traffic of old tools."),
    Verb("check", "pegboard.cli.check:check", "Judge a set of tools as a model meets it, by rules."),
    Verb("probe", "pegboard.cli.probe:probe", "Ask a catalog for each of its tools: how findable it is."),
    Verb("new", "pegboard.cli.new:app", "Write a new tool, with its test, from a scaffold."),
    Verb("bench", "pegboard.cli.bench:app", "Measure search on your own sets of requests."),
    Verb("insight", "pegboard.cli.insight:app", "Learn from traces: what to bundle, batch, merge and retire."),
    Verb("test", "pegboard.cli.test:test_tool", "Run one tool alone on recorded examples."),
    Verb(
        "agent",
        "pegboard.cli.agent:app",
        "Run an agent on the board, or judge its choice of tools.",
    ),
    Verb("hints", "pegboard.cli.hints:hints", "List what to call before which tool, as schemas suggest it."),
    Verb("health", "pegboard.cli.health:health", "Say whether services can be relied on now."),
    Verb(
        "improve", "pegboard.cli.improve:improve", "Walk the whole procedure: eight steps from traces to better tools."
    ),
    Verb("assets", "pegboard.cli.assets:app", "List, read and remove files and large results that are kept."),
    Verb("approvals", "pegboard.cli.approvals:approvals", "Answer what waits for a yes; see grants and changed tools."),
    Verb("doctor", "pegboard.cli.doctor:doctor", "Start every source, and say what is well, mended or missing."),
    Verb("runs", "pegboard.cli.runs:runs", "Look at what was called: runs list, runs show, runs tail."),
)
