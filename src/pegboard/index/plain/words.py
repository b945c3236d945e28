"""What the words of a request score, and which known words are close to one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pegboard.index.fields import Field
from pegboard.index.plain.arrays import Bytes, Floats, Holding

_NAME = np.uint8(1 << Field.NAME)


def matched(rows: Sequence[Holding], needs: Sequence[int], count: int, size: int, scores: Floats, names: Bytes) -> int:
    """The BM25F score of every slot, and below it those by each need, where there are several.

    Parameters:
        rows: what the terms are matched by.
        needs: for each row, the need that it belongs to.
        count: how many needs there are; less than two for none.
        size: how many slots there are.
        scores: filled in.
        names: filled in: how many rows' terms each tool's name holds.

    Returns:
        How many tools have any score.
    """
    sizes = [stop - start for _, _, start, stop in rows]
    slots = np.concatenate([held[0][start:stop] for _, held, start, stop in rows] or [np.zeros(0, np.int32)])
    worth = np.concatenate([held[1][start:stop] for _, held, start, stop in rows] or [np.zeros(0, np.float32)])
    fields = np.concatenate([held[2][start:stop] for _, held, start, stop in rows] or [np.zeros(0, np.uint8)])
    worth = worth * np.array([row[0] for row in rows], np.float32).repeat(sizes)
    names[:] = np.bincount(slots, fields & _NAME, size)
    if count < 2:
        scores[0] = np.bincount(slots, worth, size)
    else:
        first = (np.array(needs, np.intp) * size).repeat(sizes)
        scores[1 : count + 1].reshape(-1)[:] = np.bincount(first + slots, worth, count * size)
        np.add.reduce(scores[1 : count + 1], axis=0, out=scores[0])
    return int(np.count_nonzero(scores[0]))


def held(rows: Sequence[Holding], slot: int) -> list[tuple[int, int]]:
    """The rows whose term the tool in a slot holds, each with its fields, one bit a `Field`."""
    found: list[tuple[int, int]] = []
    for n, (_, (slots, _, fields), start, stop) in enumerate(rows):
        at = start + int(slots[start:stop].searchsorted(slot))
        if at < stop and slots[at] == slot:
            found.append((n, int(fields[at])))
    return found


def close(words: list[str], letters: npt.NDArray[np.uint64], word: str, asked: int) -> list[int]:
    """The known words one typing error away: a letter more, less or other, or two neighbours swapped.

    Parameters:
        words: the known ones.
        letters: of each of them, a bit a letter.
        word, asked: the word at hand and its letters.

    Returns:
        Their places, rising.
    """
    apart = np.bitwise_count(letters ^ np.uint64(asked))
    near: list[int] = np.flatnonzero(apart <= 2).tolist()
    return [place for place in near if _one_error(word, words[place])]


def _one_error(word: str, other: str) -> bool:
    """Whether one word becomes another by one typing error at most."""
    pairs = zip(word, other, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(word), len(other)))
    rest, meant = word[at:], other[at:]
    if len(rest) != len(meant):
        return rest[1:] == meant or rest == meant[1:]
    return rest[1:] == meant[1:] or (rest[:2] == meant[1::-1] and rest[2:] == meant[2:])
