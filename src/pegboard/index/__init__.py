"""Finding tools by words: the protocol, and the engines behind it."""

from pegboard.index.protocol import Found, Hit, Index, Where

__all__ = ["Found", "Hit", "Index", "Where"]
