"""Signing in to remote servers: in a browser, on another device, kept, renewed, widened, given back."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from oauth_kit import DEVICE, House, browse, house

from pegboard.board import Board
from pegboard.cli.app import run
from pegboard.config import parse
from pegboard.core import FailureCode
from pegboard.errors import SourceError, StoreError
from pegboard.sources.http.address import Allowance
from pegboard.sources.http.client import GuardedTransport
from pegboard.wire.oauth import EnvironmentVault, FileVault, Keeper, KeyringVault, SignIn, server_key
from pegboard.wire.oauth.callback import arrival, waiting
from pegboard.wire.oauth.device import DeviceCode, sign_in_on_another_device
from pegboard.wire.oauth.login import Registration, sign_in

pytestmark = pytest.mark.anyio
HERE = SignIn("http://h/mcp", "a-token", refresh_token="again", token_endpoint="http://h/token", client_id="me")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A config folder of the test's own, so that no sign-in of anybody is touched."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "home"))
    return tmp_path / "home"


def vault(home: Path) -> FileVault:
    return FileVault(home / "pegboard" / "sign-ins")


async def signed_in(there: House, *, visit: Callable[[str], Awaitable[None]] = browse, **given: Any) -> SignIn | None:
    async with waiting() as callback:
        return await sign_in(
            there.url,
            registration=Registration(**given),
            redirect=callback.address,
            visit=visit,
            arrive=callback.wait,
            transport=GuardedTransport(Allowance(private=True)),
        )


async def kept(there: House, home: Path, **given: Any) -> SignIn:
    found = await signed_in(there, **given)
    assert found is not None
    vault(home).save(found)
    return found


def board(there: House, folder: Path, **more: Any) -> Board:
    table = {"mcp": there.url, **more}
    return Board.open(
        parse({"board": {"store": ":memory:", "sign_ins": "file"}, "sources": {"docs": table}}, folder=folder)
    )


async def test_a_person_signs_in_once_and_every_board_has_it(tmp_path: Path, home: Path) -> None:
    with house() as there:
        async with board(there, tmp_path) as before:
            await before.refresh()
            [status] = await before.statuses()
            assert "401" in (status.error or "") and "pegboard auth login" in (status.error or "")
        found = await signed_in(there)
        assert found is not None and found.scope == "read" and found.resource == there.url
        vault(home).save(found)
        async with board(there, tmp_path) as after:
            result = await after.call("docs.read")
            assert result.ok, result.failure
            assert result.content[0]["text"] == "did read"


async def test_a_running_board_notices_that_somebody_signed_in(tmp_path: Path, home: Path) -> None:
    with house() as there:
        await kept(there, home)
        async with board(there, tmp_path) as running:
            assert (await running.call("docs.read")).ok
            there.expire()
            there.refresh.clear()
            lost = await running.call("docs.read")
            assert lost.failure is not None and lost.failure.code is FailureCode.UNAVAILABLE
            assert "invalid_grant" in lost.failure.message and "auth login docs" in (lost.failure.next_step or "")
            await kept(there, home)
            assert (await running.call("docs.read")).ok


@pytest.mark.parametrize("secret", [None, "a secret/with+signs"])
async def test_a_token_that_ended_is_renewed_and_what_is_rotated_is_kept(
    tmp_path: Path, home: Path, secret: str | None
) -> None:
    with house(secret=secret) as there:
        found = await signed_in(there)
        assert found is not None and found.client_secret == secret
        vault(home).save(found)
        async with board(there, tmp_path) as running:
            for _ in range(3):
                there.expire()
                assert (await running.call("docs.read")).ok
        kept = vault(home).load(found.server)
        assert kept is not None and kept.refresh_token in there.refresh
        assert [form["resource"] for form in there.of("refresh_token")] == [there.url] * 3


async def test_calls_at_the_same_time_renew_a_token_once(tmp_path: Path, home: Path) -> None:
    with house() as there:
        await kept(there, home)
        async with board(there, tmp_path) as running:
            assert (await running.call("docs.read")).ok
            there.expire()
            oks: list[bool] = []

            async def once() -> None:
                oks.append((await running.call("docs.read")).ok)

            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(once)
        assert oks == [True] * 8
        assert len(there.of("refresh_token")) == 1


async def test_what_another_process_renewed_is_taken_and_not_renewed_again(home: Path) -> None:
    with house() as there:
        found = await kept(there, home)
        one, two = (Keeper(found.server, vault(home)) for _ in range(2))
        old = await one.token()
        assert old == await two.token() == found.access_token
        new = await one.another(old)
        assert new is not None and new != old
        assert await two.another(old) == new
        assert len(there.of("refresh_token")) == 1


async def test_a_token_whose_time_is_over_is_renewed_before_it_is_sent(tmp_path: Path, home: Path) -> None:
    with house(lasts=10) as there:  # within the half minute in which a token counts as spent
        found = await kept(there, home)
        keeper = Keeper(found.server, vault(home))
        assert await keeper.token() != found.access_token


async def test_a_missing_scope_is_told_and_a_wider_sign_in_keeps_the_others(tmp_path: Path, home: Path) -> None:
    with house() as there:
        await kept(there, home)
        async with board(there, tmp_path) as running:
            refused = await running.call("docs.write")
            assert refused.failure is not None and refused.failure.code is FailureCode.UNAVAILABLE
            assert "lacks the scope 'read write'" in refused.failure.message
            assert (await kept(there, home, scopes=["write"])).scope == "read write"
        async with board(there, tmp_path) as running:
            assert (await running.call("docs.write")).ok


async def test_what_the_board_s_own_client_sends_never_reaches_a_server(tmp_path: Path, home: Path) -> None:
    """No token passthrough (MCP, Security Best Practices): only the source's own sign-in goes out."""
    with house() as there:
        found = await kept(there, home)
        async with board(there, tmp_path) as running:
            assert (await running.call("docs.read")).ok
        assert set(there.authorized[1:]) == {f"Bearer {found.access_token}"}


