"""Finding tools by words: the protocol, and the engines behind it."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pegboard.index.protocol import Found, Hit, Index, Prerequisite, Use, Where

if TYPE_CHECKING:
    from pegboard.index.engine import ToolIndex

__all__ = ["Found", "Hit", "Index", "Prerequisite", "Use", "Where", "default", "make", "with_encoder"]


def default() -> Index:
    """The best engine of a plain install: nothing to download, no network."""
    from pegboard.index.engine import ToolIndex
    from pegboard.index.static import bundled

    table = bundled()
    return ToolIndex(table) if table else ToolIndex()


def with_encoder() -> "ToolIndex":
    """The default engine and the sentence encoder, whose vectors are made in the background (extra `encoder`).

    Raises:
        MissingExtraError: the extra is not installed.
    """
    from pegboard.index.encoder import bundled_encoder
    from pegboard.index.engine import ToolIndex
    from pegboard.index.static import bundled

    table = bundled()
    encoder = bundled_encoder()
    return ToolIndex(table, encoder) if table else ToolIndex(encoder)


def make(encoder: str) -> Index:
    """The engine with the sentence encoder or without it.

    Parameters:
        encoder: "on", "off", or "auto": where the extra `encoder` is installed.

    Raises:
        MissingExtraError: it is "on", and the extra is not installed.
    """
    return with_encoder() if encoder == "on" or encoder == "auto" and _installed() else default()


def _installed() -> bool:
    return all(map(find_spec, ("onnxruntime", "tokenizers", "pegboard_encoder")))
