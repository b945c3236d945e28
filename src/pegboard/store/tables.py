"""The store's tables. Each column is plain: texts, numbers, JSON as text, so that every database can hold them."""

from sqlalchemy import Column, Float, Integer, MetaData, String, Table, Text

METADATA = MetaData()

MIGRATED = Table(
    "migrated",
    METADATA,
    Column("name", String(100), primary_key=True),
)
"""The migrations that have run, by name."""

CATALOG = Table(
    "catalog",
    METADATA,
    Column("source", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("saved", Float, nullable=False),
    Column("listing", Text, nullable=False),
)
"""What each source listed last, as one JSON text."""

ALIASES = Table(
    "aliases",
    METADATA,
    Column("namespace", String(200), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("version", String(100), primary_key=True),
    Column("wire", String(64), nullable=False, unique=True),
)
"""The wire name of every tool that ever had one; an empty version stands for none."""

RESULTS = Table(
    "results",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("page", Integer, primary_key=True),
    Column("pages", Integer, nullable=False),
    Column("saved", Float, nullable=False, index=True),
    Column("owner", String(200), nullable=False),
    Column("text", Text, nullable=False),
)
"""Large results, cut into pages; `owner` is the principal who may read them."""
