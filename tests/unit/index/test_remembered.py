"""What is known of words is worked out once, and bounded."""

from pegboard.index.remembered import Remembered


def test_what_is_remembered_is_worked_out_once() -> None:
    asked: list[str] = []
    known = Remembered[str, int](lambda word: asked.append(word) or len(word), 9)
    assert [known["issue"], known["pr"], known["issue"]] == [5, 2, 5]
    assert asked == ["issue", "pr"]


def test_no_more_keys_are_remembered_than_allowed() -> None:
    known = Remembered[int, int](abs, 3)
    assert [known[n] for n in range(-8, 0)] == list(range(8, 0, -1))
    assert len(known) <= 3
