"""A config is read whole, or everything that is wrong with it is told."""

from pathlib import Path

import pytest

from pegboard.config import Config, InvalidConfigError, load, template
from pegboard.config.tables import BOARD, SOURCE, SOURCE_KINDS
from pegboard.errors import ConfigError

GIT = '[sources.git]\nmcp = ["mcp-server-git"]\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "pegboard.toml"
    path.write_text(text)
    return path


def read(folder: Path, text: str) -> Config:
    return load(write(folder, text), environ={"TOKEN": "s3cret-value"})


def problems(folder: Path, text: str) -> dict[str, str]:
    with pytest.raises(InvalidConfigError) as caught:
        read(folder, text)
    return {problem.key: f"{problem.message} {problem.next_step}" for problem in caught.value.problems}


def test_an_empty_file_is_a_board_without_sources(tmp_path: Path) -> None:
    config = read(tmp_path, "")
    assert config.board.name == "pegboard"
    assert config.board.store == tmp_path / ".pegboard"
    assert config.board.threshold == 20
    assert config.sources == {}


def test_sources_keep_the_order_of_the_file_and_inherit_the_boards_limits(tmp_path: Path) -> None:
    text = f'[board]\ncall_timeout = 7\n[sources.z]\npython = "a.b"\n{GIT}call_timeout = 3\nprefix = "g"\n'
    config = read(tmp_path, text)
    assert list(config.sources) == ["z", "git"]
    assert [source.call_timeout for source in config.sources.values()] == [7.0, 3.0]
    assert [source.prefix for source in config.sources.values()] == ["z", "g"]
    assert [source.kind for source in config.sources.values()] == ["python", "mcp"]


def test_paths_are_relative_to_the_config_wherever_pegboard_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, f'[board]\nstore = "kept"\n{GIT}cwd = "there"\n[sources.r]\nrecorded = "x/tools.json"\n')
    monkeypatch.chdir("/")
    config = load(tmp_path)
    assert config.board.store == tmp_path / "kept"
    assert config.sources["git"].options["cwd"] == tmp_path / "there"
    assert config.sources["r"].target == tmp_path / "x/tools.json"


def test_a_folder_stands_for_the_pegboard_toml_in_it(tmp_path: Path) -> None:
    write(tmp_path, GIT)
    assert list(load(tmp_path).sources) == ["git"]


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("[board]\nnmae = 'x'", "board.nmae", "Did you mean name?"),
        ("[bord]", "bord", "Did you mean board?"),
        ("[board]\nthreshold = 'x'", "board.threshold", "This is a text, and a whole number is needed."),
        ("[board]\nthreshold = true", "board.threshold", "This is true or false"),
        ("[board]\nthreshold = -1", "board.threshold", "out of range"),
        ("[board]\nsearch = 'atuo'", "board.search", 'Did you mean "auto"?'),
        ("[board]\nalways = 'git.*'", "board.always", "This is a text, and a list is needed."),
        ("[board]\nalways = ['a.*', '']", "board.always[1]", "empty"),
        ("[board]\nstore = ''", "board.store", "empty"),
        ("board = 3", "board", "a table is needed"),
        ("[sources]\ngit = 'x'", "sources.git", "a table is needed"),
        ("[sources.git]", "sources.git", "Add one of mcp, python, recorded,"),
        ("[sources.git]\ncommand = 'npx'", "sources.git", 'mcp = ["program", "argument"]'),
        ("[sources.git]\npyton = 'x'", "sources.git", "Did you mean python instead of pyton?"),
        ("[sources.git]\nmcp = ['x']\npython = 'y'", "sources.git", "a source is one thing"),
        ("[sources.git]\nmcp = 'npx server'", "sources.git.mcp", 'mcp = ["npx", "server"]'),
        ("[sources.git]\nmcp = []", "sources.git.mcp", "The command is empty."),
        ("[sources.git]\nmcp = ['x', 1]", "sources.git.mcp[1]", "a text is needed"),
        ("[sources.git]\nmcp = ['x']\ntransport = 'see'", "sources.git.transport", 'Did you mean "sse"?'),
        ("[sources.git]\nmcp = ['x']\nenv = {A = 1}", "sources.git.env.A", "a text is needed"),
        ("[sources.git]\nmcp = ['x']\nenv = {A = '${TOKEN}'}", "sources.git.env.A", "${env:TOKEN}"),
        (
            "[sources.git]\nmcp = ['x']\nenv = {A = '${vault:x}'}",
            "sources.git.env.A",
            "${env:NAME}, ${file:PATH} or ${path:PATH}",
        ),
        ("[sources.git]\nmcp = ['x']\nenv = {A = '${env:x'}", "sources.git.env.A", "not closed"),
        ("[sources.git]\nmcp = ['x']\nstart_timeout = 0", "sources.git.start_timeout", "no usable time"),
        ("[sources.git]\nmcp = ['x']\nallow = ['effects:bad']", "sources.git.allow[0]", "destructive"),
        ("[sources.git]\nmcp = ['x']\ntimeout = 1", "sources.git.timeout", "call_timeout"),
        ("[sources.git]\nmcp = ['x']\nprefix = 'a b'", "sources.git.prefix", "cannot be a namespace"),
        ("[sources.'']\nmcp = ['x']", 'sources.""', "A source needs a name."),
        ("[sources.'a.b']\nmcp = ['x']", 'sources."a.b"', "cannot be a namespace"),
        ("[sources.p]\npython = 'ops/tools.py'", "sources.p.python", '"ops.tools"'),
    ],
)
def test_a_mistake_is_told_with_its_key_and_a_remedy(tmp_path: Path, text: str, key: str, says: str) -> None:
    found = problems(tmp_path, text)
    assert key in found
    assert says in found[key]


