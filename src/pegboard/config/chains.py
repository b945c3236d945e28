"""The table `[chains]`: where the runs of chains are kept, and who runs their steps."""

from pegboard.config.key import Key, Table
from pegboard.config.types import FLAG, REFERENCE, SECONDS, TEXT, choice

CHAINS = Table(
    "chains",
    "The runs of chains: where they are kept, and who runs their steps. A chain itself is a table `[chain.NAME]`.",
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
        Key(
            "runner",
            choice("local", "temporal"),
            "Who keeps the runs and gives out their steps: this board and its store, or a Temporal server (extra "
            "`temporal`), for whose steps `pegboard chain worker` must run.",
            "local",
        ),
        Key("address", REFERENCE, "The Temporal server's HOST:PORT.", "127.0.0.1:7233"),
        Key("namespace", TEXT, "The Temporal namespace.", "default"),
        Key("task_queue", TEXT, "The Temporal task queue that workers of this board listen to.", "pegboard"),
        Key("api_key", REFERENCE, "The Temporal server's API key; turns TLS on.", "", example='"${env:TEMPORAL_KEY}"'),
        Key(
            "heartbeat",
            SECONDS,
            "Seconds of silence after which a Temporal worker counts as dead, and its step is given to another one "
            "(where a second call does no harm) or waits for an operator.",
            15,
        ),
    ),
)
