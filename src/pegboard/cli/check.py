"""`pegboard check`: what a model would choose or call worse than it could, and how to put it right."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from pegboard.cli.exit import Exit
from pegboard.cli.options import DEFAULT_CONFIG, AsJson, ConfigFile
from pegboard.cli.output import clean, counted, data, document, say, table
from pegboard.errors import ConfigError, PegboardError

Codes = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)]
"""Codes of rules, or beginnings of codes; commas separate as well."""


Names = Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)]
"""Names, separated by commas or spaces."""


async def check(
    *target: str,
    config: ConfigFile = DEFAULT_CONFIG,
    select: Codes = (),
    ignore: Codes = (),
    explain: str | None = None,
    fix: Annotated[bool, Parameter(negative="")] = False,
    format: Literal["text", "json", "github", "sarif"] = "text",
    statistics: Annotated[bool, Parameter(negative="")] = False,
    lock: Path | None = None,
    write_lock: Annotated[bool, Parameter(negative="")] = False,
    own: Annotated[bool, Parameter(negative="")] = False,
    cap: Literal["agent-plugin", "openai-legacy", "runtype"] | None = None,
    to: Names = (),
    fail_on: Literal["error", "warning", "info"] = "error",
    env: tuple[str, ...] = (),
    header: tuple[str, ...] = (),
    timeout: float = 30,
    json: AsJson = False,
) -> int:
    """Judge a set of tools as a model meets it: names, schemas, descriptions, safety, composition, drift.

    Ends with exit code 1 if there is an error among the findings (or whatever --fail-on says).

    Parameters
    ----------
    target
        A config, a file of tools (JSON, JSON Lines), an OpenAPI description, the address of an MCP server, or a program
        with its arguments (after --). Without it, the board of --config.
    select
        Only rules whose codes begin so, such as PB1 or PB401; commas separate them.
    ignore
        Not these rules; the longer of two codes that fit wins.
    explain
        Explain a rule: what it reports, why, an example of each side, and how to fix it; `all` lists the rules.
    fix
        Write what a machine can put right as overrides into the config; no server is changed.
    format
        How findings are printed.
    statistics
        Print how many findings each rule has.
    lock
        Compare with this lock file; by default with `pegboard.lock` beside the config, where there is one.
    write_lock
        Write the lock file: what is there now has been seen.
    own
        Judge the tools as your own, as strictly as those of a Python module.
    cap
        Whose cap on descriptions holds.
    to
        The dialects whose losses are told.
    fail_on
        The mildest severity that ends with exit code 1.
    env
        A variable for the program: NAME=VALUE, or NAME to pass on the one that is set here.
    header
        An HTTP header for an address: "NAME: VALUE".
    timeout
        Seconds until a server must have answered.
    """
    if explain is not None:
        return _explain(explain, as_json=json)
    from pegboard.check.finding import Severity
    from pegboard.check.run import Chosen, run
    from pegboard.cli.subject import Asked, subject

    found = await subject(Asked(target, config, env, header, timeout))
    table_ = dict(found.config.tables["check"]) if found.config is not None else {}
    lock_file = _lock_file(lock, found.config, table_, required=lock is not None and not write_lock)
    if write_lock:
        return _write_lock(lock_file, found.tools.specs, as_json=json)
    chosen = Chosen(
        _split(select) or tuple(table_.get("select", ())),
        (*table_.get("ignore", ()), *_split(ignore)),
        table_.get("tools", {}),
    )
    tools = replace(
        found.tools,
        own=_every if own else None,
        cap=_cap(cap or table_.get("cap")),
        targets=_targets(_split(to) or tuple(table_.get("targets", ("openai-responses", "anthropic", "gemini")))),
        lock=_read(lock_file),
    )
    findings = run(tools, chosen)
    if fix:
        findings = _fix(found.config, findings, as_json=json or format != "text")
    _print(findings, chosen.rules, found, "json" if json else format, in_numbers=statistics)
    worst = Severity(fail_on).rank
    return Exit.FINDING if any(finding.severity.rank <= worst for finding in findings) else Exit.OK


def _every(spec: Any) -> bool:
    return True


def _split(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(code.strip() for text in codes for code in text.split(",") if code.strip())


def _cap(name: str | None) -> tuple[int, str] | None:
    from pegboard.surface.describing import CAPS

    return (CAPS[name].limit, CAPS[name].unit) if name else None


def _targets(names: tuple[str, ...]) -> tuple[str, ...]:
    from pegboard.schema.lower import dialect

    return tuple(dialect(name).name for name in names)


def _lock_file(given: Path | None, config: Any, table_: dict[str, Any], *, required: bool) -> Path | None:
    """The lock file: the one that is named, else the config's, else the one beside the config."""
    from pegboard.check.lock import FILE_NAME

    if given is not None:
        if required and not given.exists():
            raise ConfigError("There is no such lock file.", where=str(given), next_step="Write it with --write-lock.")
        return given
    if table_.get("lock"):
        return Path(table_["lock"])
    return config.folder / FILE_NAME if config is not None else None


