"""The engine that works in several processes of this machine."""

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from pegboard.insight.mine import Engine
from pegboard.insight.portion import Keep, Observed, Portion, observe

_AHEAD = 2


def processes(jobs: int) -> Engine:
    """An engine of `jobs` worker processes; at most `_AHEAD` portions a worker are under way at a time."""

    def engine(portions: Iterable[Portion], keep: Keep) -> Iterator[Observed]:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            under_way: deque[Future[Observed]] = deque()
            for portion in portions:
                under_way.append(pool.submit(observe, portion, keep))
                if len(under_way) >= _AHEAD * jobs:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()

    return engine