def test_all_mistakes_of_a_file_are_told_together_with_the_file(tmp_path: Path) -> None:
    text = "[board]\nthreshold = 'x'\nserach = 1\n[sources.a]\n[sources.b]\nmcp = 'x y'\n"
    with pytest.raises(InvalidConfigError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'pegboard.toml'}: 4 mistakes:")
    for key in ("board.threshold", "board.serach", "sources.a", "sources.b.mcp"):
        assert f"\n  {key}: " in message


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"[board\n", "line 1"), (b"a = 1\xff", "UTF-8"), (None, "pegboard init")],
    ids=["not TOML", "not text", "missing"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "pegboard.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ('python = "a"\nenv = {A = "b"}', "x.env has no effect: a source of kind python does not use it."),
        ('mcp = ["a"]\nheaders = {A = "b"}', "x.headers has no effect: it is for a server with an address."),
        ('mcp = ["a"]\ntransport = "sse"', "x.transport has no effect: it is for a server with an address."),
        ('mcp = "http://a/"\nenv = {A = "b"}', "x.env has no effect: it is for a server with a program."),
        ('mcp = "http://a/"\ncwd = "b"', "x.cwd has no effect: it is for a server with a program."),
    ],
)
def test_a_key_without_effect_is_told_and_does_no_harm(tmp_path: Path, source: str, warning: str) -> None:
    config = read(tmp_path, f"[sources.x]\n{source}\n")
    assert config.warnings == (f"sources.{warning}",)


def test_secrets_stay_references_until_they_are_needed(tmp_path: Path) -> None:
    config = read(tmp_path, GIT + 'env = { A = "${env:TOKEN}", B = "${env:MISSING}" }\n')
    source = config.sources["git"]
    assert source.options["env"]["A"] == "${env:TOKEN}"
    assert "s3cret-value" not in repr(config)
    assert config.secrets.reveal(source.options["env"]["A"]) == "s3cret-value"


def test_the_fingerprint_changes_with_what_a_source_would_list(tmp_path: Path) -> None:
    first = read(tmp_path, GIT).sources["git"].fingerprint
    assert read(tmp_path, GIT + "call_timeout = 3\n").sources["git"].fingerprint == first
    assert read(tmp_path, GIT + 'deny = ["x"]\n').sources["git"].fingerprint != first


def test_the_template_is_a_valid_config_as_it_stands(tmp_path: Path) -> None:
    config = read(tmp_path, template('my "board"'))
    assert config.board.name == 'my "board"'
    assert config.sources == {}


def test_the_template_shows_every_key() -> None:
    keys = [key for table in (BOARD, SOURCE) for key in table.keys]
    keys += [key for kind in SOURCE_KINDS for key in (kind.key, *kind.keys)]
    text = template("x")
    assert [key.name for key in keys if f"{key.name} = " not in text] == []


def test_each_example_in_the_key_definitions_is_a_value_that_the_key_takes(tmp_path: Path) -> None:
    for key in BOARD.keys:
        read(tmp_path, f"[board]\n{key.name} = {key.example}\n" if key.example else "")
    for kind in SOURCE_KINDS:
        for key in (*kind.keys, *SOURCE.keys):
            text = f"[sources.x]\n{kind.key.name} = {kind.key.example}\n"
            read(tmp_path, text + (f"{key.name} = {key.example}\n" if key.example else ""))
