"""Reads what runs were asked, for the screens that list runs."""

from channels.base import ChatKey, CommandInvoked, MessageReceived
from gateway.permissions.question_text import one_line, shown
from gateway.store.rows import inbox_seqs
from gateway.store.run_records import RunRecord
from gateway.store.store import Store

MOST_WORDS = 90
"""Characters in a list."""


async def asked_of(store: Store, run: RunRecord, most: int = MOST_WORDS) -> str:
    """Return what a run was asked, in one line; for a job its text. Empty if nothing is stored of it."""
    if (name := job_of(run.run)) and (job := await store.jobs.find(name)) is not None:
        return one_line(shown(job.words), most)
    said = await store.transcript.messages_of(run.run, most=1)
    seqs = inbox_seqs([each.id for each in said])
    heard = await store.run_records.heard(seqs[0]) if seqs else None
    match heard and heard.event:
        case MessageReceived() as event:
            return one_line(shown(event.words), most)
        case CommandInvoked() as event:
            return one_line(shown(f"/{event.name} {event.arguments}"), most)
        case _:
            return ""


def job_of(run: str) -> str:
    """Return the id of the job of a run; empty if it is of none."""
    kind, _, rest = run.partition("-")
    return rest.partition("-")[0] if kind == "job" else ""


def chat_of(run: RunRecord) -> ChatKey:
    """Return the chat of a run."""
    return ChatKey.parse(run.chat)
