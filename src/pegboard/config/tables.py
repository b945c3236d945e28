"""Every table and key of `pegboard.toml`. To add one, write it here: parser, template and reference page follow."""

from pegboard.config.adapters import ADAPTERS
from pegboard.config.agents import AGENT
from pegboard.config.approval import APPROVAL
from pegboard.config.chains import CHAINS
from pegboard.config.coded import CODEMODE
from pegboard.config.composed import BATCH, BUNDLE, CHAIN, DEPRECATED, HINT, SCATTER
from pegboard.config.judged import CHECK, OVERRIDE
from pegboard.config.key import Key, SourceKind, Table
from pegboard.config.offered import DIRECTORIES, SUGGESTIONS
from pegboard.config.shaping import MODEL, SHAPING
from pegboard.config.subagents import DELEGATION
from pegboard.config.types import (
    FLAG,
    LIMITS,
    MODULE,
    NAMESPACE,
    PATH,
    REFERENCE,
    SECONDS,
    SELECTORS,
    SERVER,
    SHARE,
    STORE,
    TEXT,
    TEXTS,
    choice,
    list_of,
    table_of,
    whole,
)

BOARD = Table(
    "board",
    "The board itself: how it is called, where it keeps things, what a model sees at first, and its limits.",
    (
        Key("name", TEXT, "The board's name, which clients see.", "pegboard", example='"my-board"'),
        Key(
            "store",
            STORE,
            "The folder of the board's store (catalog, wire names, large results, traces). "
            'With ":memory:" nothing outlives the process.',
            ".pegboard",
        ),
        Key(
            "search",
            choice("auto", "on", "off"),
            'Whether models find tools by search: from `threshold` tools on ("auto"), always, or never.',
            "auto",
        ),
        Key(
            "encoder",
            choice("auto", "on", "off"),
            'Whether a sentence encoder reads requests and tools too: where the extra `encoder` is installed ("auto"), '
            "always, or never. It finds more, and each tool costs some 5 ms once.",
            "off",
        ),
        Key("threshold", whole(0), "From this many tools on, the long tail is found by search.", 20),
        Key(
            "always",
            SELECTORS,
            "Tools that must be at hand: a model sees them from the start, even on a large board.",
            [],
            example='["git.git_status", "files.*"]',
        ),
        Key(
            "hidden",
            SELECTORS,
            "Tools that no model shall see: neither listed nor found. Composed tools can still call them.",
            [],
            example='["db.execute_sql"]',
        ),
        Key(
            "max_direct",
            whole(1),
            "How many tools a model sees from the start at most; what it finds comes on top. With search the rest is "
            "found by it, with a warning; with search off more than these are an error.",
            50,
        ),
        Key("context_tokens", whole(1), "How large the context of the models is that use the board.", 200_000),
        Key(
            "context_share",
            SHARE,
            "Which part of the context the definitions in the list may take; beyond it tools are found by search, "
            "those of `always` excepted. A token is counted as four bytes.",
            0.2,
        ),
        Key(
            "profile",
            choice("default", "runtype"),
            'Which tools may be deferred: any, or ("runtype") only those made in this file or in Python, while MCP, '
            "API and database tools stay loaded.",
            "default",
        ),
        Key(
            "learn",
            whole(0, 50),
            "How many of the tools that past runs used most a model sees from the start as well.",
            0,
        ),
        Key("start_timeout", SECONDS, "How long a source may take to start and list its tools.", 30),
        Key("call_timeout", SECONDS, "How long one call may take.", 60),
        Key("concurrency", whole(1, 1024), "How many calls run at once in one source.", 16),
        Key(
            "max_result",
            whole(1024),
            "How many bytes of a result's texts together, and of its structured value as JSON, are shown; of a larger "
            "one the whole is kept in the store, readable in pages. The base64 of pictures, sounds and files that come "
            "as blocks is not counted, so a picture of 1 MB passes whole; such a block is left out above 20,000,000 "
            "characters. Base64 in a text or in the value counts like any text.",
            100_000,
        ),
        Key("keep_days", whole(1, 36_500), "How long large results and traces are kept.", 30),
        Key("keep_runs", whole(1), "How many runs are kept at most, the latest; any number where it is not written."),
        Key(
            "asset_days",
            whole(1, 36_500),
            "How long binary parts of results (from 4,096 bytes on) are kept, for which models see a handle.",
            7,
        ),
        Key(
            "asset_mb",
            whole(1, 1_000_000),
            "How many megabytes of assets and large results are kept together; what would expire first makes room.",
            1000,
        ),
        Key("asset_count", whole(1, 10_000_000), "How many of them are kept, likewise.", 20_000),
        Key(
            "asset_scheme",
            choice("pegboard-asset", "runtype-asset"),
            "How handles are written. With `runtype-asset`, for agents from Runtype, both are read.",
            "pegboard-asset",
        ),
        Key(
            "sign_ins",
            choice("auto", "keyring", "file"),
            "Where `pegboard auth login` keeps sign-ins: the system's keyring, encrypted files in your config folder, "
            "or the keyring where there is one that works.",
            "auto",
        ),
        Key(
            "builtins",
            list_of(choice("asset_read", "get_platform_documentation")),
            "Tools of the board itself that models see, besides those for finding tools.",
            [],
            example='["asset_read"]',
        ),
    ),
)