def _read(path: Path | None) -> Any:
    from pegboard.check.lock import read_lock

    return read_lock(path) if path is not None and path.exists() else None


def _write_lock(path: Path | None, specs: Sequence[Any], *, as_json: bool) -> int:
    from pegboard.check.lock import FILE_NAME, lock_text

    path = path or Path(FILE_NAME)
    try:
        path.write_text(lock_text(specs), encoding="utf-8")
    except OSError as problem:
        raise PegboardError(f"It cannot be written: {problem.strerror}.", where=str(path)) from problem
    if as_json:
        document({"lock": str(path), "tools": len(specs)})
    else:
        say(f"{path} holds {counted(len(specs), 'tool')} now.")
    return Exit.OK


def _fix(config: Any, findings: Sequence[Any], *, as_json: bool) -> tuple[Any, ...]:
    """Write the fixes into the config.

    Returns:
        The findings that are left.
    """
    from pegboard.config.amend import amended

    if config is None or config.path is None:
        raise ConfigError(
            "There is no config to write to: a foreign server is never changed.",
            next_step="Put the tools on a board, and run `pegboard check --fix --config pegboard.toml`.",
        )
    tables: dict[tuple[str, str], dict[str, Any]] = {}
    for finding in findings:
        if finding.fix is not None:
            values = tables.setdefault((finding.fix.table, finding.fix.tool), {})
            values |= {key: value for key, value in finding.fix.values.items() if key not in values}
    file = config.path if config.path.is_file() else config.path / "pegboard.toml"
    text, added = amended(file.read_bytes().decode("utf-8"), tables, config.folder)
    if added:
        file.write_bytes(text.encode("utf-8"))
    for line in added if not as_json else ():
        say(f"wrote {clean(line)}")
    return tuple(finding for finding in findings if finding.fix is None)


def _print(findings: Sequence[Any], rules: Sequence[Any], found: Any, format: str, *, in_numbers: bool) -> None:
    from importlib.metadata import version

    from pegboard.check import statistics
    from pegboard.check.report import github, lines, sarif, total

    counts = statistics(findings)
    if format == "json":
        rows = [finding.to_json() for finding in findings]
        document({"target": found.title, "tools": len(found.tools.specs), "findings": rows, "statistics": counts})
    elif format == "sarif":
        document(sarif(findings, rules, found.locate, version("pegboard")))
    elif format == "github":
        for line in github(findings, found.locate):
            data(clean(line))
    elif in_numbers:
        names = {rule.code: rule for rule in rules}
        table(("code", "findings", "rule"), [(code, count, names[code].name) for code, count in counts.items()])
    else:
        for line in lines(findings):
            data(clean(line))
    say(f"{counted(len(found.tools.specs), 'tool')} of {clean(found.title)}. {total(findings)}")


def _explain(code: str, *, as_json: bool) -> int:
    from pegboard.check.explain import explained, listed, page
    from pegboard.check.run import rules_of

    rules = rules_of(code)
    if as_json:
        document([explained(rule) for rule in rules])
    elif len(rules) > 1:
        table(("code", "severity", "rule", "what it reports"), listed(rules))
    for rule in rules if not as_json and len(rules) == 1 else ():
        data(page(rule))
    return Exit.OK
