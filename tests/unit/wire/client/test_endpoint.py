"""What an endpoint shows of itself, and what it does not."""

from pathlib import Path

import pytest

from pegboard.wire.client.endpoint import HttpEndpoint, StdioEndpoint, scrub
from pegboard.wire.client.stdio import find_program


@pytest.mark.parametrize(
    "endpoint",
    [
        HttpEndpoint("https://user:s3cr3t-pw@host.example:8443/s3cr3t-path?key=s3cr3t-key", {"x": "Bearer s3cr3t-tok"}),
        StdioEndpoint(("/opt/bin/server", "--token", "s3cr3t-tok"), {"KEY": "s3cr3t-env"}),
    ],
)
def test_nothing_secret_is_in_its_text(endpoint: HttpEndpoint | StdioEndpoint) -> None:
    assert "s3cr3t" not in f"{endpoint} {endpoint!r}"
    assert str(endpoint) in ("https://host.example:8443", "server")


def test_secrets_are_taken_out_of_foreign_words() -> None:
    endpoint = HttpEndpoint("https://u:pass-word@h/p?key=query-key", {"authorization": "Bearer tok-en-1"})
    text = scrub("Bearer tok-en-1 refused; tok-en-1, query-key and pass-word too", endpoint.secrets)
    assert text == "*** refused; ***, *** and *** too"


def test_short_values_are_no_secrets() -> None:
    assert scrub("level 1 is on", ("1", "on", "")) == "level 1 is on"


def test_a_program_is_looked_up_on_path_when_it_is_not_beside_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("only-here") == str(program)
    assert find_program("nowhere-at-all") is None
    assert find_program(str(program)) == str(program)
