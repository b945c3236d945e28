"""Templates for bundles written in Python: the same `${...}` that steps in a config have."""

from collections.abc import Mapping
from typing import Any

from pegboard.schema.template import Template
from pegboard.schema.types import Json, as_object


def fill(template: Json, scope: Mapping[str, Json]) -> Any:
    """A value with each `${...}` in it replaced.

    Parameters:
        template: texts at any depth; a text that is one `${...}` becomes the value itself.
        scope: the values by name, such as `input` and the results of steps.

    Raises:
        DefinitionError: what a `${` holds is no expression.
        ExpressionError: a path leads nowhere.
    """
    return Template.parse(template).render(scope)


def arguments(template: Mapping[str, Json], scope: Mapping[str, Json]) -> dict[str, Any]:
    """As `fill`, for the arguments of a call: what comes to null is not given."""
    return {name: value for name, value in as_object(fill(dict(template), scope)).items() if value is not None}
