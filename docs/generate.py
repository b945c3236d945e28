"""Writes docs/reference from the code: config keys, command line, failure codes. `--check` only compares."""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

from pegboard.check.rule import Rule, summary
from pegboard.check.rules import RULES, THEMES
from pegboard.cli.app import build
from pegboard.cli.overview import shortcut
from pegboard.config.key import Key, Table
from pegboard.config.shaping import SHAPE
from pegboard.config.tables import SOURCE, SOURCE_KINDS, TABLES
from pegboard.config.template import to_toml
from pegboard.core import FailureCode

FOLDER = Path(__file__).parent / "reference"
NOTICE = "<!-- Written by docs/generate.py (make docs); do not edit. -->\n"


def config_page() -> str:
    """Every table and key of `pegboard.toml`."""
    parts = [
        f"{NOTICE}# pegboard.toml",
        "Paths are relative to the file. Texts marked *with references* may hold `${env:NAME}`, `${file:PATH}` and "
        "`${path:PATH}` ([secrets](../howto/secrets.md)). Selectors are explained [below](#selectors).",
    ]
    for table in TABLES:
        parts += _table(table)
        if table is SOURCE:
            for kind in SOURCE_KINDS:
                parts += [f"### Sources of kind `{kind.name}`", "", _keys((kind.key, *kind.keys))]
            parts += [f"### [{SHAPE.name}]", SHAPE.doc, _keys(SHAPE.keys)]
    return "\n\n".join([*parts, _selectors()]) + "\n"


def failures_page() -> str:
    """Every failure code."""
    meanings = _member_docs(FailureCode)
    rows = [f"| `{code.value}` | {meanings[code.name]} |" for code in FailureCode]
    return "\n".join(
        [
            f"{NOTICE}# Failure codes",
            "",
            "A call that fails comes back with one of these, a message, where it is wrong, and the next step. Over MCP "
            "it is an `isError` result; the same as data stands in its `_meta` under `pegboard/failure`.",
            "",
            "| code | means |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def cli_page() -> str:
    """Every verb with its options."""
    app = build()
    verbs = [_verb(app[name], f"pegboard {name}") for name in app if not name.startswith("-")]
    overview = f"```text\n{shortcut(['--help'])}\n```"
    return "\n\n".join([f"{NOTICE}# Command line", overview, *verbs]) + "\n"


def rules_page() -> str:
    """Every rule of `pegboard check`."""
    parts = [
        f"{NOTICE}# Rules of pegboard check",
        "Each has a code, whose first digit says the theme, and a severity: an error ends the check with exit code 1. "
        "`pegboard check --explain CODE` shows one in the terminal. *Fixable*: `--fix` can write an override into the "
        "config ([how to check tools](../howto/check-tools.md)).",
    ]
    for prefix, theme in THEMES.items():
        rules = [rule for rule in RULES if rule.code.startswith(prefix)]
        rows = [
            f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.severity} | {summary(rule)} |" for rule in rules
        ]
        parts += [f"## {prefix}: {theme}", "\n".join(["| code | severity | reports |", "|---|---|---|", *rows])]
        parts += [_rule(rule) for rule in rules]
    return "\n\n".join(parts) + "\n"


def _rule(rule: Rule) -> str:
    told = rule.explanation
    fixable = " Fixable." if rule.fixable else ""
    return (
        f"### {rule.code} {rule.name}\n\n{summary(rule)} Severity: {rule.severity}.{fixable}\n\n{told.why}\n\n"
        f"Bad:\n\n```text\n{told.bad}\n```\n\nGood:\n\n```text\n{told.good}\n```\n\n{told.remedy}"
    )


PAGES = {"rules.md": rules_page, "config.md": config_page, "failures.md": failures_page, "cli.md": cli_page}


def _table(table: Table) -> Iterator[str]:
    yield f"## [{table.name}.NAME]" if table.named else f"## [{table.name}]"
    yield table.doc
    yield _keys(table.keys)


def _keys(keys: tuple[Key, ...]) -> str:
    rows = ["| key | takes | default | |", "|---|---|---|---|"]
    for key in keys:
        default = "" if key.default is None else f"`{to_toml(key.default)}`"
        rows.append(f"| `{key.name}` | {key.type.name} | {default} | {key.doc} |")
    return "\n".join(rows)


def _selectors() -> str:
    from pegboard.core import selector

    grammar = inspect.getdoc(selector) or ""
    head, _, rest = grammar.partition("\n\n")
    lines, _, tail = rest.partition("\n\n")
    shown = "\n".join(line.removeprefix("    ") for line in lines.splitlines())
    return f"## Selectors\n\n{head}\n\n```text\n{shown}\n```\n\n{tail}"


def _member_docs(enum: Any) -> dict[str, str]:
    body = ast.parse(inspect.getsource(enum)).body[0]
    assert isinstance(body, ast.ClassDef)
    pairs = zip(body.body, body.body[1:], strict=False)
    return {
        node.targets[0].id: after.value.value
        for node, after in pairs
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    }


def _verb(app: Any, title: str) -> str:
    names = [name for name in app if not name.startswith("-")]
    if names:
        own = [_summary(app), _options(app)] if app.default_command else [str(app.help)]
        inner = [_verb(app[name], f"{title} {name}") for name in names]
        return "\n\n".join([f"## {title}", *own, *inner])
    level = "##" if title.count(" ") == 1 else "###"
    return f"{level} {title}\n\n{_summary(app)}\n\n{_options(app)}"


def _summary(app: Any) -> str:
    return (inspect.getdoc(app.default_command) or "").partition("\n\nParameters\n")[0]


def _options(app: Any) -> str:
    rows = ["| option | takes | default | |", "|---|---|---|---|"]
    for argument in app.assemble_argument_collection(parse_docstring=True):
        if argument.show:
            rows.append(_option(argument))
    return "\n".join(rows)


def _option(argument: Any) -> str:
    parameter = argument.field_info
    keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
    name = argument.names[0] if keyword else argument.names[0].lstrip("-").upper()
    default = "" if parameter.default in (inspect.Parameter.empty, None, (), False) else f"`{_text(parameter.default)}`"
    return f"| `{name}` | {_type(argument)} | {default} | {argument.parameter.help or ''} |"


def _type(argument: Any) -> str:
    choices = argument.get_choices()
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    known = {bool: "flag", int: "number", float: "number", str: "text", Path: "path"}
    hint = argument.hint
    if get_origin(hint) is UnionType:
        hint = next(option for option in get_args(hint) if option is not type(None))
    return known.get(hint, "texts")


def _text(default: object) -> str:
    return default if isinstance(default, str) else json.dumps(default, default=str).strip('"')


def main() -> None:
    """Write the pages, or with `--check` name those that are out of date."""
    stale = [name for name, page in PAGES.items() if not _is_fresh(name, page())]
    if "--check" in sys.argv:
        sys.exit(f"Out of date (make docs): {', '.join(stale)}" if stale else 0)
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote {name}")


def _is_fresh(name: str, text: str) -> bool:
    path = FOLDER / name
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
