"""The kinds of sources that turn something that is no tool into tools."""

from pegboard.config.key import Key, SourceKind
from pegboard.config.types import ANY, DOCUMENT, FLAG, OBJECT, PATH, REFERENCE, SECONDS, SELECTORS, table_of, whole

_AUTH = Key(
    "auth",
    ANY,
    "Credentials, with references: a token, or a table with `token`; `username` and `password`; `header` (or `query`, "
    "`cookie`) and `value`; `client_id`, `client_secret` and `token_url`. Where a description has several security "
    "schemes, a table by scheme.",
    example='"${env:API_TOKEN}"',
)
_HEADERS = Key(
    "headers",
    table_of(REFERENCE, '{ Accept-Language = "en" }'),
    "HTTP headers for every request.",
    {},
    example='{ Accept-Language = "en" }',
)
_PRIVATE = Key(
    "allow_private",
    FLAG,
    "Whether requests may go to private addresses that stand in a document or redirect, not in this file.",
    False,
)

_PUBLIC = Key(
    "public",
    FLAG,
    "Whether the address that stands here must be public as well: imported flows have it.",
    False,
)

OPENAPI = SourceKind(
    Key(
        "openapi",
        DOCUMENT,
        "An OpenAPI 3 or Swagger 2 description (JSON or YAML), as a file or an address; each operation is a tool.",
        example='"openapi.yaml"',
    ),
    (
        Key("base_url", REFERENCE, "Where requests go, instead of the servers that the description names."),
        Key("select", SELECTORS, "Only these operations: names, `category:TAG`, `effects:read_only`, `!...`."),
        _AUTH,
        _HEADERS,
        _PRIVATE,
        Key(
            "check_output", FLAG, "Whether an answer that is not as described is a failure; if not, it is noted.", False
        ),
        Key("deprecated", FLAG, "Whether deprecated operations are tools too.", True),
    ),
)

SQL = SourceKind(
    Key(
        "sql",
        REFERENCE,
        "A database, read only: `sqlite:///FILE`, `postgresql://...`, `duckdb:///FILE`, or a file or folder of Parquet "
        "and CSV files. Its tables are explored in layers, then asked.",
        example='"${path:shop.db}"',
    ),
    (
        Key("rows", whole(1, 10_000), "The most rows of an answer.", 500),
        Key("bytes", whole(1_000), "About how many bytes the rows of an answer may have.", 200_000),
        Key("seconds", SECONDS, "How long one query may run.", 10),
    ),
)

HTTP = SourceKind(
    Key(
        "http",
        OBJECT,
        "One HTTP request as a tool (`url`, `method`, `headers`, `query`, `body`, with `{{name}}` for arguments; "
        "`description`, `parameters`), or a table of such tools by name.",
        example='{ url = "https://api.example.com/users/{{id}}", description = "Read a user." }',
    ),
    (_AUTH, _PRIVATE, _PUBLIC),
)

CLI = SourceKind(
    Key(
        "cli",
        ANY,
        "A program as a tool: its argument list with `{{name}}` for arguments (never a shell), or a table with `argv`, "
        "`description`, `parameters`, `stdin`, `cwd`, `env`, `timeout`, `output`, or a table of such tools by name.",
        example='["git", "log", "--oneline", "-n", "{{count}}"]',
    ),
)

MANIFEST = SourceKind(
    Key(
        "manifest",
        PATH,
        "A file of tool definitions (JSON or YAML; one, a list, or `tools`), each bound by `http`, `cli` or `python` "
        '("module:function").',
        example='"tools.json"',
    ),
    (_AUTH, _PRIVATE),
)

GRAPHQL = SourceKind(
    Key(
        "graphql",
        DOCUMENT,
        "A GraphQL endpoint, which is asked for its schema, or a schema file; queries and mutations are tools.",
        example='"https://api.example.com/graphql"',
    ),
    (
        Key("endpoint", REFERENCE, "Where requests go, if `graphql` is a file."),
        _AUTH,
        _HEADERS,
        _PRIVATE,
        Key("depth", whole(0, 10), "How many levels of objects an answer shows.", 3),
        Key("fields", whole(1, 1_000), "How many fields an answer shows at most.", 60),
    ),
)

SCRIPT = SourceKind(
    Key(
        "script",
        OBJECT,
        "JavaScript as a tool, run in the sandbox of code mode without tools, files or network (needs the extra "
        "`codemode`): `code` (a function's body; `input` is the object of arguments), `description`, `parameters`, "
        "`timeout_ms`; or a table of such tools by name.",
        example='{ code = "return input.prices.reduce((a, b) => a + b, 0);", description = "Add prices up." }',
    ),
)

WAIT = SourceKind(
    Key(
        "wait",
        OBJECT,
        "A tool that waits: `delay_ms`, or a `request` (as of `http`, by GET) that is sent every `interval_ms`, "
        "`max_attempts` times at most, until `until` holds over `status` and `body`; with `go_on` what never comes is "
        "no failure.",
        example='{ request = { url = "https://api.example.com/jobs/{{id}}" }, until = \'body.state == "done"\' }',
    ),
    (_PRIVATE, _PUBLIC),
)

ADAPTERS: tuple[SourceKind, ...] = (OPENAPI, GRAPHQL, SQL, HTTP, CLI, MANIFEST, SCRIPT, WAIT)
