"""How sure a search is: in steps that keep their order, more where the best tool stands out of its catalog."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pegboard.index.confidence import STEPS, WITHIN, Background, stepped, temper

from .conftest import tool

CHANCE = st.floats(0.001, 0.99)
BEFORE = [
    tool("mail.send_email", "Send an email to somebody"),
    tool("files.read_file", "Read a file"),
    tool("calendar.create_event", "Create an event in a calendar"),
    tool("sky.get_forecast", "Get the weather forecast for a city"),
    tool("shop.list_orders", "List the orders of a customer"),
]


@given(CHANCE, CHANCE)
def test_steps_keep_the_order_and_stay_near_what_they_tell(a: float, b: float) -> None:
    assert (stepped(a) < stepped(b)) == (a < b) or a == b or abs(a - b) < 1e-9
    told = next(told for most, told in STEPS if a <= most)
    assert abs(stepped(a) - told) <= WITHIN + 1e-9


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30), st.integers(0, 20))
def test_tools_that_are_not_shown_are_no_background(cosines: list[float], hidden: int) -> None:
    shown = np.array(cosines, np.float32)
    among = np.concatenate([shown, np.zeros(hidden, np.float32)])
    assert Background.of(among, len(shown)).above == Background.of(shown, len(shown)).above


def test_a_tool_that_stands_out_is_surer_than_one_among_many_as_near() -> None:
    lonely, crowded = Background(0.05, 0.1, 0.6), Background(0.4, 0.1, 0.6)
    assert temper(0.0, 0.5, lonely)[2] > temper(0.0, 0.5, crowded)[2]


def test_the_right_tool_there_is_surer_than_the_same_request_without_it(index_of) -> None:
    engine = index_of(*BEFORE)
    there = engine.search("what will the weather be in the city").confidence
    engine.update(remove=[BEFORE[3].name])
    gone = engine.search("what will the weather be in the city").confidence
    assert there > 0.3 > gone