async def test_headers_of_the_config_come_before_a_sign_in(tmp_path: Path, home: Path) -> None:
    with house() as there:
        await kept(there, home)
        async with board(there, tmp_path, headers={"Authorization": "Bearer mine"}) as running:
            await running.refresh()
        assert there.authorized[-1] == "Bearer mine"


async def test_a_code_is_entered_on_another_device() -> None:
    shown: list[DeviceCode] = []
    waits: list[float] = []

    async def show(code: DeviceCode) -> None:
        shown.append(code)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    with house() as there:
        found = await sign_in_on_another_device(
            there.url,
            registration=Registration(scopes=["write"]),
            show=show,
            transport=GuardedTransport(Allowance(private=True)),
            sleep=sleep,
        )
    assert found is not None and found.scope == "read write" and found.renewable
    assert shown[0].code == "ABCD-EFGH" and shown[0].page.endswith("/enter")
    assert waits == [1, 1, 6], "slow_down asks for five seconds more"
    assert len(there.of(DEVICE)) == 3


@pytest.mark.parametrize(
    ("how", "given", "says"),
    [
        ({"declines": True}, {}, "access_denied"),
        ({"registers": False}, {}, "egistration"),
        ({"metadata_at": "http://10.1.2.3/metadata"}, {}, "10.1.2.3, which is no public address"),
    ],
)
async def test_a_sign_in_that_does_not_come_about_says_why(
    how: dict[str, Any], given: dict[str, Any], says: str
) -> None:
    with house(**how) as there:
        async with waiting() as callback:
            with pytest.raises(SourceError) as caught:
                await sign_in(
                    there.url,
                    registration=Registration(**given),
                    redirect=callback.address,
                    visit=browse,
                    arrive=callback.wait,
                    transport=GuardedTransport(Allowance.of([there.url])),
                )
    assert says in str(caught.value)


async def test_a_client_that_somebody_registered_is_used() -> None:
    with house(registers=False) as there:
        found = await signed_in(there, client_id="ours")
    assert found is not None and found.client_id == "ours"


async def test_a_device_without_that_way_is_told_of_the_browser() -> None:
    async def never(_: Any) -> None:
        raise AssertionError

    with house(devices=False) as there:
        with pytest.raises(SourceError, match="leave out --device"):
            await sign_in_on_another_device(
                there.url,
                registration=Registration(),
                show=never,
                transport=GuardedTransport(Allowance(private=True)),
            )


@pytest.mark.parametrize("by_device", [False, True])
@pytest.mark.parametrize(("path", "says"), [("/nothing-here", "HTTP 404"), ("/broken", "HTTP 500")])
async def test_a_server_that_is_not_well_is_not_said_to_want_no_sign_in(by_device: bool, path: str, says: str) -> None:
    async def never(_: Any) -> None:
        raise AssertionError

    with house() as there:
        more: dict[str, Any] = {"registration": Registration(), "transport": GuardedTransport(Allowance(private=True))}
        with pytest.raises(SourceError, match=says):
            if by_device:
                await sign_in_on_another_device(there.address + path, show=never, **more)
            else:
                async with waiting() as page:
                    await sign_in(there.address + path, redirect=page.address, visit=never, arrive=page.wait, **more)


