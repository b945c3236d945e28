"""Weights in whole numbers of one byte, such that no processor's sums overflow.

The fastest instructions of processors without VNNI multiply numbers from 0 to 255 with signed bytes and add two such
products in 16 bits. Two neighbours of one sign that together are no greater than 128 never overflow there.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
MOST = 127
PAIR = 128
"""No pair of neighbours of one sign is greater together: 255 * 128 still fits into 16 bits."""
STEPS = np.linspace(0.5, 1.4, 19)
"""The scales that are tried of a column, as shares of the one by which its greatest weight is just kept."""
DAMPED = 0.01
"""Added to the power of every input, as a share of the mean."""
BLOCK = 64
"""So many inputs at a time: what they lose is spread over the rest at once."""
LEVEL = 3.0
"""Inputs that grow greater than this are made smaller, and their weights greater: else few great ones make all others
coarse."""


@dataclass(slots=True)
class Inputs:
    """What goes into one product, over many texts.

    Parameters:
        size: how many numbers.
    """

    size: int
    greatest: Numbers = field(init=False)
    squares: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.greatest, self.squares = np.zeros(self.size), np.zeros((self.size, self.size))

    def add(self, rows: npt.NDArray[np.float32]) -> None:
        """Take note of the inputs of one text, a row a token."""
        found = rows.astype(np.float64)
        self.greatest = np.maximum(self.greatest, np.abs(found).max(axis=0))
        self.squares += found.T @ found

    def parts(self) -> Numbers:
        """By what each input is divided before it is made whole."""
        return np.maximum(1, self.greatest / LEVEL)


def whole(weights: Numbers, squares: Numbers) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """The weights (a column an output) as whole numbers, and the scale of each column.

    Inputs of most power come first, and what is lost by rounding their weights is made good by the weights after them,
    as far as their inputs go together (GPTQ, Frantar et al. 2023).

    Parameters:
        weights: a row an input.
        squares: the sums of the products of any two inputs, over many texts.
    """
    power = np.diag(squares) / np.diag(squares).mean()
    scales = _scales(weights, power)
    order = np.argsort(-power, kind="stable")
    spread = _spread(squares[order][:, order])
    left, found = weights[order], np.zeros_like(weights)
    for start in range(0, len(left), BLOCK):
        part = slice(start, start + BLOCK)
        lost = np.zeros_like(left[part])
        for n, place in enumerate(order[part].tolist()):
            at = start + n
            row = left[at] - spread[start:at, at] @ lost[:n]
            found[place] = np.clip(np.rint(row / scales), *_room(found[place ^ 1]))
            lost[n] = (row - found[place] * scales) / spread[at, at]
        left[start + BLOCK :] -= spread[part, start + BLOCK :].T @ lost
    for signed in (np.maximum(found, 0), np.maximum(-found, 0)):
        assert (signed[0::2] + signed[1::2]).max() <= PAIR, "sums could overflow"
    return found.astype(np.int8), scales.astype(np.float32)


def _spread(squares: Numbers) -> Numbers:
    """How what is lost of one input is spread over those after it: the upper factor of the inverse."""
    damped = squares + np.eye(len(squares)) * (DAMPED * np.diag(squares).mean())
    return np.linalg.cholesky(np.linalg.inv(damped)).T


def _room(other: Numbers) -> tuple[Numbers, Numbers]:
    """From where to where a weight may be, beside its neighbour (zero where that is yet to come)."""
    return np.maximum(-MOST, np.maximum(-other, 0) - PAIR), np.minimum(MOST, PAIR - np.maximum(other, 0))


def _scales(weights: Numbers, power: Numbers) -> Numbers:
    """The scale of each column that loses least by rounding, where inputs of more power count more."""
    base = np.maximum(np.abs(weights).max(axis=0), 1e-9) / MOST
    losses = [(power[:, None] * (_rounded(weights, base * step) - weights) ** 2).sum(axis=0) for step in STEPS]
    return base * STEPS[np.argmin(losses, axis=0)]


def _rounded(weights: Numbers, scales: Numbers) -> Numbers:
    """The weights rounded, neighbours of one sign that are too great together made smaller alike."""
    found = np.clip(weights / scales, -MOST, MOST)
    first, second = found[0::2], found[1::2]
    over = np.maximum(np.abs(first) + np.abs(second) - PAIR, 0) * (first * second > 0) / 2
    found[0::2], found[1::2] = first - np.sign(first) * over, second - np.sign(second) * over
    return np.rint(found) * scales
