"""The file of what is installed: written in one step, read leniently, merged into the config."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from directory_kit import config

from pegboard.core import DiscoverableType
from pegboard.directory.merge import with_state
from pegboard.directory.state import FILE_NAME, Installed, State, StateFile
from pegboard.errors import StoreError

WEATHER = Installed(
    name="weather",
    table={"mcp": ["/x/bin/weather", 'a "quoted" word'], "env": {"K": "${env:K}"}},
    tool_id="example/weather",
    type=DiscoverableType.PLUGIN,
    directory="company",
    digest="d",
    version="1.0",
    folder="/x",
    at=5.0,
)


def test_what_is_written_is_read_again_by_another_process(tmp_path: Path) -> None:
    mine, other = StateFile(tmp_path), StateFile(tmp_path)
    assert other.read() == State()
    mine.change(lambda state: state.put(WEATHER).switch("git", True))
    assert other.changed()
    assert other.read() == State({"weather": WEATHER}, {"git": True})
    assert not other.changed()


def test_changes_of_many_writers_all_count(tmp_path: Path) -> None:
    def write(number: int) -> None:
        StateFile(tmp_path).change(lambda state: state.put(replace(WEATHER, name=f"w{number}")))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(StateFile(tmp_path).read().sources) == 12


def test_a_broken_entry_costs_itself_and_a_broken_file_is_set_aside_before_it_is_written(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.change(lambda state: state.put(WEATHER))
    text = (tmp_path / FILE_NAME).read_text()
    (tmp_path / FILE_NAME).write_text(text + '\n[installed.odd]\ntype = "skill"\n')
    assert list(file.read().sources) == ["weather"]
    assert "odd" in file.warnings[0]
    (tmp_path / FILE_NAME).write_text("[broken")
    assert file.read() == State()
    file.change(lambda state: state.put(WEATHER))
    assert [path.read_text() for path in tmp_path.glob("*.broken-*")] == ["[broken"]


def test_a_place_that_cannot_be_written_is_told_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="store"):
        StateFile(tmp_path / "file").change(lambda state: state.put(WEATHER))


def test_without_a_folder_it_lasts_as_long_as_the_process() -> None:
    file = StateFile(None)
    assert file.change(lambda state: state.put(WEATHER)).sources
    assert file.read().sources
    assert not file.changed()


def test_installed_sources_stand_after_those_of_the_config_with_their_origin(tmp_path: Path) -> None:
    settings = config(tmp_path, {"sources": {"git": {"mcp": ["git"]}}})
    merged = with_state(settings, State({"weather": WEATHER}, {"git": True}))
    assert list(merged.sources) == ["git", "weather"]
    assert merged.sources["weather"].origin == "example/weather"
    assert merged.sources["git"].disabled
    assert settings.sources["git"].origin is None


def test_one_that_cannot_be_used_is_left_out_with_a_warning(tmp_path: Path) -> None:
    settings = config(tmp_path, {"sources": {"git": {"mcp": ["git"]}}})
    odd = replace(WEATHER, name="odd", table={"mcp": []})
    hidden = replace(WEATHER, name="git")
    merged = with_state(settings, State({"odd": odd, "git": hidden, "weather": WEATHER}))
    assert list(merged.sources) == ["git", "weather"]
    assert merged.sources["git"].target == ("git",)
    assert len(merged.warnings) == 2
