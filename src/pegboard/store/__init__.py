"""What a board keeps between runs, and where its secrets stand. SQLAlchemy is imported when a store is opened."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.store.asset import Held, Page
    from pegboard.store.keep import Store
    from pegboard.store.stored import StoredListing

__all__ = ["Held", "Page", "Store", "StoredListing"]
_HOMES = {"Store": "keep", "StoredListing": "stored", "Page": "asset", "Held": "asset"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from pegboard.errors import MissingExtraError

    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as problem:
        if problem.name != "sqlalchemy":
            raise
        raise MissingExtraError("gateway", feature="The store") from problem
