"""Sources of the text in one row of a chat's history: a user's message, or one of Parley's."""

import re

from agent_core.sources import UNKNOWN, Sources, person, sent, union
from channels.base import MessageEdited, MessageReceived
from gateway.store.rows import Post
from gateway.store.store import Store

LONGEST_NAME = 60
_FORWARDED = re.compile(r"(?:Forwarded from )?([^:\n]{1,60}):")


def speaker_of(words: str) -> str:
    """Return the source for the speaker of quoted text such as `Eve: text` or `Forwarded from Eve: text`."""
    named = _FORWARDED.match(words)
    return person(named[1].strip()) if named else UNKNOWN


def sources_of_event(event: MessageReceived | MessageEdited) -> Sources:
    """Return the sources of what a message or an edit quotes, forwards or attaches.

    Its own text adds none: the sender is authorised.
    """
    shared = [speaker_of(event.shared)] if event.shared else []
    files = event.attachments if isinstance(event, MessageReceived) else ()
    return union(shared, (sent(file.by, file.safe_name) for file in files if file.by))


async def sources_of_post(store: Store, post: Post) -> Sources:
    """Return the sources that one of Parley's messages may draw on: those of its session, up to that message."""
    if not post.run:  # posted by a tool: its key begins with its session
        return await store.transcript.session_sources(post.key.partition(":")[0])
    firing = await store.firings.named(post.run)
    ran = (await store.transcript.sources([post.run])).get(post.run, ())
    if firing is None and ":proactive:" in post.key and not ran:
        return (UNKNOWN,)  # several reports told in one message
    return union(ran, firing.after if firing else ())
