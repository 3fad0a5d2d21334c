"""What Slack's messages carry in attachments: cards of apps, link previews, and shared messages with their files."""

from collections.abc import Iterator

from channels.attachments import Attachment
from channels.slack.blocks import block_words
from channels.slack.files import attachment_of, shown_name
from channels.slack.mentions import Names, readable
from channels.slack.wire import LegacyAttachment, Message


def attachment_words(attachment: LegacyAttachment, names: Names) -> str:
    """Return the text of an app's card, a link preview or a shared message, preceded by its author."""
    said = attachment.text or block_words(attachment.all_blocks, names)
    title = " ".join(filter(None, (attachment.title, f"({attachment.title_link})" if attachment.title_link else "")))
    fields = (f"{field.title}: {field.value}".strip(": ") for field in attachment.fields)
    files = (f"[{shown_name(file)}]" for file in attachment.files)
    lines = [attachment.pretext, title, said, *fields, *files]
    shown = "\n".join(readable(line, names) for line in lines if line) or readable(attachment.fallback, names)
    return f"{attachment.author_name}: {shown}" if attachment.author_name and shown else shown


def files_of(message: Message, names: Names) -> Iterator[Attachment]:
    own = (attachment_of(file, message.user, names) for file in message.files)
    yield from filter(None, own)
    for shared in message.attachments:
        for file in shared.files:
            found = attachment_of(file, "", names)
            if found is not None:
                yield found.model_copy(update={"by": found.by or shared.author_name or "somebody"})
