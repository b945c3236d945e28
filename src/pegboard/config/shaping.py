"""How tools of any source shall look: `[sources.NAME.tools.TOOL]`, and the canonical models `[models.NAME]`."""

from pathlib import Path
from typing import Any, cast

from pegboard.config.key import BadValue, Key, Table, Type
from pegboard.config.types import ANY, FLAG, OBJECT, TEXT, TEXTS, choice, name_of, table_of
from pegboard.core import Effects
from pegboard.errors import nearest

_INPUT = Key(
    "input",
    OBJECT,
    "By the tool's own parameter (`body.ID` leads inside): `false` hides it, a text renames it, a table may hold "
    "`hide`, `fix`, `rename`, `values` (its code by our word), `model`, `fields`, `default`, `required`, and keywords "
    "of JSON Schema that narrow it.",
    {},
    example='{ USR_ID = "user_id", TENANT = { fix = "acme" }, DEBUG = false }',
)
_OUTPUT = Key(
    "output",
    ANY,
    "What its answers are: the name of a model, a list of paths to keep, or a table of our fields with their paths, "
    "templates (`${...}`), or tables of `path` or `value` with `values`, `date`, `unit`, `scale`, `type`, `default`, "
    "`fields`, `back`.",
    example='{ id = "USR_ID", name = "${FIRST} ${LAST}", status = { path = "ST", values = { active = "A" } } }',
)
_RECORDS = Key(
    "records", TEXT, "Where the records lie in an answer: a path, or a template over it.", example='"RESULT.ROWS"'
)
_DROP = Key(
    "drop",
    TEXTS,
    "Names of fields that are taken out of answers wherever they stand; `*` stands for any characters.",
    [],
    example='["*_SSN", "internal"]',
)

SHAPE = Table(
    "sources.NAME.tools.TOOL",
    "How one tool of a source shall look; `TOOL` is its own name, or a glob. The old shape is in no schema, answer or "
    "error. Words in `[override.NAME]` beat those here.",
    (
        Key("name", TEXT, "Another name."),
        Key("title", TEXT, "Another title."),
        Key("description", TEXT, "Another description."),
        Key("category", TEXT, "What it is about, in one word."),
        Key("effects", choice(*Effects), "What a call does to the world, as you know it."),
        _INPUT,
        Key("takes", TEXT, "The model of which its arguments together are a record.", example='"Task"'),
        _OUTPUT,
        _RECORDS,
        _DROP,
        Key("flatten", FLAG, "Whether objects in records become fields of them (`address_city`).", False),
        Key("many", FLAG, "Whether an answer is a list of records, where the tool does not say."),
        Key("raw", FLAG, "Whether each raw answer is kept as an asset.", False),
        Key(
            "preview",
            ANY,
            "How it previews: a parameter of its own that makes it only try, another tool that shows what it would "
            "change, or a table with `parameter` and `value`, or `tool`, `args` (over `input`) and `value` (over "
            "`result`).",
            example='{ tool = "files.list_files", args = { folder = "${input.folder}" } }',
        ),
        Key(
            "explore",
            ANY,
            "Another tool, which only reads, that lists what this one could do here: its name, or a table as of "
            "`preview`.",
            example='"files.list_folders"',
        ),
    ),
)

_KEYS = {key.name: key for key in SHAPE.keys}


def _shape(value: Any, folder: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadValue(f"This is {name_of(value)}, and a table is needed.", 'Write for example { name = "find_user" }.')
    table = cast("dict[str, Any]", value)
    for name in table:
        if name not in _KEYS:
            near = nearest(name, _KEYS, limit=1)
            step = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(_KEYS)}."
            raise BadValue("This key is not known.", step, at=f".{name}")
    return {name: _read(_KEYS[name], part, folder) for name, part in table.items()}


def _read(key: Key, value: Any, folder: Path) -> Any:
    try:
        return key.type.read(value, folder)
    except BadValue as problem:
        raise BadValue(problem.message, problem.next_step, at=f".{key.name}{problem.at}") from problem


SHAPING = (
    _INPUT,
    _OUTPUT,
    _RECORDS,
    _DROP,
    Key(
        "tools",
        table_of(Type("tool's shape", _shape), '{ get_user = { name = "find_user" } }'),
        "How single tools shall look, by their own names or globs; see below.",
        {},
        example='{ usr_get = { name = "get_user" } }',
    ),
    Key(
        "models",
        table_of(OBJECT, '{ User = { id = "USR_ID" } }'),
        "How the source's records become canonical ones, by model: our fields as in `output`.",
        {},
        example='{ User = { id = "USR_ID", email = "MAIL" } }',
    ),
)
"""The keys of a source that say how its tools shall look; `input`, `output`, `records` and `drop` hold for all of them,
as far as they have what is spoken of."""

MODEL = Table(
    "models",
    "A canonical model: the one shape of a kind of record in every tool that a source maps to it. `User`, `Task` and "
    "`Event` are there.",
    (
        Key("description", TEXT, "What such a record is.", ""),
        Key(
            "fields",
            OBJECT,
            "Its fields: a JSON Schema, or a table of them; a name that ends in `?` is optional.",
            {},
            example='{ id = "string", "email?" = "string" }',
        ),
        Key(
            "python",
            TEXT,
            "A pydantic model, dataclass or TypedDict instead of `fields`, as `module:Class`.",
            example='"ops.models:Customer"',
        ),
    ),
    named=True,
)
