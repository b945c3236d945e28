"""Every code block of the documentation does what it shows."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from model_kit import Model, serving
from pages import ROOT, Block, blocks, commands, pages

from pegboard.config import parse
from pegboard.config.tables import TABLES

LANGUAGES = {"python", "toml", "json", "console", "sh", "text", ""}
DEFAULT_BOARD = '[sources.git]\nmcp = ["mcp-server-git"]\n'
IDS = [str(page.relative_to(ROOT)) for page in pages()]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a page; a server is asked to check itself and end instead."""
    if "serve --http" in command:
        command = re.sub(r"--http \S+:\d+", "--http 127.0.0.1:0", command) + " --check"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "PEGBOARD_TOKEN": "a-token-of-the-tests"}
    return subprocess.run(command, shell=True, cwd=folder, env=environ, capture_output=True, text=True, timeout=120)


def check_python(block: Block, folder: Path) -> None:
    name = block.file_name or "block.py"
    (folder / name).write_text(block.text)
    with serving(Model("list_pipelines", "failed pipelines", {"status": "failed"})) as model:
        outcome = subprocess.run(
            [sys.executable, name],
            cwd=folder,
            env={**os.environ, **model.environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert outcome.returncode == 0, outcome.stderr


def check_toml(block: Block, folder: Path) -> None:
    document = tomllib.loads(block.text)
    if set(document) & {table.name for table in TABLES}:
        parse(document, folder=folder)
    if block.file_name:
        (folder / block.file_name).write_text(block.text)


def check_console(block: Block, folder: Path) -> None:
    for command, code in commands(block):
        outcome = run(command, folder)
        assert outcome.returncode == code, f"{command}\n{outcome.stdout}\n{outcome.stderr}"
        assert "Traceback" not in outcome.stderr


def check_shell(block: Block, _: Path) -> None:
    outcome = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    targets = re.findall(r"^make (\w+)", block.text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


CHECKS = {
    "python": check_python,
    "toml": check_toml,
    "console": check_console,
    "sh": check_shell,
    "json": lambda block, _: json.loads(block.text),
}


@pytest.mark.parametrize("page", pages(), ids=IDS)
def test_the_language_of_each_block_is_known(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.slow
@pytest.mark.parametrize("page", pages(), ids=IDS)
def test_each_block_runs_in_the_order_of_its_page(page: Path, tmp_path: Path) -> None:
    (tmp_path / "pegboard.toml").write_text(DEFAULT_BOARD)
    for block in blocks(page):
        if check := CHECKS.get(block.language):
            try:
                check(block, tmp_path)
            except Exception as problem:
                raise AssertionError(f"{page.relative_to(ROOT)}:{block.line}") from problem


@pytest.mark.parametrize("page", pages(), ids=IDS)
def test_each_relative_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
