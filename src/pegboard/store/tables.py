"""The store's tables. Each column is plain: texts, numbers, JSON as text, so that every database can hold them."""

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, String, Table, Text

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

ASSETS = Table(
    "assets",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("owner", String(200), primary_key=True),
    Column("media_type", String(200), nullable=False),
    Column("size", Integer, nullable=False),
    Column("page_chars", Integer, nullable=False),
    Column("expires", Float, nullable=False, index=True),
)
"""What is kept aside, for each owner; of a large answer also how many characters a page has, else 0."""

BLOBS = Table(
    "blobs",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""The bytes of assets, once for all their owners."""

FINDINGS = Table(
    "findings",
    METADATA,
    Column("id", String(100), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("seen", Float, nullable=False),
    Column("sources", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("applied", Text),
)
"""What insight found, as JSON texts, with what was written for each."""
