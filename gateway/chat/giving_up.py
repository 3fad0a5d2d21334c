"""Ends runs that cannot be completed, still delivering what they have answered."""

from collections.abc import Sequence

from agent_core.bulkheads import Bulkhead
from agent_core.messages import AgentMessage
from agent_core.reasons import TerminalReason
from agent_core.subagents import usage_of
from channels.base import OutboundMessage, TaskEnded
from gateway.chat.desk import Desk
from gateway.runs.answer import continue_buttons, finished_words, retry_buttons
from gateway.runs.tasks.report import notice, plain_news
from gateway.store.rows import InboxItem, Post, Run, RunEnd
from gateway.texts.say import Language, say


async def give_up(desk: Desk, run: Run, items: Sequence[InboxItem], why: str, language: Language) -> None:
    """End a run after an internal error, with an apology to the user.

    `items` are the messages that began it, if it was not resumed. Task reports among them are delivered too.
    """
    left = [post for post in await desk.store.outbox.unsent() if post.run == run.id]
    if await desk.store.outbox.find(f"{run.id}:answer:0") is not None:  # it has ended, and its answer is stored
        await desk.run_over(run.id)
        await desk.delivery.deliver(run.chat, left)
        return
    said = await desk.store.transcript.said_in(run)
    news = [notice(item, item.event) for item in items if isinstance(item.event, TaskEnded)]
    sorry = OutboundMessage(
        markdown=say("error_fatal", language, run=run.id[:8]),
        reply_to=run.reply_to,
        buttons=retry_buttons(run, language),
    )
    told = finished_words(said) or plain_news(news or said, language)
    await _end(desk, run, sorry, told, RunEnd(TerminalReason.ERROR, usage_of(said), "", why), items)


async def set_aside(desk: Desk, run: Run, said: Sequence[AgentMessage], language: Language) -> None:
    """End a run that crashed the program repeatedly at the same step; users may continue it."""
    words = say("set_aside", language)
    buttons = continue_buttons(run, language)
    sorry = OutboundMessage(markdown=words, reply_to=run.reply_to, buttons=buttons)
    told = finished_words(said) or plain_news(said, language)
    why = "the program died in the same step again and again"
    await _end(desk, run, sorry, told, RunEnd(TerminalReason.SET_ASIDE, usage_of(said), "", why))


async def _end(
    desk: Desk, run: Run, sorry: OutboundMessage, told: Sequence[str], end: RunEnd, items: Sequence[InboxItem] = ()
) -> None:
    """Store the end of the run and its final message, which replaces the progress message if one is shown."""
    words = "\n\n".join([*told, sorry.markdown])
    voice = desk.delivery.voice(run.chat)
    parts: Sequence[OutboundMessage] = ()
    with Bulkhead("words of a run that failed"):
        parts = voice.split(sorry.model_copy(update={"markdown": words}))
    parts = parts or voice.split(sorry)  # the run's own text may be what cannot be split
    shown = await desk.store.outbox.find(f"{run.id}:progress:0")
    edited = shown.message_id if shown else None
    posts = [
        Post(f"{run.id}:error:{number}", run.id, run.chat, part, message_id=None if number else edited)
        for number, part in enumerate(parts)
    ]
    await desk.store.runs.end(run, end, posts, [item.seq for item in items])
    await desk.run_over(run.id)
    await desk.delivery.deliver(run.chat, posts)
