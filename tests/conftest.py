"""What every test may use."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests (`pytest.mark.anyio`) run on asyncio, as the board does."""
    return "asyncio"
