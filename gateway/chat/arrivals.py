"""The entrance of a chat's mailbox: what keeps messages from coming in, and in which order they come in then."""

from collections.abc import Callable, Sequence

from channels.base import ScheduleFired, TaskEnded
from gateway.chat.holds import Hold, Why
from gateway.chat.mailbox import Mailbox
from gateway.chat.open_commands import OpenCommands
from gateway.store.rows import InboxItem


class Arrivals:
    """Keeps messages behind the commands in progress when they came, then behind a history gap.

    Methods return the messages that come in by what has happened: to steer a run, or to wait for one of their own.
    """

    def __init__(self, mail: Mailbox, has_gap: Callable[[], bool]) -> None:
        """`has_gap` returns True if messages that arrive now have to wait for older ones."""
        self._mail = mail
        self._has_gap = has_gap
        self._commands = OpenCommands()
        self._gap: Hold | None = None
        """Held while messages wait for a gap, and for the commands that were in progress when it had been read: they
        may hold older messages from the history."""
        self._gap_behind: int | None = None
        """The last of those commands; None until the gap has been read."""

    @property
    def has_commands(self) -> bool:
        """True while commands are in progress."""
        return bool(self._commands.open)

    @property
    def await_gap(self) -> bool:
        """True if messages wait for a gap to be read; then tell `gap_read`."""
        return self._gap is not None and self._gap_behind is None

    def receive(self, item: InboxItem, *, passes_gap: bool = False) -> Sequence[InboxItem]:
        """Let a message come in, unless it has to wait. `passes_gap`: it does not wait for a gap."""
        if not self._commands.open:
            return self._past_commands([item], pass_gap=passes_gap)
        self._mail.hold(item, self._commands.newest)
        return ()

    def begin(self, why: Why) -> Hold:
        """Keep later messages while a command is in progress. It passes the queue, but not earlier messages."""
        return self._mail.holds.set(Hold(why, number=self._commands.begin()))

    def end(self, command: Hold) -> Sequence[InboxItem]:
        """Let the messages come in before which no command is in progress any more, though later ones may be."""
        self._commands.end(command.number)
        self._mail.holds.lift(command)
        return [*self._past_commands(self._mail.release(self._commands.over)), *self._past_gap()]

    def gap_read(self) -> Sequence[InboxItem]:
        """Let the messages come in that waited for a gap, once the commands in progress are over."""
        if self._gap_behind is None:
            self._gap_behind = self._commands.newest
        return self._past_gap()

    def hold(self, item: InboxItem) -> Hold:
        """Keep a message, and those after it, until it is known if it answers a question. Give the hold to `end`."""
        hold = self.begin(Why.QUESTION)
        self._mail.hold(item, hold.number)
        return hold

    def unhold(self, item: InboxItem) -> bool:
        """Remove a held message that answers a question. Return False if it was edited meanwhile and does not."""
        held = self._mail.unhold(item.seq)
        if held is None or held == item:
            return held is not None
        self.hold_again(held)
        return False

    def hold_again(self, item: InboxItem) -> None:
        """Keep a message that turned out not to be an answer, until the commands before it are over."""
        self._mail.hold(item, self._commands.newest)

    def _past_commands(self, items: Sequence[InboxItem], *, pass_gap: bool = False) -> Sequence[InboxItem]:
        """Keep those of the messages that have to wait for a gap, and return the others."""
        let_in = list[InboxItem]()
        for item in items:
            passes = pass_gap or isinstance(item.event, TaskEnded | ScheduleFired)
            if passes or not (self._gap or self._has_gap()):
                let_in.append(item)
            else:
                self._gap = self._gap or self._mail.holds.set(Hold(Why.GAP))
                self._mail.stand_above(item)
        return let_in

    def _past_gap(self) -> Sequence[InboxItem]:
        if self._gap is None or self._gap_behind is None or self._gap_behind > self._commands.over:
            return ()
        self._gap_behind = None
        if self._has_gap():  # another one has opened meanwhile
            return ()
        self._mail.holds.lift(self._gap)
        self._gap = None
        return self._mail.take_above()
