"""The table `[agent.NAME]`: a model, what it is told, which tools it has and how far it may go."""

from pegboard.config.key import Key, Table
from pegboard.config.subagents import KEYS, SUBAGENTS
from pegboard.config.types import FLAG, NUMBER, PATH, REFERENCE, SECONDS, SELECTORS, TEXT, choice, whole
from pegboard.core.session import AGENT_TOOL_CALLS

AGENT = Table(
    "agent",
    'An agent that Pegboard runs: `pegboard agent run NAME "task"`. Needs the extra `agent`.',
    (
        Key(
            "model",
            TEXT,
            "The model: `provider:name` with a provider that pydantic-ai knows, or the bare name at `base_url` (behind "
            "`openai-responses:` where that speaks the Responses API alone).",
            required=True,
            example='"openai:gpt-5"',
        ),
        Key(
            "base_url",
            REFERENCE,
            "An OpenAI-compatible endpoint, up to and without `/chat/completions`.",
            "",
            example='"http://127.0.0.1:11434/v1"',
        ),
        Key("key", REFERENCE, "The secret for `base_url`, if it wants one.", "", example='"${env:MODEL_KEY}"'),
        Key("description", TEXT, "What it is for, in a sentence."),
        Key("instructions", TEXT, "What the model is told first.", ""),
        Key(
            "tools",
            SELECTORS,
            "The tools that it has; all of the board's where it is not written. From `threshold` tools on it finds "
            "them by search, as any model does.",
            example='["github.*", "effects:read_only"]',
        ),
        Key(
            "max_tool_calls",
            whole(1),
            "How many tool calls a run may make; a batch is one.",
            AGENT_TOOL_CALLS,
        ),
        Key("max_turns", whole(1, 100), "How many answers of the model one run may take.", 30),
        Key(
            "search",
            choice("auto", "off"),
            "Whether it finds tools by search as the board does, or gets every tool that it has from the start, as an "
            "agent of one turn does; more than `max_direct` of the board are an error then.",
            "auto",
        ),
        Key("max_cost", NUMBER, "What one run may cost, in dollars, where the model's prices are known."),
        Key("timeout", SECONDS, "How long one run may take.", 600),
        Key(
            "offer",
            FLAG,
            "Whether it is a tool of the board as well, `agents.NAME`: it takes a task and gives its answer.",
            False,
        ),
        Key("origin", PATH, "The agent of Runtype that it was made of, which `pegboard agent export` starts from."),
        Key(
            "subagents",
            SUBAGENTS,
            "What it may hand on with the tool `spawn_subagent`, which it has only where this is written. Keys: "
            + ", ".join(f"`{key.name}`" for key in KEYS)
            + " ([agents](../howto/agents.md)).",
            example='{ agents = ["reader"], max_spawns = 3 }',
        ),
    ),
    named=True,
    hints={
        "prompt": "Write instructions.",
        "system_prompt": "Write instructions.",
        "budget": "Write max_tool_calls.",
        "turns": "Write max_turns.",
        "api_key": 'Write key = "${env:NAME}".',
        "url": "Write base_url.",
    },
)
