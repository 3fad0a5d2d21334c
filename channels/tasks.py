"""Tasks that belong to one object and end with it."""

import asyncio
from collections.abc import Coroutine


class BackgroundTasks:
    """Runs coroutines beside their owner, which must handle their errors, and cancels them when it closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self) -> None:
        """Wait until all have ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def until_one_ends(*work: Coroutine[object, object, None]) -> None:
    """Run coroutines together until one returns or raises, then cancel the others. Raises its error."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:  # each is cancelled only once: a second cancellation would interrupt its closing
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
