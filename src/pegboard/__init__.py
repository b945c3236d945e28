"""Pegboard: one tool board for LLM agents. Find, choose, call and trust tools from anywhere."""
