"""Stops the work of a chat's session: for a user, or because users lost the right to speak."""

from collections.abc import Sequence

from msgspec import Struct

from channels.base import Sender
from gateway.chat.conversation import Conversation
from gateway.chat.current_run import CurrentRun
from gateway.chat.mailbox import Mailbox
from gateway.chat.open_runs import OpenRuns
from gateway.chat.run import ChatRuns
from gateway.chat.turns import Turns
from gateway.runs.stop_and_continue import Stopped
from gateway.store.rows import InboxItem, Run


class Halted(Struct, frozen=True):
    """Work that a user has stopped, but that is not settled yet."""

    what: Stopped
    dropped: Sequence[InboxItem]
    left: Sequence[Run]
    """Runs of the previous process, which were not resumed and have not ended yet."""


class Expelled(Struct, frozen=True):
    """The work that a session has ended for users who lost the right to speak."""

    stopped: Run | None
    left: Sequence[Run]
    """Runs of the previous process, which were not resumed and have not ended yet."""
    messages: Sequence[InboxItem]


class Stops:
    """Ends the runs of one chat and drops messages that are not to be answered any more."""

    def __init__(
        self,
        conversation: Conversation,
        runs: ChatRuns,
        turns: Turns,
        *,
        mail: Mailbox,
        current: CurrentRun,
        open_runs: OpenRuns,
    ) -> None:
        self._conversation = conversation
        self._runs = runs
        self._turns = turns
        self._mail = mail
        self._current = current
        self._open = open_runs
        self.is_cut_short = False
        """A stop has cut short agent work begun by a command, whose reply reports it."""

    def can_stop(self, sender: Sender) -> bool:
        """Return True if there is a run that the user may stop."""
        return self._current.may_be_stopped_by(sender) or self._open.is_paused_for(sender.id)

    def can_still_end(self, run: str) -> bool:
        """Return True if a run goes on, or waits. `run` is a prefix of its id."""
        return any(each.id.startswith(run) for each in (*self._running, *self._open.paused))

    def cut_short(self, by: Sender) -> None:
        """Abort agent work begun by an earlier command, such as a summary; a stop does not wait for it."""
        agent, key = self._conversation.agent_in_memory, self._conversation.key
        may = not self._conversation.channel.is_group(key) or self._turns.access.is_admin(key, by)
        if self._current.run is None and agent is not None and agent.is_running and may:
            self.is_cut_short = True
            agent.abort()

    async def stop(self, by: Sender) -> Stopped:
        """Stop the run and drop its user's later messages. Raises PermissionError if it is another user's run."""
        was_cut_short, self.is_cut_short = self.is_cut_short, False
        if self._open.is_paused_for(by.id) and not self._may_stop_all(by):  # somebody else's run goes on
            halted = Halted(Stopped.RUN, self._mail.drop(by.id, with_given=False), self._take_paused(by))
        else:
            halted = self._halt(by)
        await self._settle(halted)
        return Stopped.RUN if was_cut_short else halted.what

    async def renew(self, by: Sender) -> None:
        """Stop the run and begin a new conversation. Raises PermissionError as `stop` does."""
        await self.resume(by, self._turns.new_id())

    async def resume(self, by: Sender, session: str) -> None:
        """Stop the run and go on with another session of this chat. Raises PermissionError as `stop` does."""
        await self._conversation.settings()
        halted = self._halt(by)
        # At once, so that nothing more begins in the old session; the stopped run ends there.
        await self._conversation.switch(session)
        await self._settle(halted)
        await self._current.stopped()

    async def end_run(self, by: Sender) -> None:
        """Stop the run and wait until it is over. Raises PermissionError as `stop` does."""
        await self._settle(self._halt(by))
        await self._current.stopped()

    async def cut_off_run(self) -> None:
        """Stop the run for its message to be answered again, and wait until it is over; later messages still wait.

        The caller checks the right.
        """
        if self._current.is_open:
            self._abort()
        await self._settle(Halted(Stopped.NOTHING, (), self._open.take_restored()))
        await self._current.stopped()

    def may_cut_off_run(self, by: Sender) -> bool:
        """Return True unless there is a run with whose rights the user may not act."""
        runs = [*self._open.restored, *([self._current.run] if self._current.run is not None else [])]
        return all(self._turns.may_steer(by, run) for run in runs)

    def expel(self) -> Expelled:
        """Stop the run and drop the messages of users who may no longer speak here. The caller settles them."""

        def is_out(person: str) -> bool:
            return not self._turns.access.may_speak(self._conversation.key, Sender(id=person, name=""))

        left = self._open.take(lambda run: is_out(run.person))
        run = self._current.run if self._current.is_open else None
        stopped = run if run is not None and is_out(run.person) else None
        if stopped is not None:
            self._abort()
        return Expelled(stopped, left, self._mail.expel(is_out))

    # Implementation

    @property
    def _running(self) -> Sequence[Run]:
        """The run that can still be stopped, and those of the previous process."""
        run = self._current.run if self._current.is_open else None
        return [*self._open.restored, *([run] if run is not None else [])]

    def _may_stop_all(self, by: Sender) -> bool:
        return all(self._turns.may_stop(by, run) for run in self._running)

    def _take_paused(self, by: Sender) -> list[Run]:
        """Remove and return the paused runs that a user stops: their own, those of others only while nothing runs."""
        is_quiet = not self._running
        return self._open.take_paused(lambda run: run.person == by.id or (is_quiet and self._turns.may_stop(by, run)))

    def _halt(self, by: Sender) -> Halted:
        """Abort the run and drop the messages that are not to be answered any more."""
        if not self._may_stop_all(by):
            raise PermissionError(by.id)
        is_open = self._current.is_open
        paused = self._take_paused(by)
        left = [*self._open.take_restored(), *paused]
        dropped = self._mail.drop(by.id, with_given=is_open)
        if is_open:
            self._abort()
        waiting = Stopped.WAITING if dropped else Stopped.NOTHING
        return Halted(Stopped.RUN if is_open or left else waiting, dropped, left)

    async def _settle(self, halted: Halted) -> None:
        await self._conversation.settle(halted.dropped)
        for run in halted.left:
            await self._runs.ends.stop(run, await self._conversation.language_for(run.person))

    def _abort(self) -> None:
        self._current.stop()
        if (agent := self._conversation.agent_in_memory) is not None:
            agent.queues.clear_steering()
            agent.abort()
