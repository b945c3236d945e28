"""Chains: processes of fixed order whose runs are kept, so that they resume where they were interrupted."""

from pegboard.chain.chains import Chains
from pegboard.chain.definition import Chain, chain, read_chains
from pegboard.chain.fault import ChainError, ChainFault
from pegboard.chain.file import with_files
from pegboard.chain.record import ChainRun, Checkpoint, RunStatus, StepStatus

__all__ = [
    "Chain",
    "ChainError",
    "ChainFault",
    "ChainRun",
    "Chains",
    "Checkpoint",
    "RunStatus",
    "StepStatus",
    "chain",
    "read_chains",
    "with_files",
]
