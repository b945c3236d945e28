"""The arrays of numbers that search works on."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.intp]
Slots = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Wholes = npt.NDArray[np.int8]
Columns = npt.NDArray[np.int16]
Bytes = npt.NDArray[np.uint8]
Holding = tuple[float, tuple[Slots, Floats, Bytes], int, int]
"""What a term of a request is matched by: its rarity, and where in a `Posting` the tools stand that hold it."""
