"""Sources of untrusted input: those of a row of a chat's history, and their names for people."""

import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from agent_core.late_pattern import LatePattern
from agent_core.origin import CLEAN, DATA, NOT_KNOWN, Origin, joined
from agent_core.origin import named as from_sources
from agent_core.sources import UNKNOWN, parted, person, sent
from agent_core.untrusted import SOMEBODY, name_of
from channels.attachments import Attachment
from channels.base import ChatKey, InboundEvent, MessageEdited, MessageReceived, Sender
from gateway.store.question import Grounds, Question
from gateway.store.rows import Post
from gateway.store.store import Store
from gateway.texts.say import Language, has_text, say

_QUOTED = LatePattern(r"([^:\n]{1,60}):(?=\s|$)")
_SHARED = LatePattern(r"(?:Forwarded from|From) ([^:\n]{1,60}):(?:\n|$)")
"""The line with the author, before a shared text. Other lines with a colon, as of a card's fields, name nobody."""
_WORD = LatePattern(
    r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,32}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,4}"
)
"""A name of one word; where words have no spaces between them, of four characters."""
MOST = 3
"""Most sources named in one sentence."""
KINDS = frozenset({"page", "search", "file", "sent", "person", "server", "network", "hook"})
_LOUD = str.maketrans(dict.fromkeys("*_`[]()<>~#|\\", " "))
"""Characters with a meaning in some Markdown dialect. Without them a source's name cannot pose as Parley's text."""


def speaker_of(quoted: str) -> str:
    """Return the source for the speaker of a quoted message, which channels tell as `Eve: text`."""
    return _person(_QUOTED.match(quoted))


def author_of(shared: str) -> str:
    """Return the source for the author of a shared text, which channels tell as `From Eve:` above it."""
    return _person(_SHARED.match(shared))


def _person(named: re.Match[str] | None) -> str:
    return person(named[1].strip()) if named else UNKNOWN


def origin_of_event(event: MessageReceived | MessageEdited) -> Origin:
    """Return the origin of what a message or an edit forwards or attaches; its own text is its sender's."""
    files = event.attachments if isinstance(event, MessageReceived) else ()
    shared = from_sources(author_of(event.shared)) if event.shared else CLEAN
    return joined([shared, *map(origin_of_file, files)])


def origin_of_names(event: InboundEvent, is_trusted: Callable[[ChatKey, Sender], bool]) -> Origin:
    """Return the origin of the names that stand in a text for mentions: anybody may take a name that tells something.

    A name of one word tells nothing.
    """
    told = (each for each in event.named if not (_WORD.fullmatch(each.name) or is_trusted(event.chat, each)))
    return joined(from_sources(person(each.name)) for each in told)


def with_plain_names(text: str, event: InboundEvent, is_trusted: Callable[[ChatKey, Sender], bool]) -> str:
    """Return text of an event with names for mentions of people with rights as a model reads names.

    Those of others stay, see `origin_of_names`.
    """
    for each in event.named:
        plain = plain_name(each.name)
        if plain != each.name and each.name.strip() and is_trusted(event.chat, each):
            text = text.replace(each.name, plain)
    return text


def plain_name(name: str) -> str:
    """Return a name as a model reads it, to which it tells nothing else."""
    return name_of(name) or SOMEBODY


def origin_of_file(file: Attachment) -> Origin:
    """Return the origin of a file that somebody sends: data, whose author is named where it is somebody else."""
    return from_sources(sent(file.by, file.safe_name)) if file.by else DATA


async def origin_of_post(store: Store, post: Post) -> Origin:
    """Return the origin of one of Parley's messages: its own, and that of its session up to that message."""
    if not post.run:  # posted by a tool: its key begins with its session
        return (post.origin or CLEAN) | await store.transcript.session_origin(post.key.partition(":")[0])
    ran = (await store.transcript.origins([post.run])).get(post.run)
    if post.origin is not None:
        return post.origin | (ran or CLEAN)
    firing = await store.firings.named(post.run)
    return joined([ran, firing.origin if firing else CLEAN]) if ran else firing.origin if firing else NOT_KNOWN


def named(sources: Sequence[str], language: Language) -> str:
    """Return the sources as a phrase, such as `example.com and report.pdf that Bob sent`, or "strangers" for none."""
    words = list(dict.fromkeys(_one(source, language) for source in sources))
    if len(words) > MOST:
        words = [*words[: MOST - 1], say("source_more", language, count=len(words) - MOST + 1)]
    return say("source_and", language).join(words) if words else say("source_unknown", language)


def named_origin(origin: Origin, language: Language) -> str:
    """Return an origin that is not clean as a phrase."""
    return named(origin.sources, language) if origin.is_tainted else say("source_data", language)


def reasons(question: Question, language: Language) -> list[str]:
    """Return sentences that say why an approval is asked for."""
    grounds = Grounds.parse(question.grounds)
    facts = named(grounds.sources, language)
    return [say(key, language, sources=facts) for key in grounds.why if has_text(key)]


def _one(source: str, language: Language) -> str:
    kind, name = parted(source)
    if kind not in KINDS:
        return say("source_unknown", language)
    if kind == "page":
        name = urlsplit(f"//{name}").netloc
    by, _, sent = name.partition(":")
    by, sent, name = (" ".join(each.translate(_LOUD).split())[:60] for each in (by, sent, name))
    return say(f"source_{kind}", language, name=sent if kind == "sent" else name, by=by)
