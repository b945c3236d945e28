"""The table `[codemode]`: code that a model writes and that calls tools."""

from pegboard.config.key import Key, Table
from pegboard.config.types import SELECTORS, TEXT, choice, list_of, whole

CODEMODE = Table(
    "codemode",
    "Code that a model writes, run in a sandbox, where it calls tools (needs the extra `codemode`). The tool "
    "`run_code` is listed only where `tools` is written.",
    (
        Key(
            "tools",
            SELECTORS,
            "The tools that code may call; no others. Nothing is listed where it is empty.",
            [],
            example='["mcp:*", "github.*", "!*.delete_*"]',
        ),
        Key(
            "languages",
            list_of(choice("javascript", "python")),
            "The languages that code may be in; the first is the default.",
            ["javascript", "python"],
        ),
        Key("description", TEXT, "What models read of `run_code` first, instead of our words.", ""),
        Key(
            "timeout_ms",
            whole(10, 3_600_000),
            "How many milliseconds a run may take; the time in which a person is asked does not count.",
            60_000,
        ),
        Key("max_calls", whole(1, 1_000_000), "How many calls one run may make.", 1000),
        Key("concurrency", whole(1, 256), "How many calls of one run run at once; others wait.", 16),
        Key("max_runs", whole(1, 256), "How many runs there are at once; others wait.", 8),
        Key("max_memory_mb", whole(16, 4096), "How many megabytes the values of one run may take.", 64),
        Key(
            "max_output",
            whole(1024, 100_000_000),
            "How many bytes of JSON a run may return, or give to one call.",
            1_000_000,
        ),
        Key(
            "max_shown",
            whole(256, 10_000_000),
            "How many bytes of the returned value a model sees; a larger one is kept whole as an asset.",
            20_000,
        ),
        Key("log_tail", whole(0, 1_000_000), "How many characters of the end of the log a model sees.", 4000),
        Key("warm", whole(0, 64), "How many JavaScript processes wait, started, for the next runs.", 2),
    ),
)
