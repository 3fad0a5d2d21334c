"""Serves the channels of the running gateway, those that come later as well."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from agent_core.clock import Clock
from agent_core.log_errors import Contained
from agent_core.supervise import supervise
from channels.base import Channel, ChannelError, Menu
from channels.capabilities import CatchesUp, KnowsConnection, Shares
from channels.connected import Connected
from gateway.app.catch_up import CatchUp
from gateway.app.handler import ChannelMessageHandler
from gateway.cluster.leases import Leases, Work, catch_up_of, receiver_of
from gateway.errors import ParleyError
from gateway.upkeep.owners import Owners

LOOK_EVERY = 0.05
"""Seconds between two looks whether a channel is connected, which none of them announces."""


class Supervisor:
    """Restarts work that fails, and tells the owners."""

    def __init__(self, owners: Owners, clock: Clock) -> None:
        self._owners = owners
        self._clock = clock

    def keep_going(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        *,
        fatal: tuple[type[Exception], ...] = (),
        contained: Callable[[], Contained] | None = None,
    ) -> Coroutine[object, object, None]:
        """Run `work` until it returns, is cancelled, or fails with a `fatal` error, which the caller has to report."""
        told = self._owners.work_failed
        return supervise(name, work, self._clock, told=told, fatal=fatal, contained=contained)


class ChannelServer:
    """Runs the channels, and reads the messages that they missed."""

    def __init__(
        self,
        channels: Connected,
        handler: ChannelMessageHandler,
        menu: Menu,
        supervisor: Supervisor,
        catch_up: Callable[[str, CatchesUp], CatchUp],
        *,
        leases: Leases,
    ) -> None:
        """`catch_up` makes what reads the missed messages of a platform, by its name and channel."""
        self._channels = channels
        self._handler = handler
        self._menu = menu
        self._supervisor = supervisor
        self._catch_up = catch_up
        self._leases = leases
        self._serving: dict[str, asyncio.Task[None]] = {}
        """The tasks of the channels that are served, by platform."""
        self._paused: set[str] = set()
        """Platforms whose channels will be served again."""
        self._changed = asyncio.Event()
        """Set when a task was added or stopped."""

    async def run(self, console: Callable[[str], None]) -> None:
        """Serve every channel until one of them ends, or until cancelled.

        A failed channel is restarted. One whose error the operator has to fix is given up with a line on the console,
        while the others continue; the error of the last one is raised.
        """
        for channel in self._channels:
            self.start(channel.name)
        try:
            while self._keep_going:
                left = {name: task for name, task in self._serving.items() if name in self._keep_going}
                self._changed.clear()
                changed = asyncio.create_task(self._changed.wait())
                try:
                    await asyncio.wait([changed, *left.values()], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if self._are_over({name: task for name, task in left.items() if task.done()}, console):
                    return
        finally:
            tasks = [*self._serving.values()]
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    def _are_over(self, ended: dict[str, "asyncio.Task[None]"], console: Callable[[str], None]) -> bool:
        """Give up the channels that have failed. Return True if another one has ended; raise the last one's error."""
        for name, task in ended.items():
            if self._serving.get(name) is not task:  # it was stopped, or replaced
                continue
            del self._serving[name]
            error = task.exception()
            if not self._keep_going or not isinstance(error, ChannelError):
                task.result()
                return True
            console(f"{name} has stopped, and the others go on: {error.reason}")
        return False

    def start(self, name: str) -> None:
        """Serve a platform's channel in a task, unless it is served already."""
        self._paused.discard(name)
        channel = self._channels.on(name)
        if channel is not None and name not in self._serving:
            self._serving[name] = asyncio.create_task(self._serve(channel), name=name)
            self._changed.set()

    async def pause(self, name: str) -> None:
        """Serve a platform's channel no longer until `start`; messages can still be sent there."""
        self._paused.add(name)
        task = self._serving.pop(name, None)
        self._changed.set()
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def put(self, channel: Channel) -> bool:
        """Take a channel in place of the one that its platform had. It is not served yet.

        Returns True if there was one.
        """
        await self.pause(channel.name)
        replaced = self._channels.put(channel)
        if replaced is not None:
            await replaced.close()
        return replaced is not None

    async def connect(self, channel: Channel, within: float) -> str:
        """Serve a channel, and wait for its connection at most `within` seconds.

        Returns the reason if it has failed for good; then the program goes on, and another one can be put in its place.
        One that is not connected in time keeps trying.
        """
        self.start(channel.name)
        self._paused.add(channel.name)  # so that its failure does not end the program
        task, trouble = self._serving[channel.name], ""
        try:
            async with asyncio.timeout(within):
                while not (task.done() or _is_connected(channel)):  # noqa: ASYNC110 - no channel announces it
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            pass
        if task.done() and not task.cancelled() and isinstance(error := task.exception(), ChannelError):
            trouble = error.reason
        elif self._serving.get(channel.name) is task:  # else it was paused meanwhile
            self._paused.discard(channel.name)
        return trouble

    @property
    def _keep_going(self) -> list[str]:
        """The platforms as long as one of which is served the program goes on."""
        named = [(name, self._channels.on(name)) for name in {*self._serving, *self._paused}]
        return [name for name, channel in named if channel is not None and not channel.limits.accompanies]

    def _serve(self, channel: Channel) -> Coroutine[object, object, None]:
        """Run a channel, restarting it on failure unless it is local: the user of a terminal sees it fail."""
        if channel.limits.is_local and not channel.limits.accompanies:
            return self._serve_once(channel)
        fatal = (ChannelError, ParleyError)  # the operator has to fix it
        return self._supervisor.keep_going(channel.name, partial(self._serve_once, channel), fatal=fatal)

    def _serve_once(self, channel: Channel) -> Coroutine[object, object, None]:
        """Run a channel once, reading missed messages if it supports that."""
        if isinstance(channel, Shares):
            return self._serve_shared(channel, self._catch_up(channel.name, channel))
        if isinstance(channel, CatchesUp):
            return self._serve_and_catch_up(channel, self._catch_up(channel.name, channel))
        return self._while_receiver(channel, partial(channel.run, self._handler.accept, self._menu))

    async def _serve_shared(self, channel: Shares, behind: CatchUp) -> None:
        """Run a channel that several processes share, and read what was missed of what is for this one."""
        name = catch_up_of(channel.name)
        sharing = self._leases.shared(receiver_of(channel.name), on_start=behind.begin, on_stop=behind.leave)
        reading = asyncio.create_task(self._supervisor.keep_going(name, behind.run), name=name)
        try:
            await channel.run_shared(behind.accept, self._menu, sharing)
        finally:
            reading.cancel()
            await asyncio.wait([reading])

    async def _serve_and_catch_up(self, channel: Channel, behind: CatchUp) -> None:
        """Run a channel, and read what was missed: on a platform with one receiver, both in the same process."""
        name = catch_up_of(channel.name)
        keep_going = partial(self._supervisor.keep_going, name)

        async def read_missed() -> None:
            await behind.listen()
            await behind.run()

        async def receive() -> None:
            if channel.limits.one_receiver:
                await behind.listen()
                reading = asyncio.create_task(keep_going(behind.run), name=name)
            else:
                is_ready, missed = partial(_is_connected, channel), partial(keep_going, read_missed)
                leased = partial(self._leases.while_held, name, missed, on_wait=behind.leave, is_ready=is_ready)
                reading = asyncio.create_task(keep_going(leased), name=name)
            try:
                await channel.run(behind.accept, self._menu)
            finally:
                reading.cancel()
                await asyncio.wait([reading])

        await self._while_receiver(channel, receive, on_wait=behind.leave)

    def _while_receiver(
        self, channel: Channel, receive: Work, on_wait: Callable[[], None] | None = None
    ) -> Coroutine[object, object, None]:
        """Receive: from a platform with one receiver, while this process holds its lease."""
        if channel.limits.one_receiver:
            return self._leases.while_held(receiver_of(channel.name), receive, on_wait=on_wait)
        return receive()


def _is_connected(channel: Channel) -> bool:
    return channel.is_connected if isinstance(channel, KnowsConnection) else True
