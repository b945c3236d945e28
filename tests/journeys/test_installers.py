"""Real package managers, from a wheelhouse and from a registry on loopback: what goes wrong half-way leaves nothing."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from tiny_kit import PYPI, SERVER, board, sha256, wheel

from pegboard.board import Board
from pegboard.core import Discoverable, DiscoverableType
from pegboard.directory.state import FOLDER, StateFile
from pegboard.discovery.asking import Brought

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def quiet(_: str) -> None: ...


async def one(opened: Board, id: str = "weather") -> Discoverable:
    found = await opened.openings.supply.find(DiscoverableType.PLUGIN, id)
    assert found is not None, opened.warnings
    return found


async def bring(folder: Path) -> Brought:
    """Install the one discoverable of a board, and call its tool where it is there."""
    async with Board.open(folder) as opened:
        brought = await opened.openings.supply.bring(await one(opened), quiet)
        if brought.completed:
            result = await opened.call("weather.get_forecast", {"place": "Rome"})
            assert result.content[0]["text"].startswith("Sunny in Rome"), result
        else:
            assert [status.name for status in await opened.statuses()] == ["ops"]
        return brought


def nothing_left(folder: Path) -> bool:
    place = folder / ".pegboard" / FOLDER
    return not StateFile(folder / ".pegboard").read().sources and not (place.exists() and list(place.iterdir()))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (f'{PYPI}sha256 = "{"0" * 64}"\n', "hash"),
        ('pypi = "tiny-weather"\nversion = "9.9.9"\n', "9.9.9"),
        (f'{PYPI}program = "other"\n', "tiny-weather"),
        (f'{PYPI}env = {{ TINY_BROKEN = "1" }}\n', "told to break"),
    ],
)
async def test_what_goes_wrong_half_way_leaves_nothing(tmp_path: Path, entry: str, told: str) -> None:
    brought = await bring(board(tmp_path, entry))
    assert not brought.completed
    assert told in f"{brought.message} {brought.next_step}"
    assert brought.next_step
    assert nothing_left(tmp_path)


async def test_a_package_whose_own_need_is_missing_leaves_nothing(tmp_path: Path) -> None:
    folder = board(tmp_path, PYPI)
    wheel(tmp_path / "wheels", requires="not-in-the-wheelhouse")
    brought = await bring(folder)
    assert not brought.completed
    assert "not-in-the-wheelhouse" in (brought.message or "")
    assert nothing_left(tmp_path)


async def test_what_a_person_agreed_to_goes_to_its_end_although_the_caller_is_gone(tmp_path: Path) -> None:
    async with Board.open(board(tmp_path, PYPI)) as opened, opened.changes() as changes:
        offered = await one(opened)
        with anyio.CancelScope() as scope:

            async def leave(message: str) -> None:
                if message.startswith("installing"):
                    scope.cancel()

            await opened.openings.supply.bring(offered, leave)
        assert scope.cancelled_caught
        assert opened.openings.supply.bringing(offered.type, offered.id)
        with anyio.fail_after(60):
            await changes.receive()
        assert (await opened.call("weather.get_forecast", {"place": "Rome"})).ok


async def test_a_board_that_closes_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    begun = anyio.Event()

    async def tell(message: str) -> None:
        if message.startswith("installing"):
            begun.set()

    async with Board.open(board(tmp_path, PYPI)) as opened:
        offered = await one(opened)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(opened.openings.supply.bring, offered, tell)
            await begun.wait()
            tasks.cancel_scope.cancel()
    assert nothing_left(tmp_path)


async def test_what_a_killed_process_left_is_swept_and_a_pinned_package_installs(tmp_path: Path) -> None:
    entry = f'{PYPI}sha256 = "{sha256(wheel(tmp_path / "wheels"))}"\nenv = {{ TINY_SUFFIX = "!" }}\n'
    folder = board(tmp_path, entry)
    orphan = tmp_path / ".pegboard" / FOLDER / "orphan"
    (orphan / "bin").mkdir(parents=True)
    assert (await bring(folder)).completed
    assert not orphan.exists()


# npm


def tarball(version: str) -> bytes:
    """A package of npm whose program starts the same server by Python."""
    script = "#!/usr/bin/env node\nconst { spawn } = require('child_process');\n" + (
        f"spawn('python3', ['-c', {json.dumps(SERVER.replace('VERSION', version))}], {{ stdio: 'inherit' }});\n"
    )
    manifest = {"name": "@tiny/weather", "version": version, "bin": {"tiny-weather": "cli.js"}}
    files = {"package.json": json.dumps({**manifest, "scripts": {"install": "exit 7"}}), "cli.js": script}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size, info.mode = len(text.encode()), 0o755
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Npm(BaseHTTPRequestHandler):
    """A registry of one package."""

    body = tarball("1.0.0")

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        if self.path.endswith(".tgz"):
            self.wfile.write(self.body)
            return
        host = f"http://{self.headers['Host']}"
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(self.body).digest()).decode()
        row = {"name": "@tiny/weather", "version": "1.0.0", "bin": {"tiny-weather": "cli.js"}}
        dist: dict[str, Any] = {"tarball": f"{host}/weather-1.0.0.tgz", "integrity": integrity}
        versions = {"1.0.0": {**row, "dist": dist}}
        answer = {"name": "@tiny/weather", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def npm() -> Iterator[str]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not on PATH, so no package of npm can be installed")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Npm)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("right", [True, False])
async def test_a_package_of_npm_gets_a_folder_of_its_own_and_runs_no_script(
    tmp_path: Path, npm: str, right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    pin = hashlib.sha256(Npm.body).hexdigest() if right else "0" * 64
    entry = f'npm = "@tiny/weather"\nversion = "1.0.0"\nsha256 = "{pin}"\nprogram = "tiny-weather"\n'
    folder = board(tmp_path, entry)
    path = folder / "pegboard.toml"
    path.write_text(path.read_text().replace('wheelhouse = "wheels"', f'index = "{npm}"'))
    brought = await bring(folder)
    assert brought.completed is right, brought
    if not right:
        assert "hash" in (brought.message or "")
        assert nothing_left(tmp_path)
