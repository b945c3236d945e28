"""Which tools a model sees at once, as a config says it."""

from typing import cast

from pegboard.config import Config
from pegboard.discovery import Residency
from pegboard.discovery.residency import Profile, Search


def residency_of(config: Config) -> Residency:
    """The policy that a config sets."""
    table = config.board
    return Residency(
        search=cast("Search", table.search),
        threshold=table.threshold,
        always=table.always,
        hidden=table.hidden,
        max_direct=table.max_direct,
        context_tokens=table.context_tokens,
        context_share=table.context_share,
        profile=cast("Profile", table.profile),
        wishes={
            name: source.defer_loading for name, source in config.sources.items() if source.defer_loading is not None
        },
        learn=table.learn,
    )
