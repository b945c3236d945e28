"""Agents that Pegboard runs over a board (extra `agent`)."""
