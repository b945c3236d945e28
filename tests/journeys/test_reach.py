"""Remote servers that are not simply there: behind a private certificate authority, or behind a proxy."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import uvicorn
from mcp.server.lowlevel import Server

from pegboard.board import Board
from pegboard.config import parse

pytestmark = pytest.mark.anyio


def authority(folder: Path) -> tuple[Path, Path]:
    """A certificate of a private authority for this machine; returns the authority's and the server's file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.now(UTC)

    def made(name: str, issuer: str, key: Any, signer: Any, ca: bool) -> Any:
        def called(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        builder = x509.CertificateBuilder().subject_name(called(name)).issuer_name(called(issuer))
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        by = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = builder.add_extension(own, critical=False).add_extension(by, critical=False)
        if ca:
            usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
            builder = builder.add_extension(usage, critical=True)
        here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        return builder.add_extension(here, critical=False).sign(signer, hashes.SHA256())

    root, leaf = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(made("test CA", "test CA", root, root, True).public_bytes(pem))
    secret = leaf.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(secret + made("here", "test CA", leaf, root, False).public_bytes(pem))
    return folder / "ca.pem", folder / "server.pem"


@contextmanager
def remote(certificate: Path | None = None) -> Iterator[int]:
    """An MCP server over HTTP(S); yields its port."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", input_schema={"type": "object"})])

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="here")])

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    app = Server("far", on_list_tools=list_tools, on_call_tool=call_tool).streamable_http_app()
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", ssl_certfile=str(certificate) if certificate else None)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def pump(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while part := one.recv(65_536):
            other.sendall(part)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def tunnel(client: socket.socket, asked: list[str]) -> None:
    """Serve one CONNECT (RFC 9110, 9.3.6)."""
    head = b""
    while b"\r\n\r\n" not in head and (part := client.recv(65_536)):
        head += part
    method, target = head.decode().split(" ")[:2]
    asked.append(f"{method} {target}")
    host, _, port = target.partition(":")
    far = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    threading.Thread(target=pump, args=(far, client), daemon=True).start()
    pump(client, far)


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that opens tunnels; yields its address and what it was asked for."""
    asked: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=tunnel, args=(client, asked), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        listener.close()


def board(url: str, folder: Path, **more: Any) -> Board:
    return Board.open(parse({"board": {"store": ":memory:"}, "sources": {"far": {"mcp": url, **more}}}, folder=folder))


async def test_a_server_of_a_private_authority_is_trusted_only_where_the_config_says_so(tmp_path: Path) -> None:
    ca, certificate = authority(tmp_path)
    with remote(certificate) as port:
        url = f"https://127.0.0.1:{port}/mcp"
        async with board(url, tmp_path) as doubting:
            await doubting.refresh()
            [status] = await doubting.statuses()
            assert "certificate is not trusted" in (status.error or "") and "ca_file" in (status.error or "")
        async with board(url, tmp_path, ca_file=ca.name) as trusting:
            assert (await trusting.call("far.echo")).ok


@pytest.mark.parametrize("content", ["", "no certificate"])
async def test_a_file_that_holds_no_certificates_costs_only_its_source(tmp_path: Path, content: str) -> None:
    (tmp_path / "ca.pem").write_text(content)
    async with board("https://127.0.0.1:9/mcp", tmp_path, ca_file="ca.pem") as there:
        await there.refresh()
        [status] = await there.statuses()
        assert "ca.pem" in (status.error or "")


async def test_a_server_that_speaks_no_tls_is_told_apart_from_one_that_is_not_there(tmp_path: Path) -> None:
    with remote() as port:
        async with board(f"https://127.0.0.1:{port}/mcp", tmp_path) as there:
            await there.refresh()
            [status] = await there.statuses()
            assert "speaks no TLS" in (status.error or "")


async def test_requests_go_through_the_proxy_that_the_config_names(tmp_path: Path) -> None:
    ca, certificate = authority(tmp_path)
    with proxy() as (through, asked), remote(certificate) as port:
        async with board(f"https://127.0.0.1:{port}/mcp", tmp_path, proxy=through, ca_file=ca.name) as there:
            assert (await there.call("far.echo")).ok
        assert set(asked) == {f"CONNECT 127.0.0.1:{port}"}


async def test_a_proxy_that_is_not_there_is_told(tmp_path: Path) -> None:
    async with board("http://127.0.0.1:9/mcp", tmp_path, proxy="http://user:password-x@127.0.0.1:9") as there:
        await there.refresh()
        [status] = await there.statuses()
        assert status.error and "password-x" not in status.error


def test_certificates_of_the_environment_are_trusted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pegboard.wire.client.road import trusting

    ca, _ = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    assert [each["subject"] for each in trusting(None).get_ca_certs()]
    assert isinstance(trusting(str(ca)), ssl.SSLContext)
