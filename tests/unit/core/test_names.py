"""What `pegboard.core` offers is imported when it is first used."""

import subprocess
import sys

import pytest

from pegboard import core


@pytest.mark.parametrize("name", core.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(core, name) is not None


def test_no_other_name_is_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = core.Nothing  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_search_reads_nothing_about_calls_and_sources() -> None:
    script = "import sys, pegboard.index.engine; print('pegboard.core.spec' in sys.modules, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found, *modules = done.stdout.split()
    assert found == "True"
    assert not {"pegboard.core.call", "pegboard.core.source", "pegboard.core.asset"} & set(modules)
