"""The rules, by theme."""

from pegboard.check.rule import Rule
from pegboard.check.rules.batches import BATCHES
from pegboard.check.rules.claims import CLAIMS
from pegboard.check.rules.composition import COMPOSITION
from pegboard.check.rules.consistency import CONSISTENCY
from pegboard.check.rules.descriptions import DESCRIPTIONS
from pegboard.check.rules.drift import DRIFT
from pegboard.check.rules.likeness import LIKENESS
from pegboard.check.rules.names import NAMES
from pegboard.check.rules.registry import REGISTRY
from pegboard.check.rules.safety import SAFETY
from pegboard.check.rules.schemas import SCHEMAS
from pegboard.check.rules.trust import TRUST
from pegboard.check.rules.values import VALUES

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (
            rule()
            for rule in (
                *NAMES,
                *SCHEMAS,
                *VALUES,
                *DESCRIPTIONS,
                *CLAIMS,
                *LIKENESS,
                *SAFETY,
                *TRUST,
                *COMPOSITION,
                *BATCHES,
                *CONSISTENCY,
                *REGISTRY,
                *DRIFT,
            )
        ),
        key=lambda rule: rule.code,
    )
)
"""Every rule, by code."""

THEMES = {
    "PB1": "Names",
    "PB2": "Schemas",
    "PB3": "Descriptions",
    "PB4": "Safety",
    "PB5": "Composition",
    "PB6": "Drift",
}
"""What the first digit of a code says."""
