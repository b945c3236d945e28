"""Search by words alone."""

from pegboard.index.engine import ToolIndex


class LexicalIndex(ToolIndex):
    """An `Index` by words alone (BM25F). Tools are added, changed and removed without a rebuild."""

    def __init__(self) -> None:
        super().__init__()
