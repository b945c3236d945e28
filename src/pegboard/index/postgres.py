"""A search backend on PostgreSQL: its full text search, and pgvector (extra `postgres`).

Of the engines that could carry a shared catalog it is the one that teams have already, that the board's own store can
live in, and that adds no service to run; its full text ranking knows no rarity, which the ranking here makes up for.
"""

from collections.abc import Sequence
from typing import Any, LiteralString

from pegboard.core import ToolName
from pegboard.errors import MissingExtraError
from pegboard.index.backend import Document
from pegboard.index.dense import Floats
from pegboard.index.protocol import Where

_TABLE: LiteralString = """
    CREATE EXTENSION IF NOT EXISTS vector;
    CREATE TABLE IF NOT EXISTS pegboard_search (
        namespace text NOT NULL, name text NOT NULL, version text NOT NULL,
        category text, effects text NOT NULL, source text NOT NULL,
        words tsvector NOT NULL, meaning vector NOT NULL,
        PRIMARY KEY (namespace, name, version));
    CREATE INDEX IF NOT EXISTS pegboard_search_words ON pegboard_search USING gin (words);
"""
_PUT: LiteralString = """
    INSERT INTO pegboard_search VALUES (%s, %s, %s, %s, %s, %s,
        setweight(to_tsvector('simple', %s), 'A') || setweight(to_tsvector('simple', %s), 'C'), %s::vector)
    ON CONFLICT (namespace, name, version) DO UPDATE SET category = excluded.category, effects = excluded.effects,
        source = excluded.source, words = excluded.words, meaning = excluded.meaning
"""
_REMOVE: LiteralString = "DELETE FROM pegboard_search WHERE namespace = %s AND name = %s AND version = %s"
_SHOWN: LiteralString = """
    (%(namespace)s::text IS NULL OR namespace = %(namespace)s)
    AND (%(category)s::text IS NULL OR category = %(category)s)
    AND (%(effects)s::text[] IS NULL OR effects = ANY(%(effects)s))
    AND (%(sources)s::text[] IS NULL OR source = ANY(%(sources)s))
"""
_NEAREST: LiteralString = f"""
    (SELECT namespace, name, version FROM pegboard_search, to_tsquery('simple', %(asked)s) AS asked
     WHERE words @@ asked AND {_SHOWN}
     ORDER BY ts_rank(words, asked, 1) DESC, namespace, name, version LIMIT %(count)s)
    UNION
    (SELECT namespace, name, version FROM pegboard_search WHERE {_SHOWN}
     ORDER BY meaning <=> %(vector)s::vector, namespace, name, version LIMIT %(near)s)
"""


class PostgresBackend:
    """Keeps tools in one table of a database; several processes may share it.

    Parameters:
        address: a libpq connection string.
    """

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError("postgres", feature="Search in PostgreSQL") from None
        self._connection: Any = psycopg.connect(address, autocommit=True)
        self._connection.execute(_TABLE)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM pegboard_search").fetchone()[0])

    def put(self, documents: Sequence[Document]) -> None:
        """Add or replace tools."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(_PUT, [_row(document) for document in documents])

    def remove(self, names: Sequence[ToolName]) -> None:
        """Remove tools."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_REMOVE, [_key(name) for name in names])

    def nearest(self, terms: Sequence[str], vector: Floats, count: int, where: Where | None) -> list[ToolName]:
        """At most `count` tools by words and `count` by meaning."""
        where = where or Where()
        rows = self._connection.execute(
            _NEAREST,
            {
                "asked": " | ".join(_quoted(term) for term in terms),
                "vector": _vector(vector),
                "count": count,
                "near": count if vector.any() else 0,
                "namespace": where.namespace,
                "category": where.category,
                "effects": sorted(where.effects) if where.effects is not None else None,
                "sources": sorted(where.sources) if where.sources is not None else None,
            },
        )
        return sorted((ToolName(space, name, version or None) for space, name, version in rows), key=str)


def _key(name: ToolName) -> tuple[str, str, str]:
    return _sound(name.namespace), _sound(name.name), _sound(name.version or "")


def _row(document: Document) -> tuple[object, ...]:
    spec = document.spec
    texts = (_sound(" ".join(document.head)), _sound(" ".join(document.body)))
    return (*_key(spec.name), spec.category, spec.effects.value, spec.source.name, *texts, _vector(document.vector))


def _vector(vector: Floats) -> str:
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


def _quoted(term: str) -> str:
    return "'" + _sound(term).replace("\\", "\\\\").replace("'", "''") + "'"


def _sound(text: str) -> str:
    """The text as the database takes it: without NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf8", "replace").decode()
