"""One entry goes into a client's config and comes out again, and nothing else moves by a byte."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.config.clients import CLIENTS, Attachment, Client, Machine, edit, entry, jsonc
from pegboard.errors import ConfigError

COMMAND = ["/usr/bin/pegboard", "serve", "--stdio", "--config", "/a b/pegboard.toml"]
TEXTS = [
    "",
    "{}",
    "{}\n",
    "{ }",
    '\ufeff{\r\n\t// note\r\n\t"a": 1\r\n}\r\n',
    "// head\n{\n    // none yet\n}\n// tail\n",
    '{"KEY": {}}',
    '{ // first\n  "KEY": { // servers\n    /* one */ "x": {"command": "x",}, // end\n  }, "b": [1, 2,],\n}\n',
    '{"KEY":{"x":{"command":"x"}},"b":null}',
    '{\n    "b": "}{ // no comment",\n    "KEY": {\n        "x": {}\n    }\n}',
    '{\n  "KEY": {\n    "pegboard": {"command": "an old one"}, // mine\n    "x": {}\n  }\n}\n',
    '{"a": { /* open\n */ "b": 1}, "KEY": { /* open\n  still */ "x": {} } }',
]
TOMLS = [
    "",
    'model = "x"',
    '# top\r\nmodel = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "a"\r\n',
    '[mcp_servers.pegboard]\ncommand = "old"\n[mcp_servers.pegboard.env]\nA = "1"\n\n# next\n[tui]\nx = 1\n',
]


def attachment(folder: Path, keys: tuple[str, ...] = ("mcpServers",), suffix: str = "json") -> Attachment:
    return Attachment(folder / f"config.{suffix}", keys, "pegboard")


def at(document: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        document = document[key]
    return document


@pytest.mark.parametrize("known", CLIENTS, ids=[known.name for known in CLIENTS])
@pytest.mark.parametrize("text", [None, *TEXTS])
def test_writing_and_undoing_leaves_each_clients_file_as_it_was(
    tmp_path: Path, known: Client, text: str | None
) -> None:
    machine = Machine(tmp_path / "home", tmp_path / "work", "linux", {})
    place = Attachment.of(known, "user", "pegboard", machine)
    if place.file.suffix == ".toml":
        text = None if text is None else TOMLS[len(text) % len(TOMLS)]
    before = None if text is None else text.replace("KEY", place.keys[0]).encode()
    if before is not None:
        place.file.parent.mkdir(parents=True)
        place.file.write_bytes(before)
    value = entry(known, command=COMMAND)

    assert place.write(value)
    after = place.file.read_text()
    data = tomllib.loads(after) if place.file.suffix == ".toml" else jsonc.read(after)
    assert at(data, place.keys)["pegboard"] == value
    assert not place.write(value)

    assert place.undo()
    assert (place.file.read_bytes() if place.file.exists() else None) == before
    assert not place.backup.exists()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("keys", [("KEY",), ("a new", "KEY")])
def test_what_stands_in_the_file_stays_in_it(text: str, keys: tuple[str, ...]) -> None:
    after = edit.placed(text, keys, "pegboard", edit.rendered(text, keys, {"command": "new"}))
    expected: Any = jsonc.read(text)
    inner = expected
    for key in keys:
        inner = inner.setdefault(key, {})
    inner["pegboard"] = {"command": "new"}
    assert jsonc.read(after) == expected
    head = os.path.commonprefix([text, after])
    tail = os.path.commonprefix([text[::-1], after[::-1]])
    assert len(head) + len(tail) >= len(text) - len('{"command": "an old one"}') * ("an old one" in text)


@pytest.mark.parametrize("text", TEXTS[1:])
def test_an_entry_alone_is_cut_out_where_the_file_has_changed_meanwhile(tmp_path: Path, text: str) -> None:
    place = attachment(tmp_path, ("KEY",))
    place.file.write_bytes(text.encode())
    place.write({"command": "p"})
    changed = place.file.read_bytes().decode() + "\n// changed by the client\n"
    place.file.write_bytes(changed.encode())
    assert place.undo()
    after = place.file.read_text()
    assert "changed by the client" in after
    assert "pegboard" not in jsonc.read(after).get("KEY", {})
    for comment in ("// first", "// servers", "/* one */", "// end", "// note", "// mine"):
        assert (comment in text) == (comment in after)


@pytest.mark.parametrize("text", TOMLS)
def test_toml_changes_in_one_table_alone(tmp_path: Path, text: str) -> None:
    place = attachment(tmp_path, ("mcp_servers",), "toml")
    place.file.write_bytes(text.encode())
    place.write({"command": "p", "args": ["a\\b"]})
    after = place.file.read_bytes().decode()
    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["pegboard"] = {"command": "p", "args": ["a\\b"]}
    assert tomllib.loads(after) == expected
    place.file.write_bytes(after.replace("model", "modell").encode() + b"\n[more]\n")
    assert place.undo()
    assert "pegboard" not in tomllib.loads(place.file.read_text()).get("mcp_servers", {})


@pytest.mark.parametrize(
    ("suffix", "text"),
    [("json", "{ broken"), ("json", "[]"), ("json", '{"mcpServers": []}'), ("toml", "mcpServers = { a = {} }\n")],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(tmp_path: Path, suffix: str, text: str) -> None:
    place = attachment(tmp_path, suffix=suffix)
    place.file.write_text(text)
    with pytest.raises(ConfigError, match="Nothing was changed"):
        place.write({"command": "p"})
    assert place.file.read_text() == text
    assert list(tmp_path.iterdir()) == [place.file]


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "config.json").symlink_to(tmp_path / "real.json")
    place = attachment(tmp_path)
    place.write({"command": "p"})
    assert place.file.is_symlink() and (tmp_path / "real.json").stat().st_mode & 0o777 == 0o600
    place.undo()
    assert place.file.is_symlink() and (tmp_path / "real.json").read_text() == "{}"


def test_nothing_to_undo_changes_nothing(tmp_path: Path) -> None:
    place = attachment(tmp_path)
    assert not place.undo()
    place.file.write_text('{"mcpServers": {"x": {}}}')
    assert not place.undo()


def test_each_client_is_told_an_address_in_its_own_words() -> None:
    url = "http://127.0.0.1:8321/mcp"
    told = {known.name: entry(known, url=url) for known in CLIENTS if known.remote}
    assert told["vscode"] == told["claude-code"] == {"type": "http", "url": url}
    assert told["windsurf"] == {"serverUrl": url}
    assert told["gemini"] == {"httpUrl": url}
    assert told["cursor"] == told["zed"] == told["codex"] == {"url": url}
    with pytest.raises(ConfigError, match="reads no addresses"):
        entry(CLIENTS[0], url=url)


BLANKS = st.sampled_from(["", " ", "\n", "\r\n  ", "\t", " // c\n", "/* d */"])


@given(st.dictionaries(st.sampled_from(["x", "y", "KEY"]), st.sampled_from(["1", '"{"', "{}", '{"z":[]}'])), st.data())
def test_any_layout_survives_an_entry_put_in_and_taken_out(members: dict[str, str], data: st.DataObject) -> None:
    members = {key: value if key != "KEY" else '{"z":[]}' for key, value in members.items()}
    blank = lambda: data.draw(BLANKS)  # noqa: E731
    rows = [f"{blank()}{json.dumps(key)}{blank()}:{blank()}{value}{blank()}" for key, value in members.items()]
    text = f"{blank()}{{{','.join(rows)}{',' if rows and data.draw(st.booleans()) else ''}{blank()}}}{blank()}"
    before = jsonc.read(text)
    after = edit.placed(text, ("KEY",), "p", edit.rendered(text, ("KEY",), {"n": 1}))
    assert jsonc.read(after) == {**before, "KEY": {**before.get("KEY", {}), "p": {"n": 1}}}
    assert jsonc.read(edit.removed(after, ("KEY",), "p")) == {**before, "KEY": before.get("KEY", {})}
