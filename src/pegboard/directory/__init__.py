"""What could be on the board: directories read and searched, and what is installed from them."""

from pegboard.directory.reading import Aside, Reading

__all__ = ["Aside", "Reading"]
