"""Everything that a user can write or meet is documented, and the generated pages are fresh."""

import subprocess
import sys

from pages import ROOT, pages

from pegboard.check.rules import RULES
from pegboard.cli.verbs import VERBS
from pegboard.config.tables import SOURCE_KINDS, TABLES
from pegboard.core import FailureCode

WRITTEN = "\n".join(page.read_text() for page in pages() if "reference" not in page.parts)
REFERENCE = {page.name: page.read_text() for page in (ROOT / "docs/reference").glob("*.md")}


def test_the_reference_is_what_the_code_says() -> None:
    command = [sys.executable, "docs/generate.py", "--check"]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


def test_every_verb_is_explained_and_shown_at_work() -> None:
    assert [verb.name for verb in VERBS if f"## pegboard {verb.name}" not in REFERENCE["cli.md"]] == []
    assert [verb.name for verb in VERBS if f"pegboard {verb.name}" not in WRITTEN] == []


def test_every_config_key_is_explained() -> None:
    keys = [key for table in TABLES for key in table.keys]
    keys += [key for kind in SOURCE_KINDS for key in (kind.key, *kind.keys)]
    assert [key.name for key in keys if f"| `{key.name}` |" not in REFERENCE["config.md"] or len(key.doc) < 20] == []


def test_every_failure_code_is_explained() -> None:
    assert [code for code in FailureCode if f"| `{code.value}` | " not in REFERENCE["failures.md"]] == []


def test_every_rule_is_explained() -> None:
    assert [rule.code for rule in RULES if f"### {rule.code} {rule.name}" not in REFERENCE["rules.md"]] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
