"""What every test may use."""

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code: examples are never judged by their time.
settings.register_profile("pegboard", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pegboard")


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests (`pytest.mark.anyio`) run on asyncio, as the board does."""
    return "asyncio"
