"""Ends the runs of chats: with their answer, or, where they cannot be completed, with what they have answered."""

from collections.abc import Callable, Sequence

from agent_core.log_errors import Bulkhead
from agent_core.messages import AgentMessage
from agent_core.origin import CLEAN
from agent_core.reasons import TerminalReason
from channels.base import ChannelError, ChatKey, OutboundMessage, TaskEnded
from gateway.delivery.delivery import Delivery
from gateway.permissions.access import Access
from gateway.permissions.approvals import Approvals
from gateway.runs.answer import continue_buttons, finished_words, retry_buttons
from gateway.runs.owed import OwedWork
from gateway.runs.tasks.report import notice, plain_news
from gateway.runs.tasks.tasks import Tasks
from gateway.schedule.jobs.jobs import Jobs
from gateway.store.job import Job
from gateway.store.question import Question
from gateway.store.rows import InboxItem, Post, Run, RunEnd, Task, inbox_seqs
from gateway.store.store import Store
from gateway.texts.say import Language, say


class RunEnds:
    """Stores the end of a run and its last message in one transaction, then closes and delivers what depends on it."""

    def __init__(
        self,
        store: Store,
        delivery: Delivery,
        access: Access,
        approvals: Approvals,
        tasks: Tasks,
        *,
        jobs: Jobs,
        owed: OwedWork,
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._access = access
        self._approvals = approvals
        self._tasks = tasks
        self._jobs = jobs
        self._owed = owed

    async def over(self, run: Run) -> None:
        """Close the questions and tasks of a run that has ended."""
        await self._approvals.run_over(run.id)
        await self._tasks.run_over(run.id)

    async def deliver(self, run: Run, posts: Sequence[Post]) -> ChannelError | None:
        """Deliver the answer of a run whose end is recorded. Return the error if it was not sent whole."""
        await self.over(run)
        # Recorded before delivery, since a user may reply before the delivery is.
        self._access.spoke(run.chat)
        return await self._delivery.attempt(run.chat, posts)

    async def delivered(self, run: Run) -> None:
        """Do what follows an answer that has reached its chat."""
        await self._jobs.reached(run.chat)

    async def deliver_left(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Deliver posts that the previous process left unsent."""
        await self._delivery.deliver(chat, posts)

    async def give_up(self, run: Run, items: Sequence[InboxItem], why: str, language: Language) -> None:
        """End a run after an internal error, with an apology to the user.

        `items` are the messages that began it, if it was not resumed. Task reports among them are delivered too.
        """
        left = [post for post in await self._store.outbox.unsent() if post.run == run.id]
        if await self._store.runs.is_over(run.id):  # its answer is stored, or stands in the chat as a card
            await self.over(run)
            await self._delivery.deliver(run.chat, left)
            await self._owed.resume(run.chat)
            return
        said = await self._store.transcript.said_in(run)
        news = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
        sorry = OutboundMessage(
            markdown=say("error_fatal", language, run=run.id[:8]),
            reply_to=run.reply_to,
            buttons=retry_buttons(run, language),
        )
        told = finished_words(said) or plain_news(news or said, language)
        await self._end(run, sorry, told, RunEnd(TerminalReason.ERROR, "", why, items=_read(said, items)), items)

    async def set_aside(self, run: Run, said: Sequence[AgentMessage], language: Language) -> None:
        """End a run that crashed the program repeatedly at the same step; users may continue it."""
        words = say("set_aside", language)
        buttons = continue_buttons(run, language)
        sorry = OutboundMessage(markdown=words, reply_to=run.reply_to, buttons=buttons)
        told = finished_words(said) or plain_news(said, language)
        why = "the program died in the same step again and again"
        await self._end(run, sorry, told, RunEnd(TerminalReason.SET_ASIDE, "", why, items=_read(said)))

    async def lose(self, run: Run, language: Language) -> None:
        """End a run whose messages can no longer be read, so that there is nothing to go on with."""
        sorry = OutboundMessage(markdown=say("run_damaged", language), reply_to=run.reply_to)
        await self._end(run, sorry, (), RunEnd(TerminalReason.ERROR, "", "its messages cannot be read"))

    async def expel(self, knows: Callable[[ChatKey], bool]) -> tuple[Sequence[Question], Sequence[Task], Sequence[Job]]:
        """Close the questions, cancel the tasks and pause the jobs of users who may no longer speak; return them."""
        return await self._approvals.expel(knows), await self._tasks.expel(knows), await self._jobs.expel(knows)

    async def stop(self, run: Run, language: Language) -> None:
        """End a run that waits to be resumed, because a user has stopped it."""
        said = await self._store.transcript.said_in(run)
        how = RunEnd(TerminalReason.ABORTED, "", items=_read(said))
        if not said:  # its message still waits
            await self._store.runs.end(run, how, ())
            return
        words = finished_words(said)
        sorry = OutboundMessage(markdown=say("stopped_here" if words else "stopped", language), reply_to=run.reply_to)
        await self._end(run, sorry, words, how)

    async def revoke(self, run: Run, language: Language) -> None:
        """End a run that waits to be resumed, because its user may no longer speak."""
        said = await self._store.transcript.said_in(run)
        sorry = OutboundMessage(markdown=say("run_revoked", language), reply_to=run.reply_to)
        how = RunEnd(TerminalReason.ABORTED, "", items=_read(said))
        await self._end(run, sorry, finished_words(said), how)

    async def _end(
        self, run: Run, sorry: OutboundMessage, told: Sequence[str], end: RunEnd, items: Sequence[InboxItem] = ()
    ) -> None:
        """Store the end of the run and its final message, which replaces the progress message if one is shown."""
        words = "\n\n".join([*told, sorry.markdown])
        masked_channel = self._delivery.masked_channel(run.chat)
        parts: Sequence[OutboundMessage] = ()
        with Bulkhead("words of a run that failed"):
            parts = masked_channel.split(sorry.model_copy(update={"markdown": words}))
        parts = parts or masked_channel.split(sorry)  # the run's own text may be what cannot be split
        shown = await self._store.outbox.find(f"{run.id}:progress:0")
        edited = shown.message_id if shown else None
        posts = [
            Post(f"{run.id}:error:{number}", run.id, run.chat, part, CLEAN, message_id=None if number else edited)
            for number, part in enumerate(parts)
        ]
        settled = [item.seq for item in items]
        owed = await self._store.runs.end(run, end, posts, settled, self._owed.at_end(run, end))
        await self.over(run)
        await self._delivery.deliver(run.chat, posts)
        self._owed.begin(owed)


def _read(said: Sequence[AgentMessage], items: Sequence[InboxItem] = ()) -> tuple[int, ...]:
    """Return the numbers of the inbox items that a run has read, or began with."""
    return tuple(sorted({*inbox_seqs([each.id for each in said]), *(item.seq for item in items)}))
