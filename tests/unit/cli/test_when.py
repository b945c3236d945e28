"""Points in time are read as people write them."""

from datetime import UTC, datetime

import pytest

from pegboard.cli.when import moment
from pegboard.errors import ConfigError

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("text", "before"),
    [("30s", 30), ("90m", 5400), ("1.5h", 5400), ("7d", 604_800), ("2W", 1_209_600), (" 1 d ", 86_400)],
)
def test_a_span_counts_back_from_now(text: str, before: float) -> None:
    assert moment(text, now=NOW) == NOW - before


def test_a_time_with_a_zone_is_taken_as_it_is_and_one_without_is_local() -> None:
    assert moment("2026-05-31T12:00:00+02:00") == datetime(2026, 5, 31, 10, tzinfo=UTC).timestamp()
    assert moment("2026-05-31") == datetime(2026, 5, 31).astimezone().timestamp()  # noqa: DTZ001


def test_nothing_means_no_limit() -> None:
    assert moment(None) is None


@pytest.mark.parametrize("text", ["", "soon", "7", "d7", "-3d", "2026-13-01"])
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError, match="7d"):
        moment(text)
