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

REQUESTS = Table(
    "requests",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("principal", String(200), nullable=False),
    Column("subject", String(500), nullable=False),
    Column("fingerprint", String(64), nullable=False, index=True),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("request", Text, nullable=False),
    Column("decided", Float),
    Column("decision", Text),
    Column("used", Float),
    Column("void", Text),
)
"""What a person was asked, the one answer, when that was used, and why it can be used no more."""

GRANTS = Table(
    "grants",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("allows", Integer, nullable=False),
    Column("principal", String(200), nullable=False),
    Column("session", String(200)),
    Column("subject", String(500), nullable=False, index=True),
    Column("definition", String(64), nullable=False),
    Column("fingerprint", String(64)),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("by", String(200), nullable=False),
    Column("request", String(40)),
    Column("ended", String(200)),
)
"""Remembered answers; no session: in all of them, no fingerprint: for all arguments; `ended` says why it is over."""
PINS = Table(
    "pins",
    METADATA,
    Column("source", String(200), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("origin", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("definition", Text, nullable=False),
    Column("seen", Float, nullable=False),
    Column("held", Text),
    Column("held_since", Float),
)
"""The definition of each foreign tool that is trusted, and the newer one that is held back until it was seen."""

VERSIONS = Table(
    "versions",
    METADATA,
    Column("kind", String(20), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("version", String(100), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("published", Float, nullable=False),
    Column("note", Text, nullable=False),
    Column("content", Text, nullable=False),
)
"""Published versions of the board, of chains and agents; the content is one JSON text, and never changes."""

CHOSEN = Table(
    "chosen",
    METADATA,
    Column("kind", String(20), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("version", String(100), nullable=False),
)
"""Which published version is used; without a row what the config says now, or the latest one."""

CHAIN_RUNS = Table(
    "chain_runs",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("chain", String(500), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("definition", Text, nullable=False),
    Column("input", Text, nullable=False),
    Column("status", String(20), nullable=False, index=True),
    Column("principal", String(200), nullable=False),
    Column("session", String(200), nullable=False),
    Column("owner", String(200), nullable=False),
    Column("ticket", String(40), nullable=False),
    Column("lease", Float, nullable=False),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("forked_from", String(40)),
    Column("forked_at", String(64)),
    Column("value", Text),
    Column("failure", Text),
)
"""The runs of chains: the definition that was frozen into each, and who holds it: owner, ticket, end of the lease."""

CHECKPOINTS = Table(
    "checkpoints",
    METADATA,
    Column("run", String(40), primary_key=True),
    Column("step", String(64), primary_key=True),
    Column("tool", String(500), nullable=False),
    Column("status", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("value", Text),
    Column("failure", Text),
    Column("started", Float, nullable=False),
    Column("ended", Float),
)
"""How far the steps of each run of a chain have come: written before a step's tool is called, and after it."""

CODE_RUNS = Table(
    "code_runs",
    METADATA,
    Column("id", String(40), primary_key=True),
    Column("code", Text, nullable=False),
    Column("language", String(20), nullable=False),
    Column("digest", String(64), nullable=False, index=True),
    Column("principal", String(200), nullable=False),
    Column("session", String(200), nullable=False),
    Column("status", String(20), nullable=False, index=True),
    Column("owner", String(200), nullable=False),
    Column("ticket", String(40), nullable=False),
    Column("lease", Float, nullable=False),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("failure", Text),
)
"""The runs of code whose calls may have taken effect, or wait for a yes, and who holds them."""

CODE_CALLS = Table(
    "code_calls",
    METADATA,
    Column("run", String(40), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", String(500), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("status", String(20), nullable=False),
    Column("place", Integer, nullable=False),
    Column("after", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("answer", Text),
    Column("request", String(40)),
)
"""The journal of each run of code: what its calls came to, so that they are answered from it when it is replayed."""
