"""The tables `[override.NAME]`, what the operator says over a tool's own definition, and `[check]`, what is checked."""

from pegboard.config.key import Key, Table
from pegboard.config.types import OBJECT, PATH, TEXT, TEXTS, choice

OVERRIDE = Table(
    "override",
    "What the operator says of a tool, also a foreign one, in the place of what its source says. The server is not "
    'changed. `[override."github.create_issue"]`. `NAME` is as callers know it, so after `[sources.X.tools.T]`, whose '
    "words it beats.",
    (
        Key("description", TEXT, "What it does, instead of the description that its source sends."),
        Key("title", TEXT, "Its name for people."),
        Key("category", TEXT, "What it is about, in one word.", example='"billing"'),
        Key("auth", TEXT, 'What one has to be signed in to; "none" where to nothing.', example='"oauth:github"'),
        Key(
            "effects",
            choice("read_only", "additive", "idempotent", "destructive"),
            "What a call does to the world. It is believed, whatever the source says.",
        ),
        Key("rung", choice("low", "mid", "high"), "Its altitude on the ladder."),
        Key("aliases", TEXTS, "Other names that find it, besides its own.", [], example='["new_ticket"]'),
    ),
    named=True,
)

CHECK = Table(
    "check",
    "What `pegboard check` judges, and what it leaves alone. Codes may be beginnings of codes: `PB3` is all of PB301, "
    "PB302 ... ([rules](rules.md)).",
    (
        Key("select", TEXTS, "Only these rules; all where it is not written.", [], example='["PB1", "PB4"]'),
        Key("ignore", TEXTS, "Not these rules; the longer of two codes that fit wins.", [], example='["PB306"]'),
        Key(
            "tools",
            OBJECT,
            "By selector, the rules that say nothing of the tools it picks.",
            {},
            example='{ "github.*" = ["PB306"], "effects:destructive" = ["PB508"] }',
        ),
        Key("lock", PATH, "The lock file; by default `pegboard.lock` beside the config.", example='"tools.lock"'),
        Key(
            "cap",
            choice("agent-plugin", "openai-legacy", "runtype"),
            "Whose cap on descriptions holds: 1,000 bytes, 1,024 characters or 500 characters.",
        ),
        Key(
            "targets",
            TEXTS,
            "The dialects whose losses are told.",
            ["openai-responses", "anthropic", "gemini"],
        ),
    ),
)
