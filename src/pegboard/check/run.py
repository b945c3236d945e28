"""Runs the rules over a set of tools."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pegboard.check.finding import Finding
from pegboard.check.lock import read_lock
from pegboard.check.rule import Rule
from pegboard.check.rules import RULES
from pegboard.check.toolset import Toolset
from pegboard.core import Selection, ToolSpec
from pegboard.errors import DefinitionError, nearest

_CODES = tuple(rule.code for rule in RULES)


@dataclass(frozen=True)
class Chosen:
    """Which rules speak, and of which tools.

    Parameters:
        select: codes or beginnings of codes; empty for all.
        ignore: codes or beginnings of codes; the longer of two that fit wins, and `ignore` wins of two alike.
        tools: by selector, the codes that say nothing of the tools it picks.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    tools: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def __post_init__(self) -> None:
        for code in (*self.select, *self.ignore, *(code for codes in self.tools.values() for code in codes)):
            if not any(known.startswith(code.upper()) for known in _CODES):
                raise _unknown(code)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that speak."""
        selected = (rule for rule in RULES if not self.select or _longest(self.select, rule.code) > 0)
        return tuple(rule for rule in selected if not self._ignores(rule.code))

    def _ignores(self, code: str) -> bool:
        ignored = _longest(self.ignore, code)
        return ignored > 0 and ignored >= _longest(self.select, code)

    def silencer(self) -> Callable[[Finding, Mapping[str, ToolSpec]], bool]:
        """Says whether a finding is ignored for its tool."""
        terms = [(Selection.parse([selector]), tuple(codes)) for selector, codes in self.tools.items()]

        def silent(finding: Finding, specs: Mapping[str, ToolSpec]) -> bool:
            spec = specs.get(finding.tool)
            return spec is not None and any(
                _longest(codes, finding.code) > 0 and spec in picked for picked, codes in terms
            )

        return silent


def check(
    tools: Iterable[ToolSpec] | Toolset,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    ignored: Mapping[str, Sequence[str]] | None = None,
    against: str | Path | None = None,
) -> tuple[Finding, ...]:
    """What the rules have to say of tools.

    Parameters:
        tools: the specs (`catalog.specs`), or a `Toolset` with what is known around them.
        select: only rules whose codes begin so; all where none is given.
        ignore: not these.
        ignored: by selector, codes that say nothing of the tools it picks.
        against: a lock file; what changed since is told (`PB6`).

    Returns:
        Findings, by severity, code and tool; the same for the same tools.

    Raises:
        DefinitionError: a code is no rule's, or a selector cannot be read.
        PegboardError: the lock file cannot be read.
    """
    among = tools if isinstance(tools, Toolset) else Toolset(tuple(tools))
    if against is not None:
        among = replace(among, lock=read_lock(Path(against)))
    return run(among, Chosen(tuple(select), tuple(ignore), ignored or {}))


def run(among: Toolset, chosen: Chosen) -> tuple[Finding, ...]:
    """What the chosen rules have to say of a set of tools, by severity, code and tool."""
    silent = chosen.silencer()
    specs = {str(spec.name): spec for spec in among.specs}
    found = [finding for finding in _found(chosen.rules, among) if not silent(finding, specs)]
    return tuple(sorted(found, key=_order))


def rules_of(code: str) -> tuple[Rule, ...]:
    """The rules of a code, of a beginning of codes, or of a name; every rule for `all`.

    Raises:
        DefinitionError: there is none.
    """
    wanted = code.strip()
    found = tuple(rule for rule in RULES if rule.code.startswith(wanted.upper()) or rule.name == wanted.casefold())
    if not found and wanted.casefold() != "all":
        raise _unknown(wanted)
    return found or RULES


def _unknown(code: str) -> DefinitionError:
    near = nearest(code.upper(), _CODES, limit=1)
    step = f"Did you mean {near[0]}?" if near else "`pegboard check --explain all` lists them."
    return DefinitionError(f"There is no rule {code!r}.", next_step=step)


def _found(rules: Iterable[Rule], among: Toolset) -> Iterator[Finding]:
    for rule in rules:
        for spec in among.specs:
            yield from rule.tool(spec, among)
        yield from rule.tools(among)


def _order(finding: Finding) -> tuple[int, str, str, str, str]:
    return finding.severity.rank, finding.code, finding.tool, finding.pointer, finding.message


def _longest(prefixes: Sequence[str], code: str) -> int:
    """The length of the longest of these beginnings of a code; 0 where none fits."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix.upper())), default=0)
