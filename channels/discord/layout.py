"""Messages of components, for answers with tables and with several files: text, tables, pictures and files in one box.

Discord allows 4,000 characters in 40 components there, in place of 2,000 characters and a message for each file. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.base import OutboundMessage
from channels.discord import render
from channels.discord.render import MAX_BYTES, MAX_FILES, MAX_TEXT, rows_of
from channels.fences import prose_and_code
from channels.tables import readable, table_rows
from channels.text import utf16_len, visible

LAYOUT = 1 << 15
"""Flag of a message of components. An edit can set it, but not take it away."""
MAX_CHARACTERS = 4_000
MAX_COMPONENTS = 40
WIDEST_TABLE = 60
"""Columns of the widest table that is a block of code; in wider ones the lines would break on most screens."""

_TEXT, _GALLERY, _FILE, _CONTAINER = 10, 12, 13, 17
_NAME = re.compile(r"[\w.-]+", re.ASCII)
"""Names that Discord does not change, so that components can refer to them."""
_MEDIA = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "video/mp4", "video/webm"})
_CLOSED = re.compile(r"application/(pdf|zip|gzip|x-tar|epub\+zip|msword|vnd\..+)")
"""Files that Discord shows as a name in any message. Of others, such as texts, a plain message shows more."""


def split(message: OutboundMessage) -> tuple[OutboundMessage, ...]:
    """Return the message as one of components, if it gains by that and fits, else as `render.split` does.

    The menu and the form go with the last part, the menu in place of the buttons for which it stands.
    """
    choice = message.choice
    if choice is not None:
        left = message.buttons[choice.rows :]
        choice = choice.model_copy(update={"rows": 0})
        message = message.model_copy(update={"buttons": left, "choice": choice})
    if layout(message) is None:
        *parts, last = render.split(message)
        return (*parts, last.model_copy(update={"choice": choice, "form": message.form}))
    return (
        OutboundMessage(
            markdown=message.markdown,
            attachments=message.attachments,
            buttons=message.buttons,
            choice=choice,
            form=message.form,
            silent=message.silent,
            reply_to=message.reply_to,
            respond=message.respond,
        ),
    )


def layout(message: OutboundMessage) -> list[JsonValue] | None:
    """Return the components of a message with a table, several files, or files below a long text; None for others."""
    files = message.attachments
    if not (files or "|" in message.markdown) or not _can_show(files) or (files and rows_of(message)):
        return None  # files would be lost when an edit removes the buttons
    texts = [*_texts(message.markdown)]
    length = sum(utf16_len(text) for _, text in texts)
    gains = any(is_table for is_table, _ in texts) or len(files) > 1 or (files and length > MAX_TEXT)
    made = _components(texts, message) if gains and length <= MAX_CHARACTERS else []
    return made if 0 < _count(made) <= MAX_COMPONENTS else None


def as_layout(message: OutboundMessage) -> list[JsonValue]:
    """Return the components of any part made by `split`, for a message that was one of components before."""
    text: JsonValue = {"type": _TEXT, "content": render.render(message.markdown)}
    return layout(message) or [text, *rows_of(message)]


def shown(components: JsonValue) -> tuple[list[str], list[str]]:
    """Return the words and the names of files that components show, ours or those that Discord returns."""
    words: list[str] = []
    names: list[str] = []
    for each in _walk(components):
        if each.get("type") == _TEXT:
            words += str(each.get("content")).split()
        if isinstance(url := each.get("url"), str) and "custom_id" not in each:
            names.append(unquote(PurePosixPath(urlsplit(url.replace("attachment://", "attachment:///")).path).name))
    return words, names


def actions(components: JsonValue) -> set[str]:
    """Return the actions of buttons, ours or those that Discord returns."""
    return {name for each in _walk(components) if isinstance(name := each.get("custom_id"), str)}


def _walk(components: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(components, list):
        for each in components:
            yield from _walk(each)
    if isinstance(components, dict):
        yield components
        for each in components.values():
            yield from _walk(each)


def _can_show(files: Sequence[Attachment]) -> bool:
    names = [file.safe_name for file in files]
    known = all(file.mime_type in _MEDIA or _CLOSED.fullmatch(file.mime_type) for file in files)
    plain = all(_NAME.fullmatch(name) for name in names) and len(set(names)) == len(names) <= MAX_FILES
    return known and plain and sum(MAX_BYTES if file.size is None else file.size for file in files) <= MAX_BYTES


def _texts(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield the rendered text in pieces: each table, and what is between them."""
    between: list[str] = []
    for is_table, piece in _pieces(markdown):
        if not is_table:
            between.append(piece)
            continue
        if visible("\n".join(between)):
            yield False, render.render("\n".join(between).strip("\n"))
        between.clear()
        yield True, render.render(readable(piece.split("\n"), WIDEST_TABLE))
    if visible("\n".join(between)):
        yield False, render.render("\n".join(between).strip("\n"))


def _pieces(markdown: str) -> Iterator[tuple[bool, str]]:
    for is_code, part in prose_and_code(markdown):
        lines, at = part.split("\n"), 0
        while at < len(lines):
            rows = 0 if is_code else table_rows(lines, at)
            yield bool(rows), "\n".join(lines[at : at + (rows or 1)])
            at += rows or 1


def _components(texts: Sequence[tuple[bool, str]], message: OutboundMessage) -> list[JsonValue]:
    inside: list[JsonValue] = [{"type": _TEXT, "content": text} for _, text in texts]
    media = [file for file in message.attachments if file.mime_type in _MEDIA]
    if media:
        inside.append({"type": _GALLERY, "items": [{"media": _reference(file)} for file in media]})
    inside += [{"type": _FILE, "file": _reference(file)} for file in message.attachments if file not in media]
    inside += rows_of(message)
    return [{"type": _CONTAINER, "components": inside}] if texts else inside


def _reference(file: Attachment) -> dict[str, JsonValue]:
    return {"url": f"attachment://{file.safe_name}"}


def _count(components: Sequence[JsonValue]) -> int:
    return sum(1 for each in _walk([*components]) if "type" in each)
