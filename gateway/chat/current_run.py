"""The run that a chat's session drives now: which users may steer and stop it, and what it has called."""

import asyncio
from collections.abc import Sequence

from agent_core.clock import Clock
from channels.base import MessageReceived, Sender
from gateway.chat.run import ChatRun
from gateway.chat.turns import Turns
from gateway.store.rows import InboxItem, Run


class CurrentRun:
    """Holds the run of a session while it is driven; empty between two runs."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._items: Sequence[InboxItem] = ()
        self._over = asyncio.Event()
        self._started = 0.0
        self.run: Run | None = None
        self._chat_run: ChatRun | None = None
        """None until its first messages are being made."""
        self.is_stopping = False
        self.language: str | None = None
        """The language tag of the sender for whom this process has begun it, empty if none is known; None if it is
        resumed."""

    def begin(self, run: Run, items: Sequence[InboxItem]) -> None:
        """Hold a run that begins with these messages; with none, it is resumed."""
        self.run, self._items, self._started = run, items, self._turns.clock.monotonic()
        tags = [each.event.sender.language for each in items]
        self.language = next(filter(None, tags), "") if items else None
        self.is_stopping = False
        self._over.clear()

    def drive(self, chat_run: ChatRun) -> None:
        """Hold what drives the run, from when its first messages are made."""
        self._chat_run = chat_run
        if self.is_stopping:
            chat_run.released.set()

    def end(self) -> None:
        self.run = self._chat_run = None
        self._items = ()
        self._over.set()

    def stop(self) -> None:
        """Let it stop; the caller aborts its agent."""
        self.is_stopping = True
        if self._chat_run is not None:
            self._chat_run.released.set()

    async def stopped(self) -> None:
        """Wait until a run that is stopping, or whose agent has ended, is over, and what it says last is sent."""
        if self.run is not None and not self.is_open:
            await self._over.wait()

    def seconds(self, *, has_more: bool) -> float | None:
        """Return the seconds since it began; None while idle or when only the delivery of the last answer is left.

        Args:
            has_more: True if more messages wait.
        """
        told = self._chat_run is not None and self._chat_run.is_noted and not has_more
        return self._clock.monotonic() - self._started if self.run and not told else None

    @property
    def is_open(self) -> bool:
        """True if there is a run that can still be steered and stopped."""
        over = self._chat_run is not None and self._chat_run.is_over
        return self.run is not None and not self.is_stopping and not over

    def is_busy(self) -> bool:
        """Return False while it waits for approval."""
        return self._chat_run is None or not self._chat_run.is_waiting

    @property
    def is_begun_here(self) -> bool:
        """True if it was begun by this process, which thus knows all its calls."""
        return bool(self._items)

    @property
    def called(self) -> frozenset[str]:
        """The tools that it has called in this process, without a call that waits for approval."""
        return self._chat_run.called.names if self._chat_run is not None else frozenset()

    def begun_with(self, message_id: str) -> MessageReceived | None:
        """Return the message with the platform's id if the run began with it."""
        events = (item.event for item in self._items)
        return next(
            (each for each in events if isinstance(each, MessageReceived) and each.message_id == message_id), None
        )

    def may_be_stopped_by(self, sender: Sender) -> bool:
        return self.run is not None and self.is_open and self._turns.may_stop(sender, self.run)

    def may_be_steered_by(self, sender: Sender) -> bool:
        if self.run is None or self._turns.drain.is_on:
            return False
        return self.is_open and self._turns.may_steer(sender, self.run)

    @property
    def _clock(self) -> Clock:
        return self._turns.clock
