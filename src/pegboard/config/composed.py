"""The tables of tools that are made of tools (`[batch.NAME]`, `[bundle.NAME]`, `[chain.NAME]` ...) and of hints."""

from pegboard.config.key import Key, Table
from pegboard.config.types import ANY, DAY, FLAG, NUMBER, OBJECT, PATH, ROWS, SECONDS, TEXT, TEXTS, choice, whole

BATCH = Table(
    "batch",
    'A tool for many items at once, made of a tool for one. Its name may hold a namespace: `[batch."crm.get_users"]`.',
    (
        Key("tool", TEXT, "The tool that runs once per item.", example='"crm.get_user"', required=True),
        Key(
            "over",
            TEXTS,
            "The parameter in which items differ, or several; the others are given once. Without it each item is a "
            "whole argument object.",
            [],
            example='"user_id"',
        ),
        Key("description", TEXT, "What it does; made from the tool's own where it is not written.", ""),
        Key("limit", whole(1, 10_000), "How many items a call may have.", 50),
        Key(
            "on_error", choice("partial", "all_or_nothing"), "Each item for itself, or all of them or none.", "partial"
        ),
        Key(
            "undo",
            OBJECT,
            "The tool that takes one finished item back, and its arguments over `item` and `value`.",
            {},
            example='{ tool = "crm.delete_user", args = { id = "${value.id}" } }',
        ),
        Key(
            "upstream",
            OBJECT,
            "A tool that takes many items in one call: `tool`, `over`, `limit`, `values` (a template "
            "over `result`), `key` (the field of each value that equals its item).",
            {},
            example='{ tool = "crm.get_by_ids", over = "ids", values = "${result.rows}", key = "id" }',
        ),
        Key("duplicates", choice("once", "each"), "Whether equal items run once or each.", "once"),
        Key("concurrency", whole(1, 256), "How many items run at once.", 32),
        Key("rate", NUMBER, "How many items start per second at most."),
        Key("retries", whole(0, 20), "How many more attempts an item gets after a failure that may pass.", 2),
        Key("stop_after", whole(1), "How many failures end the whole."),
        Key("timeout", SECONDS, "Seconds after which items that have not finished are given up."),
    ),
    named=True,
)

BUNDLE = Table(
    "bundle",
    "A fixed sequence of calls as one tool, named after the task. Its parts stay callable.",
    (
        Key(
            "description",
            TEXT,
            "What the task is, in the words that a model looks for.",
            required=True,
            example='"Send a direct message by name."',
        ),
        Key(
            "steps",
            ROWS,
            "The steps in order: `id`, `tool`, `args` (with `${step.path}` and `${input.x}`), `when`, `on_error` "
            "(stop, continue, default, retry), `default`, `retries`, `timeout`, `optional`, `mode`; or `set`, a value; "
            "or `when`, `stop`.",
            required=True,
            example='[{ id = "users", tool = "slack.search_users", args = { query = "${input.name}" } }]',
        ),
        Key(
            "input",
            OBJECT,
            'Its arguments: a JSON Schema, or a table of them (`name = "string"`, `"limit?" = '
            '"integer"`); made from what the steps read where it is not written.',
            {},
            example='{ name = "string" }',
        ),
        Key(
            "output",
            ANY,
            "What it returns, with `${step.path}`; the last step's value where it is not written.",
            example='{ user = "${users[0]}", sent = "${sent.ok}" }',
        ),
        Key(
            "replaces",
            TEXTS,
            "The tools that agents called one after the other before, in order; those that it calls where it is not "
            "written. Their descriptions point to it.",
            [],
            example='["slack.search_users", "slack.open_dm"]',
        ),
        Key("category", TEXT, "What it is about, in one word."),
    ),
    named=True,
)