BUDGET = Table(
    "budget",
    "What one session of an agent may spend on calls. Meta-tools (tool_search ...) are not counted.",
    (
        Key(
            "max_tool_calls",
            whole(1),
            "How many calls a client's model may make in one session. Nothing limits them where it is not written; an "
            "agent that Pegboard executes makes 10.",
            example="100",
        ),
        Key(
            "max_inner_calls",
            whole(1),
            "How many calls a batch, bundle, chain or script may make inside of one call of the model.",
            1000,
        ),
        Key(
            "max_inner_effects",
            whole(0),
            "How many of those may be calls of tools that change something (additive, idempotent, destructive).",
            100,
        ),
        Key(
            "limits",
            LIMITS,
            "How often the tools that a selector picks may run in one session, by selector.",
            {},
            example='{ "github.create_*" = 5, "effects:destructive" = 3 }',
        ),
    ),
)

SOURCE = Table(
    "sources",
    "One table per source; its name is the namespace of its tools. Exactly one key says what it is: "
    "`mcp`, `python`, `openapi` ... (see below).",
    (
        Key("allow", SELECTORS, "Only these tools; all of them where it is not written.", example='["*issue*"]'),
        Key("deny", SELECTORS, "Not these tools; it beats `allow`.", [], example='["*delete*"]'),
        Key("prefix", NAMESPACE, 'The namespace of its tools, instead of the source\'s name; "" for none.'),
        Key(
            "version",
            TEXT,
            "The version of its tools: two versions of one server run side by side under one `prefix`. A name without "
            "a version means the newest that is not deprecated.",
            example='"2"',
        ),
        Key("start_timeout", SECONDS, "How long it may take to start and list its tools, instead of the board's."),
        Key("call_timeout", SECONDS, "How long one call may take, instead of the board's."),
        Key(
            "trust_annotations",
            FLAG,
            "Whether its hints about effects (read-only, destructive ...) may loosen a policy. Untrusted hints only "
            "tighten.",
            False,
        ),
        Key(
            "defer_loading",
            FLAG,
            "Whether its tools are found by search (true) or loaded from the start (false), where a tool itself says "
            "nothing. The board's policy comes first: `pegboard describe TOOL` says why a tool is where it is.",
        ),
        Key("disabled", FLAG, "Leaves it out without deleting its table.", False),
        *SHAPING,
    ),
    named=True,
    hints={
        "command": 'Write program and arguments as one list: mcp = ["program", "argument"].',
        "args": 'Write program and arguments as one list: mcp = ["program", "argument"].',
        "url": 'Write mcp = "https://...".',
        "module": 'Write python = "module".',
        "timeout": "Write call_timeout or start_timeout.",
        "type": "Leave it out: mcp, python or recorded says what the source is.",
        "enabled": "Write disabled = true to leave a source out.",
        "include": "Write allow.",
        "exclude": "Write deny.",
        "namespace": "Write prefix.",
    },
)

