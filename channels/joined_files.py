"""Files that go with one message, on platforms that show several in one."""

from collections.abc import Callable, Sequence

from channels.attachments import Attachment
from channels.base import OutboundMessage


def joined_files(
    parts: Sequence[OutboundMessage], fits: Callable[[Sequence[Attachment]], bool]
) -> tuple[OutboundMessage, ...]:
    """Join parts that follow each other with files and nothing else, but for the words of the first.

    Parts with buttons stay alone; `fits` returns True for files that may go with one message.
    """
    joined: list[OutboundMessage] = []
    for part in parts:
        before = joined[-1] if joined else None
        if before is not None and _goes_on(before, part) and fits(files := (*before.attachments, *part.attachments)):
            joined[-1] = before.model_copy(update={"attachments": files})
        else:
            joined.append(part)
    return tuple(joined)


def _goes_on(before: OutboundMessage, part: OutboundMessage) -> bool:
    bare = not (before.buttons or part.buttons or part.markdown.strip())
    return bool(before.attachments and part.attachments) and bare