CHAIN = Table(
    "chain",
    "A process of fixed order as one tool, whose runs are kept in the store: each step has a checkpoint before and "
    "after it, and `pegboard chain resume` goes on where a run was interrupted.",
    (
        Key("description", TEXT, "What the process is.", "", example='"Publish the weekly report."'),
        Key(
            "steps",
            ROWS,
            "The steps in order, as of a bundle.",
            [],
            example='[{ id = "draft", tool = "docs.draft", args = { week = "${input.week}" }, timeout = 60 }]',
        ),
        Key("file", PATH, "A TOML, YAML or JSON file with these keys, in place of writing them here."),
        Key("input", OBJECT, "Its arguments, as of a bundle.", {}, example='{ week = "integer" }'),
        Key("output", ANY, "What it returns, with `${step.path}`; the last executed step's value by default."),
        Key(
            "output_variable",
            TEXT,
            "The step whose value it returns instead; a call in which that was not assigned fails.",
            example='"draft"',
        ),
        Key(
            "parameter_mapping",
            OBJECT,
            "The parameters of the tool, each with the place in the chain's input that it fills. Inputs that are not "
            "named here keep their own names.",
            {},
            example='{ number = "week" }',
        ),
        Key(
            "form",
            choice("tool", "specification"),
            "One tool that runs the steps in a single call, or a specification that the agent follows: a call returns "
            "the steps, the agent calls the tools itself, and calls that are not the next step are refused.",
            "tool",
        ),
        Key("category", TEXT, "What it is about, in one word."),
        Key("origin", PATH, "The flow that it was made of, which `pegboard chain export` gives back while it holds."),
    ),
    named=True,
)

SCATTER = Table(
    "scatter",
    "Several tools asked at once, their answers merged into one list; late and failed ones degrade the answer.",
    (
        Key(
            "sources",
            OBJECT,
            "The tools by source: a tool's name, or `tool`, `args` (over `input`), `records` (a template over "
            "`result`), `fields` (expressions over `record`).",
            required=True,
            example='{ crm = "crm.search", hr = { tool = "hr.find", records = "${result.people}" } }',
        ),
        Key("description", TEXT, "What it finds out, in the words that a model looks for.", ""),
        Key("merge", choice("union", "key", "rank"), "All records once, one record per key, or best first.", "union"),
        Key("by", TEXTS, "The fields that tell that two records are the same.", [], example='"email"'),
        Key("ignore_case", FLAG, "Whether texts in them match whatever their case.", False),
        Key("limit", whole(1), "How many records are kept."),
        Key("timeout", SECONDS, "Seconds after which a source counts as late.", 10),
        Key("quorum", whole(1), "How many sources must answer.", 1),
        Key("input", OBJECT, "Its arguments, as of a bundle.", {}),
        Key("category", TEXT, "What it is about, in one word."),
    ),
    named=True,
)

DEPRECATED = Table(
    "deprecated",
    'A tool on its way out, also a foreign one: `[deprecated."mail.send_email"]`. Callers are told what to call '
    "instead, in its description and in every result; after the sunset in a failure. With `args` the old name works "
    "over its successor, even where no source offers it any more.",
    (
        Key("successor", TEXT, "The tool to call instead.", example='"mail.send_email_v2"'),
        Key("note", TEXT, "How to migrate, for whoever still calls it.", "", example='"Recipients are a list now."'),
        Key("sunset", DAY, "The last day on which it answers.", example="2027-01-31"),
        Key(
            "args",
            OBJECT,
            "The successor's arguments, over `input`: the old name then works over the successor.",
            {},
            example='{ recipients = ["${input.to}"], subject = "${input.subject}" }',
        ),
        Key("value", ANY, "What the old name answers, over `result` and `input`; the successor's answer by default."),
        Key("input", OBJECT, "Its arguments, as of a bundle, where no source offers it any more.", {}),
        Key("description", TEXT, "What it does, where no source offers it any more.", ""),
    ),
    named=True,
)

HINT = Table(
    "hint",
    "What the description of a tool should have said, added from outside: what to call first, then or instead. Shown "
    'in the description, and again in the tool\'s errors. `[hint."crm.get_user"]`.',
    (
        Key("note", TEXT, "A sentence that is added to the description.", ""),
        Key(
            "first",
            ROWS,
            "Tools to call before: `tool`, `when` in words, and the `parameter` that it gives. A derived hint is "
            "accepted by writing it here.",
            [],
            example='[{ tool = "crm.find_user", when = "you only have an email", parameter = "user_id" }]',
        ),
        Key("then", ROWS, "Tools to call after, likewise.", []),
        Key("instead", ROWS, "Tools to call in its place, likewise.", []),
        Key("refuse", TEXTS, "Tools that are not to be derived as what to call before.", []),
    ),
    named=True,
)
