"""`asset_read`: a part of a text that is kept as an asset."""

from pegboard.core import Call, Result
from pegboard.discovery.define import meta_spec
from pegboard.discovery.desk import Desk

LIMIT = 4_000
"""Characters of one reading where the caller does not say."""

SPEC = meta_spec(
    "asset_read",
    "Read a part of a text asset, such as a log or a page that a tool returned as a handle. The answer says where to go"
    " on.",
    {
        "handle": {"type": "string", "description": "The asset's handle, as a result gave it."},
        "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "The first character, from 0."},
        "limit": {"type": "integer", "minimum": 1, "default": LIMIT, "description": "How many characters."},
    },
    required=("handle",),
)


async def asset_read(desk: Desk, call: Call) -> Result:
    """The part of the text that was asked for, with where it stands in the whole."""
    given = call.arguments
    offset, limit = int(given.get("offset") or 0), int(given.get("limit") or LIMIT)
    return await desk.read_asset(str(given.get("handle", "")), offset, limit, call.session)
