"""Directories on the command line: an entry that is set aside is said so wherever it is asked for by name."""

from pathlib import Path

import pytest

from pegboard.cli.app import run

OFFERS = """
[discoverables.good]
description = "Says a text back."
url = "https://good.example/mcp"

[discoverables.two]
description = "It is two things."
pypi = "two"
url = "https://two.example/mcp"

[discoverables.typo]
descripton = "Forgot a letter."
pypi = "typo"
"""


@pytest.mark.parametrize("verb", [["install"], ["discoverables", "show"]])
@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("two", ("'two' is set aside. It has url and pypi", "Write one of")),
        ("typo", ("'typo' is set aside.", "Did you mean description?")),
        ("goood", ("There is no connector or plugin 'goood'.", "Did you mean good?")),
    ],
)
def test_the_reason_stands_where_an_entry_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: list[str], id: str, said: tuple[str, str]
) -> None:
    (tmp_path / "offers.toml").write_text(OFFERS)
    (tmp_path / "pegboard.toml").write_text('[directories.ours]\nfrom = "offers.toml"\n')
    code = run([*verb, id, "--config", str(tmp_path)])
    told = capsys.readouterr().err
    assert code == 2
    assert all(one in told for one in said), told
