"""Rendering of messages for a terminal with styles. Imported dynamically, only if there is such a terminal."""

import io
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from channels.base import Attachment, OutboundMessage
from channels.fences import Fences
from channels.terminal.abilities import Abilities
from channels.terminal.markdown import Answer
from channels.terminal.picture import blocks
from channels.terminal.text import choices, safe

STYLES = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic",
        "markdown.h5": "italic",
        "markdown.h6": "italic",
        "markdown.code": "cyan",
        "markdown.code_block": "cyan",
        "markdown.block_quote": "italic",
        "markdown.item.bullet": "none",
        "markdown.hr": "dim",
        "markdown.link": "none",
        "markdown.link_url": "underline",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
    }
)
PICTURE_SHARE = 3 / 4
"""Largest share of the terminal's height."""
NEWEST = 8_000
"""Characters of an unfinished answer that are rendered, more than a screen shows."""
_PADDING = re.compile(r" +(?=(?:\x1b\[[0-9;]*m)*$)", re.MULTILINE)


class Drawing:
    """Renderer for one terminal."""

    def __init__(self, able: Abilities) -> None:
        self._able = able

    def settled(self, message: OutboundMessage, columns: int, rows: int) -> str:
        """Render a final message with escape sequences. Blocking."""
        return self._drawn(self._parts(message, columns, rows), columns)

    def live(self, messages: Sequence[OutboundMessage], columns: int, rows: int) -> str:
        """Render the newest lines of messages in progress, with colours but no other sequences."""
        text = self._drawn([Answer(_newest(each.markdown), hyperlinks=False) for each in messages], columns)
        lines = text.splitlines()
        return "\n".join(lines if len(lines) <= rows else ["…", *lines[1 - rows :]])

    def _parts(self, message: OutboundMessage, columns: int, rows: int) -> Iterator[RenderableType]:
        if message.markdown:
            yield Answer(message.markdown, hyperlinks=self._able.links)
        for number, file in enumerate(message.attachments):
            if number or message.markdown:
                yield Text()
            yield self._file(file)
            picture = None
            if file.is_image and self._able.colours != "standard":
                picture = blocks(file.path, columns, round(rows * PICTURE_SHARE))
            if picture is not None:
                yield picture
        below = choices(message)
        if below:
            yield Text("\n".join(["", *below]))

    def _file(self, file: Attachment) -> Text:
        path = safe(file.path)
        style = Style(underline=True, link=_address(file.path)) if self._able.links else Style()
        return Text.assemble(f"[{file.safe_name}: ", (path, style), "]", overflow="fold")

    def _drawn(self, parts: Iterator[RenderableType] | Sequence[RenderableType], columns: int) -> str:
        console = Console(
            file=io.StringIO(),
            width=columns,
            color_system=self._able.colours,
            force_terminal=True,
            legacy_windows=False,
            no_color=False,
            highlight=False,
            theme=STYLES,
        )
        with console.capture() as captured:
            for part in parts:
                console.print(part)
        return _PADDING.sub("", captured.get()).strip("\n")


def _newest(markdown: str) -> str:
    """Return the end of a long text from the start of a line, reopening a code block that the cut splits."""
    if len(markdown) <= NEWEST:
        return markdown
    at = markdown.find("\n", len(markdown) - NEWEST) + 1 or len(markdown) - NEWEST
    fence = Fences(markdown).around(at)
    return f"{fence.opener}\n{markdown[at:]}" if fence else markdown[at:]


def _address(path: str) -> str:
    """Return a file URL with the host name, for terminals that display another machine's screen."""
    return Path(path).absolute().as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
