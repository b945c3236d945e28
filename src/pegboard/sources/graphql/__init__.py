"""GraphQL endpoints as tools: queries and mutations, with selection sets made for them."""

from pegboard.sources.graphql.source import GraphqlSource

__all__ = ["GraphqlSource"]
