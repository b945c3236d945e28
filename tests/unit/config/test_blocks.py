"""Blocks go into a config and out of it, and the rest stays as it was, to the byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.config.blocks import block, has_block, table_text, with_block, without_block
from pegboard.errors import ConfigError

HERE = Path(".")
BATCH = table_text("batch", "crm.get_users", {"tool": "crm.get_user", "over": "id"})


def test_a_long_list_of_tables_has_an_entry_a_line():
    steps = [{"tool": "crm.find", "args": {"q": "${input.name}"}}, {"tool": "crm.read", "args": {"id": "${find.id}"}}]
    text = table_text("bundle", "x", {"description": "d", "steps": steps})
    assert text.count("\n") == 6


@pytest.mark.parametrize("before", ["", '[board]\nname = "x"\n', '[board]\nname = "x"', '[board]\r\nname = "x"\r\n'])
def test_what_was_written_can_be_taken_out_again(before):
    added = with_block(before, "batch-1", block("batch-1", ["why"], [BATCH]), HERE)
    assert has_block(added, "batch-1")
    assert without_block(added, "batch-1").rstrip("\n") == before.rstrip("\n")


def test_a_second_writing_takes_the_place_of_the_first():
    once = with_block("", "batch-1", block("batch-1", ["one"], [BATCH]), HERE)
    twice = with_block(once, "batch-1", block("batch-1", ["two"], [BATCH]), HERE)
    assert (twice.count("[batch."), "one" in twice, "two" in twice) == (1, False, True)


def test_only_the_named_block_goes():
    other = table_text("batch", "crm.others", {"tool": "crm.get_user"})
    text = with_block("", "batch-1", block("batch-1", [], [BATCH]), HERE)
    text = with_block(text, "batch-2", block("batch-2", [], [other]), HERE)
    assert "crm.others" in without_block(text, "batch-1")
    assert "crm.get_users" not in without_block(text, "batch-1")


def test_a_name_that_is_there_already_is_refused_and_nothing_is_lost():
    with pytest.raises(ConfigError):
        with_block(BATCH, "batch-1", block("batch-1", [], [BATCH]), HERE)


@given(st.text(max_size=80))
def test_a_reason_cannot_leave_its_comment(reason):
    text = with_block("", "batch-1", block("batch-1", [reason], [BATCH]), HERE)
    assert without_block(text, "batch-1") == ""
