"""Reads what runs were asked, for the screens that list runs."""

from collections.abc import Sequence
from urllib.parse import quote

from agent_core.messages import AgentMessage, UserMessage, text_of
from channels.base import ChatKey, CommandInvoked, InboundEvent, MessageReceived
from channels.web.listing import MAIN
from gateway.admin.screen import Visit
from gateway.permissions.question_text import one_line, shown
from gateway.store.job import RUN
from gateway.store.rows import InboxItem, inbox_seqs
from gateway.store.run_records import RunRecord
from gateway.store.store import Store

MOST_WORDS = 90
"""Characters in a list."""


async def asked_of(store: Store, runs: Sequence[RunRecord], most: int = MOST_WORDS) -> dict[str, str]:
    """Return what each run was asked, in one line; for a job its text. Empty where nothing is stored of it."""
    said = await store.transcript.first_of([each.run for each in runs])
    numbers = {run: seqs[0] for run, message in said.items() if (seqs := inbox_seqs([message.id]))}
    heard = await store.run_records.all_heard(numbers.values())
    found = {}
    for each in runs:
        if (name := job_of(each.run)) and (job := await store.jobs.find(name)) is not None:
            words = job.words
        else:
            words = _words(said.get(each.run), heard.get(numbers.get(each.run, 0)))
        found[each.run] = one_line(shown(words), most)
    return found


def _words(said: AgentMessage | None, heard: InboxItem | None) -> str:
    """Return the words that began a run; a retry began with those that it answers again."""
    match heard.event if heard else None:
        case MessageReceived() as event:
            return event.words
        case CommandInvoked(name="retry"):
            return text_of(said.content) if isinstance(said, UserMessage) else ""
        case CommandInvoked() as event:
            return f"/{event.name} {event.arguments}"
        case _:
            return ""


async def place_of(store: Store, run: RunRecord, visit: Visit) -> str:
    """Return the address at which the chat shows the question; empty if the conversation is not the visitor's."""
    chat = chat_of(run)
    if chat.without_thread != visit.chat:
        return ""
    event = await _heard(store, run)
    at = f"?at={quote(event.message_id)}" if isinstance(event, MessageReceived | CommandInvoked) else ""
    return f"/{at}#{chat.thread or MAIN}"


async def _heard(store: Store, run: RunRecord) -> InboundEvent | None:
    """Return the event that began a run."""
    said = await store.transcript.messages_of(run.run, most=1)
    seqs = inbox_seqs([each.id for each in said])
    heard = await store.run_records.heard(seqs[0]) if seqs else None
    return heard.event if heard else None


def job_of(run: str) -> str:
    """Return the id of the job of a run; empty if it is of none."""
    return run.removeprefix(RUN).partition("-")[0] if run.startswith(RUN) else ""


def chat_of(run: RunRecord) -> ChatKey:
    """Return the chat of a run."""
    return ChatKey.parse(run.chat)
