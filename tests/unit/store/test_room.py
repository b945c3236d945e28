"""What is kept of assets has an end: what would expire first makes room, and says that it is gone."""

from itertools import count

import pytest

from pegboard.store import Store
from pegboard.store.room import Room


def store(room: Room) -> tuple[Store, list[float]]:
    """A store whose clock stands still, with the time that it shows."""
    now = [1000.0]
    made = Store.open(":memory:", clock=lambda: now[0])
    made.room = room
    return made, now


@pytest.mark.parametrize("room", [Room(bytes=30), Room(assets=3)])
def test_what_would_expire_first_makes_room(room: Room) -> None:
    kept, _ = store(room)
    ids = [kept.put_asset(bytes([n]) * 10, "image/png", days=5 - n).id for n in range(4)]
    held = [kept.asset(id) for id in ids]
    assert [one is not None and one.data is not None for one in held] == [True, True, False, True]
    assert [one.gone for one in kept.assets()] == [False, False, False, True]
    kept.close()


def test_what_has_expired_goes_before_anything_else() -> None:
    kept, now = store(Room(bytes=25))
    first = kept.put_asset(b"a" * 10, "image/png", days=1).id
    now[0] += 2 * 86_400
    second = kept.put_asset(b"b" * 10, "image/png", days=1).id
    third = kept.put_asset(b"c" * 10, "image/png", days=1).id
    assert [one is not None and one.data is not None for one in map(kept.asset, (first, second, third))] == [
        False, True, True,
    ]  # fmt: skip
    kept.close()


def test_the_same_bytes_of_several_owners_count_once_and_go_for_all() -> None:
    kept, _ = store(Room(bytes=20))
    for owner in ("anna", "bert"):
        shared = kept.put_asset(b"a" * 10, "image/png", owner=owner, days=1).id
    kept.put_asset(b"b" * 10, "image/png", days=2)
    assert all(kept.asset(shared, owner=owner).data for owner in ("anna", "bert"))  # pyright: ignore
    kept.put_asset(b"c" * 10, "image/png", days=2)
    assert not any(kept.asset(shared, owner=owner).data for owner in ("anna", "bert"))  # pyright: ignore
    kept.close()


def test_one_that_is_larger_than_all_room_is_kept_alone() -> None:
    kept, _ = store(Room(bytes=5))
    for n in count():
        id = kept.put_asset(bytes([n]) * 10, "image/png").id
        if n == 2:
            break
    assert [one.asset.id for one in kept.assets() if not one.gone] == [id]
    kept.close()