SOURCE_KINDS = (
    SourceKind(
        Key(
            "mcp",
            SERVER,
            "An MCP server: a program with its arguments (looked up beside the running Python, then on PATH), "
            "or the address of a remote one.",
            example='["mcp-server-git"]',
        ),
        (
            Key(
                "transport",
                choice("http", "sse"),
                "How a remote server is spoken to: streamable HTTP, or the old SSE transport.",
                "http",
                only_for="address",
            ),
            Key(
                "env",
                table_of(REFERENCE, '{ TOKEN = "${env:TOKEN}" }'),
                "Environment variables for the program, besides the harmless ones that it always gets.",
                {},
                example='{ GITHUB_TOKEN = "${env:GITHUB_TOKEN}" }',
                only_for="program",
            ),
            Key(
                "headers",
                table_of(REFERENCE, '{ Authorization = "Bearer ${env:TOKEN}" }'),
                "HTTP headers for a remote server.",
                {},
                example='{ Authorization = "Bearer ${env:TOKEN}" }',
                only_for="address",
            ),
            Key(
                "proxy",
                REFERENCE,
                "What requests to a remote server go through; where it is not written, what the environment names "
                '(HTTPS_PROXY, NO_PROXY ...), and "" for nothing.',
                example='"http://proxy.example.com:3128"',
                only_for="address",
            ),
            Key(
                "ca_file",
                PATH,
                "A file of certificates (PEM) that are trusted besides the system's, for servers of a private CA.",
                example='"company-ca.pem"',
                only_for="address",
            ),
            Key(
                "client_id",
                REFERENCE,
                "The OAuth client that somebody registered for you at the server's sign-in; without it one is "
                "registered by `pegboard auth login`.",
                only_for="address",
            ),
            Key(
                "client_secret",
                REFERENCE,
                "That client's secret, where it has one.",
                example='"${env:DOCS_CLIENT_SECRET}"',
                only_for="address",
            ),
            Key(
                "client_metadata_url",
                TEXT,
                "The address of your own client metadata document, for sign-in servers that read one.",
                example='"https://example.com/pegboard.json"',
                only_for="address",
            ),
            Key(
                "scopes",
                TEXTS,
                "Scopes that `pegboard auth login` asks for, besides those that the server asks for.",
                [],
                example='["repo:read"]',
                only_for="address",
            ),
            Key(
                "cwd",
                PATH,
                "Where the program runs; where pegboard was started if it is not written.",
                only_for="program",
            ),
            Key(
                "family",
                choice("auto", "modern", "handshake"),
                "Which protocol family the server is spoken to in. Write handshake for one that speaks both, and whose "
                "tools can ask in the middle of a call only there.",
                "auto",
            ),
            Key(
                "may_ask",
                list_of(choice("elicitation", "roots", "sampling")),
                "What the server may ask of the client that calls it: questions to the person (elicitation), where the "
                "project lies (roots), answers of its model (sampling). Default: elicitation, and for a program roots.",
                example='["elicitation"]',
            ),
            Key("resources", FLAG, "Whether the server's resources are there too, beside its tools.", True),
            Key("prompts", FLAG, "Whether the server's prompts are there too.", True),
            Key(
                "strict_output",
                FLAG,
                "Whether a structured result that breaks the tool's output schema fails the call; if not, it is noted.",
                False,
            ),
        ),
    ),
    SourceKind(
        Key(
            "python",
            MODULE,
            "A Python module; its functions marked with @tool are the tools. The config's folder is on its path.",
            example='"ops.tools"',
        ),
    ),
    SourceKind(
        Key(
            "recorded",
            PATH,
            "A saved list of tools (a `tools/list` answer, an array or JSON Lines, plain or .gz). They are listed and "
            "found like any other; calls fail with `unavailable`, unless `answers` holds traces.",
            example='"tools.json"',
        ),
        (
            Key(
                "answers",
                list_of(PATH, '["traces.jsonl"]'),
                "Trace files, of any known format: a call that stands in them gets the answer that it got there.",
                [],
                example='["traces.jsonl.gz"]',
            ),
        ),
    ),
    *ADAPTERS,
)

OTLP = Table(
    "otlp",
    "Traces over OpenTelemetry's protocol: sent to a collector, and taken from others by the gateway.",
    (
        Key(
            "endpoint",
            REFERENCE,
            "Where the spans of calls are sent: the whole address.",
            "",
            example='"http://127.0.0.1:4318/v1/traces"',
        ),
        Key(
            "headers",
            table_of(REFERENCE, '{ Authorization = "Bearer ${env:TOKEN}" }'),
            "Headers for the collector.",
            {},
            example='{ Authorization = "Bearer ${env:COLLECTOR_TOKEN}" }',
        ),
        Key(
            "protocol",
            choice("http/protobuf", "http/json"),
            "How it is spoken to; protobuf needs the extra `otlp`.",
            "http/protobuf",
        ),
        Key("content", FLAG, "Whether arguments and results go out too; secrets are masked.", False),
        Key(
            "receive",
            FLAG,
            "Whether `pegboard serve --http` takes spans at `/v1/traces` into its traces, under the same token.",
            False,
        ),
    ),
)

BUILDER = Table(
    "builder",
    "The procedure as tools for agents that build boards: a namespace `builder` with list_tools, list_runs, "
    "trace_execution, check_tools, probe_tool, execute_tool, find_improvements, apply_improvement, "
    "publish_agent_version, publish_flow_version, and execute_agent where the file has agents.",
    (
        Key("enabled", FLAG, "Whether the namespace is on the board.", False),
        Key(
            "write",
            FLAG,
            "Whether `apply_improvement` may write into this file, and versions may be published; else they only show.",
            False,
        ),
        Key(
            "servers",
            FLAG,
            "Whether `discover_mcp_server_tools` is there: it starts programs, and reaches addresses, that an agent "
            "names.",
            False,
        ),
    ),
)

TABLES: tuple[Table, ...] = (
    BOARD,
    SOURCE,
    MODEL,
    OVERRIDE,
    CHECK,
    APPROVAL,
    BUDGET,
    CODEMODE,
    BATCH,
    BUNDLE,
    CHAIN,
    CHAINS,
    SCATTER,
    DEPRECATED,
    HINT,
    DIRECTORIES,
    SUGGESTIONS,
    AGENT,
    DELEGATION,
    BUILDER,
    OTLP,
)
"""Every table, in the order in which they are documented."""
