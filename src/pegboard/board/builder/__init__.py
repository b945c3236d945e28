"""The procedure as tools, for agents that build boards: a namespace that is there only where the config says so."""

from pegboard.board.builder.source import BuilderSource, Leave, builder_of

__all__ = ["BuilderSource", "Leave", "builder_of"]
