"""PB5 of fields: the same thing under one name in every tool."""

from collections.abc import Iterator

from pegboard.catalog.synonyms import synonyms
from pegboard.check.finding import Finding, Severity
from pegboard.check.rule import Explanation, Rule
from pegboard.check.toolset import Toolset

_SHOWN = 4


class TwoNames(Rule):
    """Fields that mean the same in several tools and have different names."""

    code, name, severity = "PB512", "two-names-for-one-field", Severity.INFO
    explanation = Explanation(
        why="What one tool answers is what the next one takes. Where the same thing has two names a model guesses, and "
        "merges of several sources keep it apart.",
        bad='get_user answers {"mail": ...}, invite takes {"email": ...}',
        good='both say "email", as the canonical User does',
        remedy="Take one name. Foreign tools: `input` and `output` of [sources.NAME.tools.TOOL], or a map to a model.",
    )

    def tools(self, among: Toolset) -> Iterator[Finding]:
        """One finding for each group of names."""
        for found in synonyms(among.specs):
            best, others = found.names[0], ", ".join(found.names[1:])
            places = "; ".join(f"{field.tool}{field.place}" for field in found.fields[:_SHOWN])
            more = f" and {len(found.fields) - _SHOWN} more" if len(found.fields) > _SHOWN else ""
            yield self.finding(
                "",
                f"{best} and {others} mean the same ({found.reason}): {places}{more}.",
                others=found.tools,
                details={"names": list(found.names), "reason": found.reason},
            )


CONSISTENCY = (TwoNames,)
