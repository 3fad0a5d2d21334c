"""The runs of all chats: who may steer and stop them, and what holds them everywhere."""

from collections import Counter

from agent_core.clock import Clock, NewId
from channels.base import ChatKey, MessageReceived, Sender, TaskEnded
from gateway.chat.holds import Holds, draining, paced
from gateway.chat.run_pace import Pace
from gateway.permissions.access import Access
from gateway.runs.drain import Drain
from gateway.store.rows import Chat, InboxItem, Run


class Turns:
    """Makes the runs of chats, within the rate limit of their users, and none while the program drains."""

    def __init__(self, pace: Pace, access: Access, drain: Drain, clock: Clock, new_id: NewId) -> None:
        self.clock = clock
        self.new_id = new_id
        self._pace = pace
        self._access = access
        self._drain = drain
        self._rules = draining(drain), paced(pace, clock)

    def holds(self) -> Holds:
        """Return the holds of a chat."""
        return Holds(self._rules, self.clock.monotonic)

    @property
    def are_held(self) -> bool:
        """True once the program drains."""
        return self._drain.is_on

    @property
    def waiting(self) -> Counter[str]:
        """Number of messages waiting for a run, by user."""
        return self._pace.waiting

    def is_admin(self, chat: ChatKey, sender: Sender) -> bool:
        return self._access.is_admin(chat, sender)

    def may_speak(self, chat: ChatKey, sender: Sender) -> bool:
        return self._access.may_speak(chat, sender)

    def may_act_for(self, chat: ChatKey, by: Sender, person: str) -> bool:
        """Return True for the person, and for admins and owners with no less rights."""
        return self._access.may_act_for(chat, by, person)

    def may_steer(self, sender: Sender, run: Run) -> bool:
        """Return True for the run's user, and for admins and owners with no less rights than that user."""
        return self._access.may_act_for(run.chat, sender, run.person)

    def may_stop(self, sender: Sender, run: Run) -> bool:
        """Return True for the run's user, admins and owners."""
        return sender.id == run.person or self._access.is_admin(run.chat, sender)

    def new_run(self, chat: Chat, first: InboxItem, *, in_group: bool) -> Run:
        """Return a new run for a message or for the end of a task."""
        event = first.event
        replied = event.reply_to if isinstance(event, TaskEnded) else None
        if isinstance(event, MessageReceived) and in_group:
            replied = event.message_id
        return Run(
            id=self.new_id(),
            chat=chat.key,
            session=chat.session,
            person=event.sender.id,
            started=self.clock.time(),
            reply_to=replied,
            model=first.model,
        )
