"""The tables of what could be on the board: `[directories.NAME]` and `[suggestions]`."""

from pegboard.config.key import Key, Table
from pegboard.config.types import DOCUMENT, FLAG, PATH, REFERENCE, TEXTS, choice, table_of, whole

DIRECTORIES = Table(
    "directories",
    "A directory of connectors and plugins that could be on the board: a model finds them, and asks a person for them.",
    (
        Key(
            "from",
            DOCUMENT,
            "Where it is: an MCP registry (an address, a `server.json` or a folder of them), a Docker-style catalog, a "
            "folder of Agent Plugins, or a TOML file of our own.",
            required=True,
            example='"directory/"',
        ),
        Key(
            "kind",
            choice("auto", "registry", "docker", "plugins", "toml"),
            "What it is; found out from what lies there where it is not written.",
            "auto",
        ),
        Key("allow", TEXTS, "Only entries with these ids; `*` stands for anything.", [], example='"com.example/*"'),
        Key("deny", TEXTS, "No entries with these ids; it beats `allow`.", [], example='"*/experimental-*"'),
        Key(
            "headers",
            table_of(REFERENCE, '{ Authorization = "Bearer ${env:TOKEN}" }'),
            "HTTP headers for a registry at an address.",
            {},
            example='{ Authorization = "Bearer ${env:REGISTRY_TOKEN}" }',
        ),
        Key(
            "index", REFERENCE, "The package index or npm registry to install its packages from, instead of the usual."
        ),
        Key("wheelhouse", PATH, "A folder of wheels to install its PyPI packages from, instead of any index."),
        Key(
            "allow_private",
            FLAG,
            "Whether its connectors may be at private addresses. What your own TOML file says is always allowed.",
            False,
        ),
        Key("disabled", FLAG, "Leaves it out without deleting its table.", False),
    ),
    named=True,
)

SUGGESTIONS = Table(
    "suggestions",
    "What an agent may ask a person to install or enable. Search has switches of its own.",
    (
        Key("enabled", FLAG, "Whether models see what could be there, and may ask for it.", True),
        Key("never", TEXTS, "Ids that are never offered, whoever asks; `*` stands for anything.", []),
        Key(
            "disabled_sources",
            FLAG,
            "Whether sources of this board that are switched off are offered for enabling.",
            True,
        ),
        Key("per_hour", whole(1, 1000), "How many requests a principal may make in an hour.", 6),
        Key("forget_days", whole(1, 3650), "After how many days a no for good is forgotten.", 180),
        Key(
            "manage",
            FLAG,
            "Whether models also get tools that install, enable, disable and uninstall, each call with its approval.",
            False,
        ),
    ),
)
