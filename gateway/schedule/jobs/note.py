"""Tells a chat's agent about messages that were posted there without it. Without I/O."""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from agent_core.messages import NotificationMessage
from agent_core.untrusted import harmless
from channels.attachments import Attachment
from gateway.store.job import CheckIn, DeliveryState, Firing, FiringState, Job, Reminder
from gateway.store.rows import InboxItem, message_id
from gateway.timing.words import slot_words

KIND = "job"


def note_of(item: InboxItem, job: Job, firing: Firing, words: str, files: Sequence[Attachment]) -> NotificationMessage:
    """Return the note about a firing, with the id of its inbox item, so that appending it marks the item as done.

    `words` is the text as users read it.
    """
    when = slot_words(firing.due, ZoneInfo(job.zone), "en", firing.due)
    held = " It waits for the end of their quiet hours." if firing.delivery is DeliveryState.HELD else ""
    names = ", ".join(harmless(file.name) for file in files)
    sent = f" With it went these files: {names}." if names else ""
    return NotificationMessage(
        id=message_id(item),
        created_at=firing.ended or firing.due,
        kind=KIND,
        text=f"You have posted this here by yourself: {_what(job, firing)} ({job.id}), due {when}.{sent}{held} "
        "What the person says next may be about it:",
        data={"job": job.id, "firing": firing.id},
        quoted=words,
        untrusted=firing.untrusted,
        sources=firing.after,
        to_model=True,
    )


def _what(job: Job, firing: Firing) -> str:
    if firing.state is FiringState.FAILED:
        return "the news that a scheduled job failed"
    match job.work:
        case Reminder():
            return "a reminder"
        case CheckIn():
            return "a check-in"
        case _:
            return "a scheduled report"
