"""The MCP clients that people have: where their configs lie, how they are read, and how they are pointed at a board."""

from pegboard.config.clients.attach import Attachment, entry
from pegboard.config.clients.gather import Haul, Imported, Skipped, gather
from pegboard.config.clients.machine import Machine
from pegboard.config.clients.table import CLIENTS, Client, client
from pegboard.config.clients.toml import extended, source_table

__all__ = [
    "CLIENTS",
    "Attachment",
    "Client",
    "Haul",
    "Imported",
    "Machine",
    "Skipped",
    "client",
    "entry",
    "extended",
    "gather",
    "source_table",
]
