"""The addresses of resources on a board: the source's name before the source's own address, which stays readable.

`file:///notes/a.txt` of the source `files` is `pegboard://files/file:///notes/a.txt`. What stands behind the source's
name is the address exactly as the source spells it, so that nothing is lost, no two sources clash, and a template
(RFC 6570) is still one that expands to addresses of its source. An address with the scheme `ui`, by which clients know
the pages of MCP Apps, keeps it: `ui://files/ui://clock.html`.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

SCHEME = "pegboard"
_KEPT = "ui://"
_EXPRESSION = re.compile(r"\{[^{}]*\}")


def board_uri(source: str, uri: str) -> str:
    """The address on the board of a resource, or of a template of resources.

    Parameters:
        source: the source's name.
        uri: the address, or the template, as the source spells it.
    """
    scheme = _KEPT if uri.startswith(_KEPT) else f"{SCHEME}://"
    return f"{scheme}{quote(source, safe='')}/{uri}"


def source_uri(text: str) -> tuple[str, str] | None:
    """The source's name and its own address, of an address on a board; None where it is none."""
    for scheme in (f"{SCHEME}://", _KEPT):
        if text.startswith(scheme):
            name, slash, uri = text[len(scheme) :].partition("/")
            if slash and name and uri.startswith(_KEPT) == (scheme == _KEPT):
                return unquote(name), uri
    return None


def may_expand_to(template: str, uri: str) -> bool:
    """Whether a template's fixed texts stand in an address in their order, first and last at its ends.

    Looser than expansion, and in linear time whatever a stranger's template holds.

    Parameters:
        template: the template.
        uri: the address.
    """
    first, *middle = _EXPRESSION.split(template)
    if not middle:
        return template == uri
    if not uri.startswith(first):
        return False
    at, last = len(first), middle.pop()
    for text in middle:
        at = uri.find(text, at)
        if at == -1:
            return False
        at += len(text)
    return uri.endswith(last) and len(uri) - len(last) >= at


def same_address(uri: str, known: Iterable[str]) -> str | None:
    """The known spelling of an address that a client has escaped, or unescaped, on the way; None where there is none.

    Parameters:
        uri: the address as it came.
        known: the addresses that the source lists.
    """
    plain = unquote(uri)
    return next((one for one in known if unquote(one) == plain), None)
