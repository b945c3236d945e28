"""`get_platform_documentation`: how this board, its tools and its agents work, by topic or by a question."""

from collections.abc import Sequence

import anyio.to_thread

from pegboard.core import Call, Failure, FailureCode, Result, ToolSpec
from pegboard.discovery import manual
from pegboard.discovery.answers import answer, one_line
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk
from pegboard.errors import nearest

BUILTIN_TOOLS = "builtin-tools"

SPEC = meta_spec(
    "get_platform_documentation",
    "Read how this platform works: built-in tools, designing agents, subagents and tools, approvals, limits. Give a"
    " topic, or a query that finds one; without either it lists the topics.",
    {
        "topic": {
            "type": "string",
            "description": "Such as builtin-tools, agent-design, subagent-delegation or tool-design.",
        },
        "query": {"type": "string", "description": "A question, where you do not know the topic."},
    },
)


async def get_platform_documentation(desk: Desk, call: Call) -> Result:
    """A topic, what meets a question, or the list of topics."""
    topic, query = (str(call.arguments.get(key) or "").strip() for key in ("topic", "query"))
    texts = await anyio.to_thread.run_sync(manual.topics)
    texts = {BUILTIN_TOOLS: _builtin_tools(desk, call), **texts}
    skills = await anyio.to_thread.run_sync(desk.openings.skills)
    texts |= {name: text for name, text in skills.items() if name not in texts}
    if topic:
        return _topic(texts, topic)
    return _found(query, manual.search(texts, query)) if query else _listed(list(texts))


def _topic(texts: dict[str, str], topic: str) -> Result:
    if topic in texts:
        return answer({"topic": topic, "text": texts[topic]}, texts[topic])
    near = nearest(topic, texts) or [BUILTIN_TOOLS, *manual.TOPICS]
    return Result(
        failure=Failure(
            FailureCode.INVALID_ARGUMENTS,
            f"There is no topic {topic!r}.",
            "/topic",
            next_step=f"Take {' or '.join(near)}, or ask with query.",
        )
    )


def _found(query: str, found: Sequence[manual.Section]) -> Result:
    rows = [{"topic": one.topic, "heading": one.heading, "text": one.text} for one in found]
    text = "\n\n".join(f"## {one.heading} (topic {one.topic})\n\n{one.text}" for one in found)
    return answer({"query": query, "sections": rows}, text or f"Nothing speaks of {query!r}. Leave it out for topics.")


def _listed(names: list[str]) -> Result:
    return answer({"topics": names}, f"Topics: {', '.join(names)}.")


def _builtin_tools(desk: Desk, call: Call) -> str:
    """The catalog of the board's own tools in this session's list, made of what is there."""
    own = desk.view(call.session).meta
    rows = [f"# {BUILTIN_TOOLS}", "The tools that the board itself brings, besides those of its sources."]
    return "\n\n".join([*rows, *map(_entry, own)])


def _entry(spec: ToolSpec) -> str:
    required = spec.input.get("required", ())
    named = "\n".join(
        f"- `{name}`{'' if name in required else ' (optional)'}: {one_line(str(schema.get('description', '')))}"
        for name, schema in spec.properties.items()
    )
    return f"## {spec.name.name}\n\n{spec.description}\n\n{named}".rstrip()
