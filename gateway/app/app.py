"""The running gateway: serves every channel, and keeps what runs beside them going."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial

from agent_core.clock import Clock
from agent_core.supervise import supervise
from channels.base import Channel, ChannelError, Menu
from channels.capabilities import CatchesUp
from gateway.app.catch_up import CatchUp
from gateway.app.handler import ChannelMessageHandler
from gateway.errors import ParleyError
from gateway.runs.drain import Drain
from gateway.upkeep.owners import Owners

Work = Callable[[], Awaitable[None]]


class Supervisor:
    """Restarts work that fails, and tells the owners."""

    def __init__(self, owners: Owners, clock: Clock) -> None:
        self._owners = owners
        self._clock = clock

    async def keep_going(self, name: str, work: Work) -> None:
        """Run `work` until it returns, is cancelled, or fails with an error that the operator has to fix."""
        fatal = (ChannelError, ParleyError)
        await supervise(name, work, self._clock, told=self._owners.work_failed, fatal=fatal)


class ChannelServer:
    """Runs the channels, and reads the messages that they missed."""

    def __init__(
        self,
        channels: Sequence[Channel],
        handler: ChannelMessageHandler,
        menu: Menu,
        supervisor: Supervisor,
        catch_up: Callable[[str, CatchesUp], CatchUp],
    ) -> None:
        """`catch_up` makes what reads the missed messages of a platform, by its name and channel."""
        self._channels = channels
        self._handler = handler
        self._menu = menu
        self._supervisor = supervisor
        self._catch_up = catch_up

    def start(self) -> dict[asyncio.Task[None], Channel]:
        """Start a task for each channel, and return their channels."""
        return {asyncio.create_task(self._serve(each), name=each.name): each for each in self._channels}

    async def _serve(self, channel: Channel) -> None:
        """Run a channel, restarting it on failure unless it is local: the user of a terminal sees it fail."""
        if channel.limits.is_local and not channel.limits.accompanies:
            await self._serve_once(channel)
        else:
            await self._supervisor.keep_going(channel.name, partial(self._serve_once, channel))

    async def _serve_once(self, channel: Channel) -> None:
        """Run a channel once, reading missed messages if it supports that."""
        if not isinstance(channel, CatchesUp):
            await channel.run(self._handler.accept, self._menu)
            return
        behind = self._catch_up(channel.name, channel)
        name = f"catch up {channel.name}"
        catching_up = asyncio.create_task(self._supervisor.keep_going(name, behind.run), name=name)
        try:
            await channel.run(behind.accept, self._menu)
        finally:
            catching_up.cancel()
            await asyncio.wait([catching_up])


class App:
    """A running Parley without its command line, for the program as well as for tests and embedders."""

    def __init__(
        self,
        channels: ChannelServer,
        supervisor: Supervisor,
        drain: Drain,
        *,
        loops: Mapping[str, Work],
        console: Callable[[str], None],
        settled: Callable[[], Coroutine[object, object, None]],
        input_ended: Callable[[str], None],
    ) -> None:
        """Create the app.

        Args:
            loops: Work that runs beside the channels until it is cancelled, by the name under which it is reported.
            console: Shows a line to the operator.
            settled: Waits until all events and due jobs have been handled.
            input_ended: Refuses the approvals that are asked for on a platform, whose input has ended.
        """
        self.settled = settled
        self.input_ended = input_ended
        self.drain = drain
        self._channels = channels
        self._supervisor = supervisor
        self._loops = loops
        self._console = console

    @property
    def at_work(self) -> int:
        """Number of answers, tasks and commands that would be cut off by an end now."""
        return self.drain.at_work

    async def drained(self, seconds: float) -> None:
        """Begin nothing new, and wait until running work is at a safe point, at most `seconds`."""
        resting = asyncio.create_task(self.drain.rested(), name="draining")
        await asyncio.sleep(0)
        if seconds and (count := self.drain.at_work):
            answers = "1 answer" if count == 1 else f"{count} answers"
            self._console(f"Finishing {answers}, at most {seconds:g} s; press again to stop now")
        await asyncio.wait([resting], timeout=seconds)
        resting.cancel()

    async def run(self) -> None:
        """Serve every channel until one of them ends, or until cancelled.

        A failed channel is restarted. One whose error the operator has to fix is given up with a line on the console,
        while the others continue; the error of the last one is raised.
        """
        serving = self._channels.start()
        left = {task for task, channel in serving.items() if not channel.limits.accompanies}
        beside = [
            asyncio.create_task(self._supervisor.keep_going(name, loop), name=name)
            for name, loop in self._loops.items()
        ]
        try:
            while left:
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = task.exception()
                    if not left or not isinstance(error, ChannelError):
                        task.result()
                        return
                    self._console(f"{serving[task].name} has stopped, and the others go on: {error.reason}")
        finally:
            tasks = [*beside, *serving]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