async def test_the_page_that_waits_answers_only_to_its_own_name_and_path() -> None:
    import httpx2

    async with waiting() as callback, httpx2.AsyncClient() as client:
        at = f"http://127.0.0.1:{callback.port}"
        for path, headers in [
            ("/other?code=1", {}),
            ("/callback", {}),
            ("/callback?code=1", {"Host": "evil.example"}),
        ]:
            assert (await client.get(at + path, headers=headers)).status_code == 404
        assert (await client.post(f"{at}/callback?code=1")).status_code == 404
        assert (await client.get(f"{at}/callback?code=good&state=s")).status_code == 200
        assert (await callback.wait()).code == "good"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://127.0.0.1:1/callback?code=x&state=y", "x"),
        ("  http://127.0.0.1:1/callback?state=y&code=x \n", "x"),
        ("http://127.0.0.1:1/callback?error=access_denied", ""),
    ],
)
def test_a_pasted_address_is_read(address: str, code: str) -> None:
    found = arrival(address)
    assert found is not None and found.code == code


@pytest.mark.parametrize("address", ["", "what?", "http://127.0.0.1/callback?state=y"])
def test_a_pasted_text_without_an_answer_is_none(address: str) -> None:
    assert arrival(address) is None


def test_files_are_encrypted_readable_by_their_owner_alone_and_bound_to_their_key(home: Path) -> None:
    there = vault(home)
    there.save(HERE)
    assert there.load(HERE.server) == HERE and there.load("http://other") is None
    files = list((home / "pegboard" / "sign-ins").iterdir())
    assert len(files) == 2
    for file in files:
        assert b"a-token" not in file.read_bytes()
        assert os.name == "nt" or file.stat().st_mode & 0o077 == 0
    other = FileVault(home / "pegboard" / "sign-ins", {"PEGBOARD_SIGN_IN_KEY": "A" * 43 + "="})
    with pytest.raises(StoreError, match="another key"):
        other.load(HERE.server)
    assert there.remove(HERE.server) and not there.remove(HERE.server)


class _Keyring:
    """A keyring that keeps things in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, word: str) -> None:
        self.kept[service, name] = word

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


def test_a_keyring_keeps_them_too() -> None:
    there = KeyringVault(_Keyring())
    there.save(HERE)
    assert there.load(HERE.server) == HERE and there.load("http://other") is None
    assert there.remove(HERE.server) and not there.remove(HERE.server)


@pytest.mark.parametrize("given", ["bare-token", json.dumps({"server": "x", "access_token": "bare-token"})])
def test_a_variable_holds_a_sign_in_for_machines_where_nobody_signs_in(home: Path, given: str) -> None:
    there = EnvironmentVault("my-docs", HERE.server, lambda: vault(home), {"PEGBOARD_SIGN_IN_MY_DOCS": given})
    found = there.load(HERE.server)
    assert found is not None and found.access_token == "bare-token"
    with pytest.raises(StoreError, match="PEGBOARD_SIGN_IN_X"):
        EnvironmentVault("x", HERE.server, lambda: vault(home), {"PEGBOARD_SIGN_IN_X": "{"}).load(HERE.server)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Example.com/mcp/", "https://example.com/mcp"),
        ("https://user:word@example.com:8443/mcp?key=1#x", "https://example.com:8443/mcp"),
    ],
)
def test_a_sign_in_is_kept_under_the_address_without_what_may_be_secret(url: str, key: str) -> None:
    assert server_key(url) == key


def test_a_sign_in_shows_no_secret_in_its_text() -> None:
    assert "a-token" not in repr(HERE) and "again" not in repr(HERE)


@pytest.mark.slow
def test_the_command_line_signs_in_shows_it_calls_and_signs_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def pegboard(*words: str) -> tuple[int, Any]:
        code = run([*words, "--config", str(tmp_path), "--json"])
        told = capsys.readouterr()
        assert "access-" not in told.out + told.err and "refresh-" not in told.out + told.err
        return code, json.loads(told.out)

    with house() as there:
        (tmp_path / "pegboard.toml").write_text(
            f'[board]\nsign_ins = "file"\n[sources.docs]\nmcp = "{there.url}"\n[sources.other]\npython = "x"\n'
        )
        assert pegboard("auth", "list") == (0, {"sources": [{"source": "docs", "state": "signed_out"}]})
        argv = [sys.executable, "-m", "pegboard", "auth", "login", "docs", "--config", str(tmp_path)]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as login:
            assert login.stderr is not None
            anyio.run(browse, next(line.strip() for line in login.stderr if line.strip().startswith("http")))
            assert login.wait(30) == 0
        code, listed = pegboard("auth", "list")
        assert code == 0 and listed["sources"][0]["state"] == "signed_in"
        code, called = pegboard("call", "docs.read")
        assert code == 0 and "did read" in json.dumps(called)
        assert run(["auth", "export", "docs", "--config", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().out)["access_token"] in there.tokens
        code, out = pegboard("auth", "logout", "docs")
        assert code == 0 and out == {"source": "docs", "signed_out": True, "revoked": True}
        assert not there.refresh
        assert pegboard("auth", "logout", "docs")[0] == 1
        assert pegboard("auth", "login", "other")[0] == 2
