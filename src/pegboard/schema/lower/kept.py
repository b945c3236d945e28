"""Lowerings that were made before: a model's tools are shaped anew for every request, and rarely change."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache

from pegboard.schema.lower.run import Lowered, lower
from pegboard.schema.types import Json

KEPT = 16_384
"""How many lowerings are kept; one takes about 10 KB."""


@dataclass(frozen=True, slots=True)
class _Keyed:
    """A schema under the digest of its text, in which the order of keys counts: it is the order of the wire form."""

    digest: str
    schema: Json = field(compare=False)


def lower_once(schema: Json, to: str, *, budget: int | None = None) -> Lowered:
    """As `lower`, from what is kept where the same schema was lowered before.

    Parameters are those of `lower`; the schema must not be changed afterwards.
    """
    try:
        text = json.dumps(schema, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return lower(schema, to, budget=budget)
    return _lower(_Keyed(hashlib.sha256(text.encode()).hexdigest(), schema), to, budget)


@lru_cache(KEPT)
def _lower(keyed: _Keyed, to: str, budget: int | None) -> Lowered:
    return lower(keyed.schema, to, budget=budget)
