"""A new tool as text: a module with one `@tool` function that works, and its test. Both pass `pegboard check`."""

from dataclasses import dataclass
from textwrap import indent

from pegboard.core import Effects


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """What a scaffold is made from.

    Parameters:
        name: the function's, the module's and the tool's name, such as `get_user`.
        verb: what it does, such as `get`.
        noun: to what, as in the name: `user`, or `files` where it takes many.
        many: whether it takes a list.
        effects: what a call does to the world.
        preview: whether it can show beforehand what it would do.
    """

    name: str
    verb: str
    noun: str
    many: bool
    effects: Effects
    preview: bool

    @property
    def parameter(self) -> str:
        """The one argument, which names the item or items."""
        one = f"{self.noun[:-3]}y" if self.many and self.noun.endswith("ies") else self.noun.removesuffix("s")
        return f"{one}_names" if self.many else f"{self.noun}_name"

    @property
    def adds(self) -> bool:
        """Whether it makes something that was not there."""
        return self.effects is Effects.ADDITIVE


def module(tool: Scaffold) -> str:
    """The module with the tool."""
    head = f'''\
"""The tool {tool.name}."""

from dataclasses import dataclass

from pegboard import Effects, tool

{_kept(tool)} = {{"first": "a value", "second": "another value"}}
"""Stands in for what the tool works on: put your own service, file or database here."""


@dataclass
class Outcome:
    """What came of a call: of each name its value, and the names that were left out."""

    done: dict[str, str]
    left_out: list[str]


'''
    return head + _function(tool) + (_preview(tool) if tool.preview else "")


def _function(tool: Scaffold) -> str:
    thing = tool.noun.replace("_", " ")
    example = "third" if tool.adds else "first"
    argument = f'["{example}"]' if tool.many else f'"{example}"'
    each = f"each of the {thing}" if tool.many else f"the {thing}"
    names = "names" if tool.many else "name"
    what = f"the {thing}" if tool.many else f"one {thing}"
    left = "names that are taken" if tool.adds else "names that nobody knows"
    return f'''\
@tool(
    effects=Effects.{tool.effects.name},
    category="{tool.noun}",
    auth="none",
    examples=[{{"{tool.parameter}": {argument}}}],
)
async def {tool.name}({tool.parameter}: {_type(tool)}) -> Outcome:
    """{tool.verb.capitalize()} {what} by name. Use it when you know the {names}.

    Returns {each} with its value under `done`, and {left} under `left_out`.

    Args:
        {tool.parameter}: The {names} of the {thing}, spelled as where {"they are" if tool.many else "it is"} kept.
    """
{_plan(tool)}{indent(_change(tool), "    ")}    return Outcome(done, left_out)
'''


def _kept(tool: Scaffold) -> str:
    return tool.noun.upper()


def _type(tool: Scaffold) -> str:
    return "list[str]" if tool.many else "str"


def _plan(tool: Scaffold) -> str:
    """The lines that say what would be done, and what would be left out."""
    names = tool.parameter if tool.many else f"[{tool.parameter}]"
    value = '"new"' if tool.adds else f"{_kept(tool)}[name]"
    fits, fails = ("not in", "in") if tool.adds else ("in", "not in")
    return (
        f"    done = {{name: {value} for name in {names} if name {fits} {_kept(tool)}}}\n"
        f"    left_out = [name for name in {names} if name {fails} {_kept(tool)}]\n"
    )


def _change(tool: Scaffold) -> str:
    """The lines that do it."""
    match tool.effects:
        case Effects.DESTRUCTIVE:
            return f"for name in done:\n    del {_kept(tool)}[name]\n"
        case Effects.ADDITIVE | Effects.IDEMPOTENT:
            return f"{_kept(tool)}.update(done)\n"
        case _:
            return ""


def _preview(tool: Scaffold) -> str:
    return f"""

@{tool.name}.preview
async def _({tool.parameter}: {_type(tool)}) -> Outcome:
    # The same answer as the call itself gives, and nothing changes.
{_plan(tool)}    return Outcome(done, left_out)
"""


def test_module(tool: Scaffold) -> str:
    """The module with the tool's test."""
    fits, fails = ("third", "first") if tool.adds else ("first", "nobody")
    argument = f'["{fits}", "{fails}"]' if tool.many else f'"{fits}"'
    left_out = f'["{fails}"]' if tool.many else "[]"
    mode = "from pegboard import Mode\n" if tool.preview else ""
    text = f'''\
"""The tool {tool.name}: what it answers, and that `pegboard check` has nothing to say of it."""

import asyncio

{mode}from pegboard.check import check

from {tool.name} import {tool.name}


def test_it_says_what_came_of_each_name() -> None:
    outcome = asyncio.run({tool.name}({argument}))
    assert (list(outcome.done), outcome.left_out) == (["{fits}"], {left_out})


def test_a_linter_has_nothing_to_say_of_it() -> None:
    assert check([{tool.name}.spec]) == ()
'''
    return text + (_preview_test(tool) if tool.preview else "")


def _preview_test(tool: Scaffold) -> str:
    name = "fourth" if tool.adds else "second"
    argument = f'["{name}"]' if tool.many else f'"{name}"'
    return f'''

def test_a_preview_shows_what_the_call_then_does_and_changes_nothing() -> None:
    shown = asyncio.run({tool.name}.using(Mode.PREVIEW)({argument}))
    assert list(shown.done) == ["{name}"]
    assert asyncio.run({tool.name}.using(Mode.PREVIEW)({argument})) == shown
    assert asyncio.run({tool.name}({argument})) == shown
'''
