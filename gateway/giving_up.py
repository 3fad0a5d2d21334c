"""Ending a run that cannot be driven to its end."""

from collections.abc import Sequence

from agent_core.messages import Usage
from agent_core.reasons import TerminalReason
from channels.base import OutboundMessage, TaskEnded
from gateway.desk import Desk
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.tasks.report import notice, plain_news
from gateway.texts import Language, say


async def give_up(desk: Desk, run: Run, items: Sequence[InboxItem], why: str, language: Language) -> None:
    """With a word to the person, in the place of its progress if that is to be seen; `items` is what it was begun for,
    where it was not resumed. The news of tasks that it was to tell are told."""
    shown = await desk.store.find_post(f"{run.id}:progress:0")
    news = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
    told = plain_news(news or await desk.store.said_in(run), language)
    words = "\n\n".join([*told, say("error_fatal", language, run=run.id[:8])])
    parts = desk.delivery.voice(run.chat).split(OutboundMessage(markdown=words, reply_to=run.reply_to))
    edited = shown.message_id if shown else None
    posts = [
        Post(f"{run.id}:error:{number}", run.id, run.chat, part, message_id=None if number else edited)
        for number, part in enumerate(parts)
    ]
    end = RunEnd(TerminalReason.ERROR, Usage(), "", why)
    await desk.store.end_run(run, end, posts, [item.seq for item in items])
    await desk.run_over(run.id)
    await desk.delivery.deliver(run.chat, posts)
