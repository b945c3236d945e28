"""Sending spans to a collector over OTLP/HTTP, from a thread of its own: a slow or dead collector holds up nobody.

Source: OTLP specification 1.x, "OTLP/HTTP": retry on 429, 502, 503 and 504, give up on any other refusal.
"""

import gzip
import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Condition, Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pegboard.trace.record import Run
from pegboard.trace.spans import Spans
from pegboard.trace.store import Entry, RunFilter, RunSummary, TraceStore

CAPACITY = 20_000
"""Waiting calls beyond these are dropped and counted."""
AT_ONCE = 512
TRIES = 4
TIMEOUT = 10.0
_AGAIN = (429, 502, 503, 504)

_log = logging.getLogger("pegboard.trace")

Send = Callable[[dict[str, Any]], None]
"""Sends one document; raises `OSError` where trying again may help, `ValueError` where not."""


class HttpSend:
    """Sends documents to an OTLP/HTTP endpoint; redirects are not followed.

    Parameters:
        endpoint: the whole address, such as `http://127.0.0.1:4318/v1/traces`.
        headers: headers beside the usual ones; they may carry a secret, and are never logged.
        protobuf: whether to speak protobuf instead of JSON.
        timeout: seconds that an answer may take.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        headers: Mapping[str, str] | None = None,
        protobuf: bool = True,
        timeout: float = TIMEOUT,
    ) -> None:
        self._endpoint, self._protobuf, self._timeout = endpoint, protobuf, timeout
        kind = "application/x-protobuf" if protobuf else "application/json"
        self._headers = {"Content-Type": kind, "Content-Encoding": "gzip", **(headers or {})}
        self._opener = build_opener(_NoRedirect())

    def __call__(self, document: dict[str, Any]) -> None:
        """Send one document."""
        if self._protobuf:
            from pegboard.trace.protobuf import encode

            body = encode(document)
        else:
            body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
        request = Request(self._endpoint, data=gzip.compress(body, 1), headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                answer.read(65_536)
        except HTTPError as problem:
            if problem.code in _AGAIN:
                raise OSError(f"it answers {problem.code}") from None
            raise ValueError(f"it refuses with {problem.code}") from None
        except URLError as problem:
            raise OSError(f"it cannot be reached: {problem.reason}") from None


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """A header with a secret goes nowhere but where the operator said."""


class Exporting:
    """A `TraceStore` that keeps calls in another one, if there is one, and sends them on as spans.

    Parameters:
        inner: where the calls are kept; None: nowhere.
        send: sends a document.
        spans: makes the documents.
        capacity: see `CAPACITY`.
        pause: seconds before the first new try; doubled for each further one.
    """

    def __init__(
        self, inner: TraceStore | None, send: Send, spans: Spans, *, capacity: int = CAPACITY, pause: float = 0.5
    ) -> None:
        self._inner, self._send, self._spans = inner, send, spans
        self._capacity, self._pause = capacity, pause
        self._waiting: deque[Entry] = deque()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._closing = self._busy = False
        self.sent = self.dropped = 0
        self.error: str | None = None

    def append(self, entries: Sequence[Entry]) -> None:
        """Keep these calls, and queue them for sending."""
        if self._inner is not None:
            self._inner.append(entries)
        with self._changed:
            room = max(0, self._capacity - len(self._waiting))
            self._waiting.extend(entries[:room])
            self.dropped += max(0, len(entries) - room)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="pegboard-otlp", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def runs(self, where: RunFilter = RunFilter(), *, limit: int | None = 100) -> tuple[RunSummary, ...]:
        """The runs, the latest first."""
        return self._inner.runs(where, limit=limit) if self._inner is not None else ()

    def run(self, id: str) -> Run | None:
        """One run, or None."""
        return self._inner.run(id) if self._inner is not None else None

    def scan(self, where: RunFilter = RunFilter()) -> Iterator[Run]:
        """Every run, the earliest first."""
        return self._inner.scan(where) if self._inner is not None else iter(())

    def prune(self, before: float, *, most: int | None = None) -> int:
        """Forget old runs."""
        return self._inner.prune(before, most=most) if self._inner is not None else 0

    def close(self, timeout: float = 5.0) -> None:
        """Send what is waiting, for some seconds at most, and close the store behind."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)
        if self._inner is not None:
            self._inner.close()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything so far was sent or given up; False if that took longer than `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was lost, and why, in words for `doctor`."""
        lost = (f"{self.dropped} calls were not sent to the collector.",) if self.dropped else ()
        return (*lost, *((f"Spans are not sent: {self.error}.",) if self.error else ()))

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
                self._busy = bool(batch)
                if not batch:
                    return
            kept = self._try(batch)
            with self._changed:
                self.sent += len(batch) if kept else 0
                self.dropped += 0 if kept else len(batch)
                self._busy = False
                self._changed.notify_all()

    def _try(self, batch: Sequence[Entry]) -> bool:
        document = self._spans.document(batch)
        for attempt in range(TRIES):
            try:
                self._send(document)
                self.error = None
                return True
            except OSError as problem:
                self._tell(str(problem))
            except Exception as problem:  # a refusal, or something that no span can be made of: not again
                self._tell(str(problem))
                return False
            with self._changed:
                if attempt + 1 < TRIES and self._changed.wait_for(lambda: self._closing, self._pause * 2**attempt):
                    return False
        return False

    def _tell(self, error: str) -> None:
        if self.error is None:
            _log.warning("Spans are not sent to the collector: %s", error)
        self.error = error
