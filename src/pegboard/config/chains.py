"""The table `[chains]`: where the runs of chains are kept, and who goes on with them."""

from pegboard.config.key import Key, Table
from pegboard.config.types import FLAG, REFERENCE

CHAINS = Table(
    "chains",
    "The runs of chains: where they are kept, and who goes on with them. A chain itself is a table `[chain.NAME]`.",
    (
        Key(
            "store",
            REFERENCE,
            "The address of a PostgreSQL database (extra `postgres`) that keeps the runs in place of the board's "
            "store, so that every machine which reads it can go on with them.",
            "",
            example='"${env:CHAINS_DATABASE}"',
        ),
        Key(
            "adopt",
            FLAG,
            "Whether `pegboard serve` goes on with runs whose process has died, and with those that a person has "
            "answered meanwhile.",
            True,
        ),
    ),
)
