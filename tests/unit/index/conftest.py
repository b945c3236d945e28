"""Small catalogs for the search tests."""

from collections.abc import Callable
from typing import Any

import pytest

from pegboard import index
from pegboard.core import ToolName, ToolSpec
from pegboard.index.engine import ToolIndex


def tool(name: str, description: str = "", **more: Any) -> ToolSpec:
    """A spec; what stands before the name's first dot is its namespace."""
    return ToolSpec(name=ToolName.parse(name), description=description, **more)


@pytest.fixture
def index_of() -> Callable[..., ToolIndex]:
    """Makes the default engine over some tools."""

    def make(*specs: ToolSpec) -> ToolIndex:
        engine = index.default()
        engine.update(put=specs)
        assert isinstance(engine, ToolIndex)
        return engine

    return make
