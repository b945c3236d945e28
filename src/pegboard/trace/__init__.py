"""What happened: records of calls, how they are kept, and how foreign traces come in."""

from pegboard.trace.record import CallRecord, Run

__all__ = ["CallRecord", "Run"]
