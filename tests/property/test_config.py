"""Whatever stands in a config: it is read, or refused with keys and remedies."""

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.config import Config, InvalidConfigError, parse
from pegboard.config.tables import SOURCE_KINDS, TABLES

KEYS = [key.name for table in TABLES for key in table.keys] + [
    key.name for kind in SOURCE_KINDS for key in (kind.key, *kind.keys)
]
TEXTS = st.one_of(
    st.text(max_size=8), st.sampled_from(["auto", "${env:X}", "${", "http://a/", "*.x", "effects:x", "!"])
)
PLAIN = st.one_of(st.booleans(), st.integers(), st.floats(), TEXTS, st.dates())
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
TABLE = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), VALUES, max_size=5)
SOURCES = st.dictionaries(st.sampled_from(["a", "b", "a.b", ""]), TABLE | VALUES, max_size=3)
DOCUMENTS = st.fixed_dictionaries({}, optional={"board": TABLE | VALUES, "sources": SOURCES | VALUES, "bord": VALUES})


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_a_config_is_read_or_refused_with_a_key_and_a_remedy_for_each_mistake(document: dict[str, Any]) -> None:
    try:
        config = parse(document, folder=Path("/"))
    except InvalidConfigError as problem:
        assert all(found.key and found.message and found.next_step for found in problem.problems)
        assert len({str(found) for found in problem.problems}) == len(problem.problems)
    else:
        assert isinstance(config, Config)
        assert all(source.kind and source.fingerprint for source in config.sources.values())
