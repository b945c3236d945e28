"""The tables of published versions and of choices: what was published never changes, which of it is used does."""

import json
from collections.abc import Iterator

from sqlalchemy import Connection, delete, select

from pegboard.store.published import Published, Reference
from pegboard.store.tables import CHOSEN, VERSIONS


def write_version(connection: Connection, new: Published) -> Published:
    """Keep a version; one of the same name that is kept already stays as it is, and is what this returns."""
    known = read_version(connection, Reference(new.kind, new.name, new.version))
    if known is not None:
        return known
    row = {"kind": new.kind, "name": new.name, "version": new.version, "digest": new.digest, "note": new.note}
    content = json.dumps(new.content, default=str)  # in its order: models fill arguments in it
    connection.execute(VERSIONS.insert().values(**row, published=new.published, content=content))
    return new


def read_versions(connection: Connection, kind: str | None = None, name: str | None = None) -> Iterator[Published]:
    """The published versions without their content, the oldest first."""
    columns = [column for column in VERSIONS.c if column.name != "content"]
    query = select(*columns).order_by(VERSIONS.c.published, VERSIONS.c.kind, VERSIONS.c.name, VERSIONS.c.version)
    query = query if kind is None else query.where(VERSIONS.c.kind == kind)
    query = query if name is None else query.where(VERSIONS.c.name == name)
    for row in connection.execute(query).mappings():
        yield Published(**row)


def read_version(connection: Connection, which: Reference) -> Published | None:
    """One published version with its content; the chosen one, else the latest, where none is named."""
    version = which.version or read_chosen(connection, which.kind, which.name)
    query = select(VERSIONS).where(VERSIONS.c.kind == which.kind, VERSIONS.c.name == which.name)
    query = query if version is None else query.where(VERSIONS.c.version == version)
    row = connection.execute(query.order_by(VERSIONS.c.published.desc())).mappings().first()
    return None if row is None else Published(**{**row, "content": json.loads(row["content"])})


def read_chosen(connection: Connection, kind: str, name: str) -> str | None:
    """The version that is used, or None."""
    query = select(CHOSEN.c.version).where(CHOSEN.c.kind == kind, CHOSEN.c.name == name)
    return connection.execute(query).scalar()


def choose(connection: Connection, kind: str, name: str, version: str | None) -> None:
    """Use a version from now on; None follows the config, or the latest one."""
    connection.execute(delete(CHOSEN).where(CHOSEN.c.kind == kind, CHOSEN.c.name == name))
    if version is not None:
        connection.execute(CHOSEN.insert().values(kind=kind, name=name, version=version))
