"""Selects the messages that begin a chat's next run."""

import asyncio
import math

from channels.base import MessageReceived, TaskEnded
from gateway.background.waits import set_within
from gateway.chat.desk import Desk
from gateway.chat.mailbox import Mailbox
from gateway.store.rows import Chat, InboxItem, Run


async def next_turn(desk: Desk, mail: Mailbox, news: asyncio.Event) -> list[InboxItem]:
    """Take the messages of the next run out of the mailbox, waiting until their sender's rate limit allows a run.

    While one user waits, others in the chat do not. `news` is set when a message enters or leaves the mailbox. Return
    an empty list if no messages wait or the program is draining.
    """
    while not desk.drain.is_on and (turns := mail.turns()):
        soonest = math.inf
        for items in turns:
            if not (wait := desk.pace.turn_wait(items)):
                mail.take(items)
                return items
            soonest = min(soonest, wait)
        news.clear()
        await set_within(news, soonest, desk.clock)
    return []


def new_run(desk: Desk, chat: Chat, first: InboxItem, *, in_group: bool) -> Run:
    """Return a new run for a message or for the end of a task."""
    event = first.event
    replied = event.reply_to if isinstance(event, TaskEnded) else None
    if isinstance(event, MessageReceived) and in_group:
        replied = event.message_id
    return Run(
        id=desk.new_id(),
        chat=chat.key,
        session=chat.session,
        person=event.sender.id,
        started=desk.clock.time(),
        reply_to=replied,
    )
