"""The runs of all chats: who may steer and stop them, and what holds them everywhere."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from agent_core.clock import Clock, NewId
from channels.base import ChatKey, MessageReceived, Sender, TaskEnded
from gateway.chat.holds import Hold, Holds
from gateway.chat.run_pace import Pace
from gateway.permissions.access import Access
from gateway.runs.drain import Drain
from gateway.store.rows import Chat, InboxItem, Run

Asked = Callable[[ChatKey], Awaitable[Hold | None]]
"""Asks plugins before a run begins in a chat; returns the hold of one that lets it wait."""


class Turns(Struct, frozen=True):
    """Makes the runs of chats, within the rate limit of their users, and none while the program drains."""

    pace: Pace
    access: Access
    drain: Drain
    clock: Clock
    new_id: NewId
    asked: Asked | None
    """None if no plugin ever lets a run wait."""

    def holds(self) -> Holds:
        """Return the holds of a chat."""
        return Holds(self.pace.turn_wait, self.clock.monotonic, self.drain)

    def may_steer(self, sender: Sender, run: Run) -> bool:
        """Return True for the run's user, and for admins and owners with no less rights than that user."""
        return self.access.may_act_for(run.chat, sender, run.person)

    def may_stop(self, sender: Sender, run: Run) -> bool:
        """Return True for the run's user, admins and owners."""
        return sender.id == run.person or self.access.is_admin(run.chat, sender)

    def new_run(self, chat: Chat, first: InboxItem, *, in_group: bool) -> Run:
        """Return a new run for a message or for the end of a task."""
        event = first.event
        replied = event.reply_to if isinstance(event, TaskEnded) else None
        if isinstance(event, MessageReceived) and in_group:
            replied = event.message_id or None
        return Run(
            id=self.new_id(),
            chat=chat.key,
            session=chat.session,
            person=event.sender.id,
            started=self.clock.time(),
            reply_to=replied,
            model=first.model,
        )
