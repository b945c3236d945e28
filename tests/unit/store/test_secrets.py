"""Secrets are read by reference, when they are needed, and told to whoever redacts."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError, SourceError
from pegboard.store.secrets import Secrets, check_references, references


def secrets(folder: Path, **environ: str) -> Secrets:
    return Secrets(folder, environ)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${env:A}", "alpha"),
        ("Bearer ${env:A}-${env:B}", "Bearer alpha-beta"),
        ("$${env:A}", "${env:A}"),
        ("$A and $", "$A and $"),
        ("${file:token.txt}", "from the file"),
    ],
)
def test_references_in_a_text_are_replaced(tmp_path: Path, text: str, value: str) -> None:
    (tmp_path / "token.txt").write_text("  from the file\n")
    assert secrets(tmp_path, A="alpha", B="beta").reveal(text) == value


def test_references_at_any_depth_are_replaced_and_other_values_stay(tmp_path: Path) -> None:
    value = {"a": ["${env:A}", 1, None], "b": {"c": ("${env:A}",)}}
    assert secrets(tmp_path, A="alpha").reveal(value) == {"a": ["alpha", 1, None], "b": {"c": ("alpha",)}}


def test_a_path_is_made_absolute_and_is_no_secret(tmp_path: Path) -> None:
    book = secrets(tmp_path / "board")
    assert book.reveal("--root=${path:../data}") == f"--root={tmp_path / 'data'}"
    assert book.known == ()


def test_a_replaced_value_is_not_read_again(tmp_path: Path) -> None:
    assert secrets(tmp_path, A="${env:B}", B="x").reveal("${env:A}") == "${env:B}"


def test_a_missing_variable_is_told_with_its_key_and_a_near_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"sources\.x\.env\.T: .*GITHUB_TOKN is not set.*\$GITHUB_TOKEN"):
        secrets(tmp_path, GITHUB_TOKEN="x").reveal({"T": "${env:GITHUB_TOKN}"}, where="sources.x.env")


def test_a_missing_file_is_told_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="none.txt cannot be read: No such file"):
        secrets(tmp_path).reveal("${file:none.txt}")


@pytest.mark.parametrize("text", ["${", "${env:A", "${A}", "${env:}", "${env: }", "${vault:a}", "${}"])
def test_a_reference_that_cannot_be_meant_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        check_references(text)
    with pytest.raises(ConfigError):
        secrets(tmp_path, A="x").reveal(text)


def test_a_listener_hears_each_secret_once_whenever_it_comes(tmp_path: Path) -> None:
    book = secrets(tmp_path, A="alpha", B="beta", EMPTY="")
    early: list[str] = []
    late: list[str] = []
    book.watch(early.append)
    book.reveal("${env:A} ${env:A} ${env:EMPTY}")
    book.watch(late.append)
    book.reveal("${env:B}")
    assert early == late == ["alpha", "beta"]
    assert book.known == ("alpha", "beta")


def test_references_are_listed_without_reading_them() -> None:
    assert list(references("a ${env:A} $${no} ${file:b c}")) == ["env:A", "file:b c"]
