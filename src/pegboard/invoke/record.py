"""Record every call: failed, cancelled and refused ones too. Nothing but a queue stands in a call's way."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from os import urandom
from time import perf_counter, time

import anyio

from pegboard.core import Call, Failure, FailureCode, Handler, Middleware, Result
from pegboard.invoke.lookup import SpecOf
from pegboard.trace.recorder import Recorder
from pegboard.trace.shape import Finished, Shaper
from pegboard.trace.turn import Turns


def record(spec_of: SpecOf, recorder: Recorder, shaper: Shaper, *, clock: Callable[[], float] = time) -> Middleware:
    """Hand each call to the recorder when it is over. It stands outermost, so that it sees what every other one did.

    The call gets a new id, unique in its run, that the calls inside of it name as their parent.

    Parameters:
        spec_of: the tools.
        recorder: takes the calls.
        shaper: makes their records, in the recorder's thread.
        clock: the Unix time in seconds.
    """
    turns, order, process = Turns(), count(), urandom(3).hex()

    def wrap(next_handler: Handler) -> Handler:
        async def handle(call: Call) -> Result:
            seq, run = next(order), call.session.run_id
            turn = turns.begin(run, call.group) if call.parent is None else None
            named = replace(call, id=f"{process}-{seq}")
            started, begun = clock(), perf_counter()
            result: Result | None = None
            failure: Failure | None = None
            try:
                result = await next_handler(named)
                return result
            except BaseException as error:
                failure = _failure(error)
                raise
            finally:
                if turn is not None:
                    turns.end(run)
                finished = Finished(
                    call=named,
                    spec=spec_of(call.tool),
                    result=result,
                    failure=failure,
                    seq=seq,
                    turn=turn,
                    started=started,
                    seconds=perf_counter() - begun,
                    caller_id=call.id,
                )
                recorder.add(partial(shaper.entry, finished))

        return handle

    return wrap


def _failure(error: BaseException) -> Failure:
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return Failure(FailureCode.CANCELLED, "The call was cancelled.")
    return Failure(FailureCode.FAILED, f"{type(error).__name__}: {error}")
