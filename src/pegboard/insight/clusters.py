"""The engine that works on a Ray cluster: one of its own on this machine, or one that is there."""

import os
import secrets
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pegboard.errors import MissingExtraError, SourceError
from pegboard.insight.mine import Engine
from pegboard.insight.portion import Keep, Observed, Portion, observe

_AHEAD = 2
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def cluster(jobs: int, *, address: str | None = None) -> Engine:
    """An engine on a Ray cluster, which gives what any other engine gives.

    Without an address it starts a cluster of its own, bound to loopback, with its files in a temporary folder, and ends
    it afterwards; usage statistics are off.

    Parameters:
        jobs: how many portions are worked on at once, and how many processors a cluster of its own has.
        address: the cluster to use, such as `ray://host:10001`.

    Raises:
        MissingExtraError: the extra `ray` is not installed.
        SourceError: the cluster cannot be started or reached.
    """

    def engine(portions: Iterable[Portion], keep: Keep) -> Iterator[Observed]:
        with _connected(jobs, address) as ray:
            work = ray.remote(num_cpus=1)(observe)
            kept = ray.put(keep)
            under_way: deque[Any] = deque()
            for portion in portions:
                under_way.append(work.remote(portion, kept))
                if len(under_way) >= _AHEAD * jobs:
                    yield ray.get(under_way.popleft())
            while under_way:
                yield ray.get(under_way.popleft())

    return engine


@contextmanager
def _connected(jobs: int, address: str | None) -> Generator[Any]:
    with _environment({**_QUIET, **({} if address else _alone())}):
        try:
            import ray as found
        except ModuleNotFoundError as problem:
            raise MissingExtraError("ray", feature="Mining on a cluster") from problem
        ray: Any = found  # its own types are not complete
        if ray.is_initialized():  # somebody else's: used, and left as it is
            yield ray
            return
        with tempfile.TemporaryDirectory(prefix="pb-ray-", ignore_cleanup_errors=True) as folder:
            try:
                ray.init(**(_joined(address) if address else _own(jobs, folder)))
            except Exception as problem:
                raise SourceError(
                    f"The Ray cluster cannot be {'reached' if address else 'started'}: {problem}",
                    where=address or "insight --engine ray",
                    next_step="Check the address." if address else "Use --engine processes instead.",
                ) from problem
            try:
                yield ray
            finally:
                ray.shutdown()


def _alone() -> dict[str, str]:
    """For a cluster of this machine alone: on loopback whatever the system, and no token kept in the home folder."""
    return {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def _own(jobs: int, folder: str) -> dict[str, Any]:
    return {
        "num_cpus": jobs,
        "include_dashboard": False,
        "_temp_dir": folder,
        "_node_ip_address": "127.0.0.1",
        "log_to_driver": False,
        "configure_logging": False,
        "object_store_memory": 256 * 1024 * 1024,
    }


def _joined(address: str) -> dict[str, Any]:
    return {"address": address, "log_to_driver": False, "configure_logging": False}


@contextmanager
def _environment(values: Mapping[str, str]) -> Generator[None]:
    """Variables for the time being; those that a person has set stay."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
