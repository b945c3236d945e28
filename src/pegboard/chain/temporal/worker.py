"""A worker: takes steps and decisions of chains from a Temporal server, and runs them on its board."""

from datetime import timedelta
from typing import Any

from pegboard.chain.chains import Tools
from pegboard.chain.temporal.step import StepActivity
from pegboard.chain.temporal.workflow import ChainWorkflow

GRACE = timedelta(seconds=10)
"""How long the steps that are under way may take once the worker is asked to stop."""


def worker(client: Any, board: Tools, *, task_queue: str, heartbeat: float) -> Any:
    """The worker of a board; run it with `await worker.run()`, or as an async context manager.

    Parameters:
        client: a connected `temporalio.client.Client`.
        board: what the steps call.
        task_queue: where it takes its work from.
        heartbeat: seconds after which silence counts as death.
    """
    from temporalio.worker import Worker
    from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

    restrictions = SandboxRestrictions.default.with_passthrough_modules("pegboard", "anyio", "sniffio")
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[ChainWorkflow],
        activities=[StepActivity(board, heartbeat).step],
        workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
        graceful_shutdown_timeout=GRACE,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=min(heartbeat, 10.0)),
        max_heartbeat_throttle_interval=timedelta(seconds=max(heartbeat / 3, 0.1)),
    )
