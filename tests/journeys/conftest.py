"""Gateways for the journeys, stopped when their tests are done."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
from journey_kit import Gateway, MakeGateway, Visitor, board, workshop


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """One loop for all journeys, so that a client may live longer than a test."""
    return "asyncio"


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A board of two workshops: the first one's tools are in the list, the second one's are found by search."""
    folder = tmp_path_factory.mktemp("yard")
    env = {"env": f'{{ WORKSHOP_DIARY = "{folder / "diary"}" }}'}
    board(folder, {"one": workshop(**env), "two": workshop(**env)}, 'always = ["one.*"]')
    yield folder


@pytest.fixture(scope="module")
def http_yard(yard: Path) -> Iterator[Gateway]:
    """The gateway that all clients over HTTP share."""
    gateway = Gateway(yard, "http")
    yield gateway
    gateway.close()


@pytest.fixture(scope="module", params=["stdio-legacy", "stdio-auto", "http-legacy", "http-auto"])
async def visitor(request: pytest.FixtureRequest, yard: Path, http_yard: Gateway) -> AsyncIterator[Visitor]:
    """A client of the yard over each way in."""
    transport, mode = request.param.split("-")
    gateway = http_yard if transport == "http" else Gateway(yard, "stdio")
    visitor = Visitor(mode, yard)
    async with gateway.client(mode, visitor) as client:
        visitor.client = client
        yield visitor


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[MakeGateway]:
    """Makes gateways on boards of their own."""
    made: list[Gateway] = []

    def make(transport: str, sources: Mapping[str, str], settings: str = "") -> Gateway:
        made.append(Gateway(board(tmp_path, sources, settings), transport))
        return made[-1]

    yield make
    for one in made:
        one.close()
