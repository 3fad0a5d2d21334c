"""Earlier process deaths during a run, as recorded in the store."""

from gateway.runs.attempts import is_stuck
from gateway.store.rows import Run
from gateway.store.store import Store


async def died(store: Store, run: Run, times: int) -> None:
    """Record deaths before the start under test, which adds one more."""
    for _ in range(times):
        await is_stuck(store, run, await store.transcript.said_in(run))
