"""Make the links of an answer readable: a tool names a resource by its source's address, a caller by the board's."""

from dataclasses import replace

from pegboard.catalog.links import Links
from pegboard.core import Call, Handler, Middleware, Result
from pegboard.invoke.lookup import SpecOf

_LINKS = ("resource_link", "resource")


def links(spec_of: SpecOf) -> Middleware:
    """Turn the addresses in the links and files of an answer into the board's; links to the web stay.

    Parameters:
        spec_of: the tools.
    """

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            result = await next_handler(call)
            if not any(block.get("type") in _LINKS for block in result.content):
                return result
            spec = spec_of(call.tool)
            if spec is None or spec.source.kind != "mcp":
                return result
            return replace(result, content=Links(spec.source.name).blocks(result.content))

        return handle

    return wrap
