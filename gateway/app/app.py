"""The running gateway: serves its channels, and keeps what runs beside them going."""

import asyncio
from collections.abc import Callable, Coroutine

from gateway.app.channel_server import ChannelServer
from gateway.app.duties import Duties
from gateway.runs.drain import Drain

LEAVE_WITHIN = 1.0
"""Seconds in which what only one process may do is left to others."""


class App:
    """A running Parley without its command line, for the program as well as for tests and embedders."""

    def __init__(
        self,
        channels: ChannelServer,
        duties: Duties,
        drain: Drain,
        *,
        leave: Callable[[], Coroutine[object, object, None]],
        console: Callable[[str], None],
        settled: Callable[[], Coroutine[object, object, None]],
        input_ended: Callable[[str], None],
    ) -> None:
        """Create the app.

        Args:
            channels: Receives from the platforms.
            duties: Runs beside the channels.
            drain: Brings running work to a safe point.
            leave: Leaves to other processes, if there are any, what this one does, until all work rests.
            console: Shows a line to the operator.
            settled: Waits until all events and due jobs have been handled.
            input_ended: Refuses the approvals that are asked for on a platform, whose input has ended.
        """
        self.settled = settled
        self.input_ended = input_ended
        self.drain = drain
        self._channels = channels
        self._duties = duties
        self._leave = leave
        self._console = console

    @property
    def at_work(self) -> int:
        """Number of answers, tasks and commands that would be cut off by an end now."""
        return self.drain.at_work

    async def drained(self, seconds: float) -> None:
        """Begin nothing new, and wait until running work is at a safe point, at most `seconds`.

        What only one process may do is left to another one at once, and each chat as soon as its work rests.
        """
        resting = asyncio.create_task(self.drain.rested(), name="draining")
        await asyncio.sleep(0)
        if seconds and (count := self.drain.at_work):
            answers = "1 answer" if count == 1 else f"{count} answers"
            self._console(f"Finishing {answers}, at most {seconds:g} s; press again to stop now")
        leaving = asyncio.create_task(self._leave(), name="leaving to others")
        try:
            await asyncio.wait([leaving], timeout=LEAVE_WITHIN)
            await asyncio.wait([resting, leaving], timeout=seconds)
        finally:
            for task in (resting, leaving):
                task.cancel()
            await asyncio.wait([resting, leaving])

    async def run(self) -> None:
        """Serve the channels until the last one that keeps the program going has ended, or until cancelled."""
        serving = asyncio.create_task(self._channels.run(self._console), name="channels")
        beside = asyncio.create_task(self._duties.run(), name="duties")
        try:
            await asyncio.wait([serving])
            serving.result()
        finally:
            for task in (serving, beside):
                task.cancel()
            await asyncio.wait([serving, beside])
