"""Tools whose definition is data and whose call is filled in from a template: HTTP requests, programs, manifests."""

from pegboard.sources.templated.source import TemplatedSource, cli_source, http_source, manifest_source

__all__ = ["TemplatedSource", "cli_source", "http_source", "manifest_source"]
