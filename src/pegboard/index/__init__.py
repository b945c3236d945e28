"""Finding tools by words: the protocol, and the engines behind it."""

from pegboard.index.protocol import Found, Hit, Index, Where

__all__ = ["Found", "Hit", "Index", "Where", "default"]


def default() -> Index:
    """The best engine of a plain install: nothing to download, no network."""
    from pegboard.index.lexical import LexicalIndex

    return LexicalIndex()
