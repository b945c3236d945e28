"""OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0 documents as tools."""

from pegboard.sources.openapi.source import OpenApiSource

__all__ = ["OpenApiSource"]
