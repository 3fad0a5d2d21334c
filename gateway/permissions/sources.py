"""Sources of untrusted input: those of a row of a chat's history, and their names for people."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_core.sources import UNKNOWN, Sources, parted, person, sent, union
from channels.base import MessageEdited, MessageReceived
from gateway.store.question import Grounds, Question
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import Language, say

_FORWARDED = re.compile(r"(?:Forwarded from )?([^:\n]{1,60}):")
MOST = 3
"""Most sources named in one sentence."""
KINDS = frozenset({"page", "search", "file", "sent", "person", "server", "network"})
_LOUD = str.maketrans(dict.fromkeys("*_`[]()<>~#|\\", " "))
"""Characters with a meaning in some Markdown dialect. Without them a source's name cannot pose as Parley's text."""


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


def named(sources: Sequence[str], language: Language) -> str:
    """Return the sources as a phrase, such as `example.com and report.pdf that Bob sent`, or "strangers" for none."""
    words = list(dict.fromkeys(_one(source, language) for source in sources))
    if len(words) > MOST:
        words = [*words[: MOST - 1], say("source_more", language, count=len(words) - MOST + 1)]
    return say("source_and", language).join(words) if words else say("source_unknown", language)


def reasons(question: Question, language: Language) -> list[str]:
    """Return sentences that say why an approval is asked for."""
    grounds = Grounds.parse(question.grounds)
    return [say(key, language, sources=named(grounds.sources, language)) for key in grounds.why]


def _one(source: str, language: Language) -> str:
    kind, name = parted(source)
    if kind not in KINDS:
        return say("source_unknown", language)
    if kind == "page":
        name = urlsplit(f"//{name}").netloc
    by, _, sent = name.partition(":")
    by, sent, name = (" ".join(each.translate(_LOUD).split())[:60] for each in (by, sent, name))
    return say(f"source_{kind}", language, name=sent if kind == "sent" else name, by=by)
