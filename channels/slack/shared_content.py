"""Content in attachments of Slack's messages: cards of apps, link previews, shared messages with their files."""

import re
from collections.abc import Iterator

from channels.attachments import Attachment
from channels.slack.blocks import block_words
from channels.slack.files import attachment_of, described, enclosed_in, not_here, shown_name
from channels.slack.kinds import TYPED
from channels.slack.mentions import Names, readable
from channels.slack.wire import LegacyAttachment, Message
from channels.text import linked

_NO_PREVIEW = "[no preview available]"
"""Fallback of shared messages, which says nothing of them."""
_PROFILE = re.compile(r"https://[\w.-]+\.slack\.com/team/")
"""The address of a person in Slack, which shared messages name as well."""


def attachment_words(attachment: LegacyAttachment, names: Names) -> str:
    """Return the text of an app's card, a link preview or a shared message, preceded by its author, with its addresses
    and what it carries itself."""
    words = [*filter(None, _words(attachment, names))]
    links = [*filter(None, _links(attachment))]
    inner = [*filter(None, (attachment_words(each, names) for each in attachment.inner))]
    fallback = readable(attachment.fallback, names)
    if not words and (fallback != _NO_PREVIEW or not (links or inner)):
        words = [fallback if fallback != _NO_PREVIEW else attachment.from_url or fallback]
    shown = "\n".join(filter(None, (*words, *links, readable(attachment.footer, names), *inner)))
    return f"From {attachment.author_name}:\n{shown}" if attachment.author_name and shown else shown


def _words(attachment: LegacyAttachment, names: Names) -> Iterator[str]:
    title = readable(attachment.title, names)
    yield readable(attachment.pretext, names)
    address = attachment.title_link or attachment.from_url
    yield linked(title, address) if title and address else title
    yield _said(attachment, names)
    for field in attachment.fields:
        yield readable(f"{field.title}: {field.value}".strip(": "), names)


def _said(attachment: LegacyAttachment, names: Names) -> str:
    """Return the text, or the blocks if they may contain more."""
    text = readable(attachment.text, names)
    quoted = (readable(each.text, names) for each in attachment.quoted)
    if text and all(block.get("type") in TYPED for block in attachment.all_blocks):
        return text
    return block_words(attachment.all_blocks, names) or text or "\n".join(filter(None, quoted))


def _links(attachment: LegacyAttachment) -> Iterator[str]:
    yield attachment.image_url or attachment.thumb_url
    if attachment.author_link and not _PROFILE.match(attachment.author_link):
        yield attachment.author_link
    for action in attachment.actions:
        yield linked(action.text, action.url) if action.url else ""
    for file in attachment.all_files:
        yield not_here(file) or described(file) or f"[{shown_name(file)}]"


def files_of(message: Message, names: Names) -> Iterator[Attachment]:
    for file in message.files:
        if found := attachment_of(file, message.user, names):
            yield found
        yield from enclosed_in(file)
    for shared in message.attachments:
        yield from _shared_files(shared, shared.author_name, names)


def _shared_files(shared: LegacyAttachment, author: str, names: Names) -> Iterator[Attachment]:
    """Yield the files of an attachment and of those inside, as those of their author."""
    for file in shared.all_files:
        found = attachment_of(file, "", names)
        if found is not None:
            yield found.model_copy(update={"by": found.by or author or "somebody"})
        yield from enclosed_in(file)
    for inner in shared.inner:
        yield from _shared_files(inner, inner.author_name or author, names)
