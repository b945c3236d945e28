"""Version, change log and pins agree."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
GROUPS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def name_of(requirement: str) -> str:
    return re.split(r"[<>=\[;~! ]", requirement.strip())[0].lower().replace("_", "-")


def names(path: str) -> set[str]:
    lines = [line.split("#")[0].strip() for line in (ROOT / path).read_text().splitlines()]
    return {name_of(line) for line in lines if line and not line.startswith("-")}


def pins(path: str) -> dict[str, str]:
    text = (ROOT / path).read_text()
    return {name_of(name): version for name, version in re.findall(r"^(\S+?)==([^ ;\\]+)", text, re.MULTILINE)}


def test_the_change_log_has_an_entry_for_this_version_or_calls_it_unreleased() -> None:
    headings = re.findall(r"^## \[(.+?)\]", CHANGELOG, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:2] in ([], [PROJECT["version"]])


def test_the_change_log_uses_the_usual_groups_once_per_release() -> None:
    for release in CHANGELOG.split("\n## ")[1:]:
        groups = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert set(groups) <= GROUPS
        assert len(groups) == len(set(groups))


@pytest.mark.parametrize("name", ["run", "dev"])
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / f"requirements/{name}.txt").read_text()
    assert names(f"requirements/{name}.in") - set(pins(f"requirements/{name}.txt")) == set()
    entries = re.split(r"\n(?=[a-z0-9])", text.strip(), flags=re.IGNORECASE)
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_run_and_dev_pin_the_same_versions() -> None:
    run, dev = pins("requirements/run.txt"), pins("requirements/dev.txt")
    assert {name: (version, dev.get(name)) for name, version in run.items() if dev.get(name) != version} == {}


def test_what_the_project_declares_is_installed_by_make() -> None:
    extras = [item for group in PROJECT["optional-dependencies"].values() for item in group]
    declared = {name_of(item) for item in [*PROJECT["dependencies"], *extras]}
    assert declared - set(pins("requirements/dev.txt")) == {"pegboard", "pegboard-encoder"} & declared
    needed = {name_of(item) for item in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["gateway"]]}
    assert needed - set(pins("requirements/run.txt")) == set()


def test_every_dependency_is_explained() -> None:
    text = (ROOT / "docs/explain/dependencies.md").read_text()
    extras = [item for group in PROJECT["optional-dependencies"].values() for item in group]
    declared = {name_of(item) for item in [*PROJECT["dependencies"], *extras]}
    assert {name for name in declared if f"`{name}" not in text} - {"pegboard"} == set()
