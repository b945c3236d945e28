"""The only room that speaks to the `mcp` package: `client` reaches upstream servers, `server` serves clients."""
