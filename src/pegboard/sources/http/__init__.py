"""Requests that a document or a template asks for, sent so that they cannot reach where they should not."""
