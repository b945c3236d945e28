"""What happened: records of calls, how they are kept, and how foreign traces come in."""

from pegboard.trace.record import CallRecord, Run
from pegboard.trace.recorder import Recorder, RecorderStatus
from pegboard.trace.redact import Redactor
from pegboard.trace.shape import Recording
from pegboard.trace.store import Entry, RunFilter, RunSummary, TraceStore

__all__ = [
    "CallRecord",
    "Entry",
    "Recorder",
    "RecorderStatus",
    "Recording",
    "Redactor",
    "Run",
    "RunFilter",
    "RunSummary",
    "TraceStore",
]
