"""Pictures that a model can see, told by their bytes."""

import base64

from agent_core.messages import ImageContent, TextContent
from agent_core.origin import Origin
from agent_core.tool_result import ToolResult
from agent_core.tools.files.confined import in_words, shown
from agent_core.tools.tool import ToolFailed

PICTURE_BYTES = 5_000_000
"""Bytes that every provider accepts."""

_STARTS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_ENDS = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b";"}


def picture_type(content: bytes) -> str | None:
    """Return the MIME type by the first bytes; None for what is no picture that models accept."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS.items() if content.startswith(start)), None)


def whole_picture(content: bytes) -> str | None:
    """Return the MIME type of a picture that is whole; None for anything else."""
    kind = picture_type(content)
    return kind if kind and _is_whole(content, kind) else None


def show_picture(content: bytes, kind: str, path: str, origin: Origin) -> ToolResult:
    """Return the picture with a line of description. Raises ToolFailed if it is too large or truncated.

    A broken picture would stay in the history, and the provider would reject every later request.
    """
    size = in_words(len(content))
    if len(content) > PICTURE_BYTES:
        raise ToolFailed(f"{shown(path)} is a picture of {size}; at most {in_words(PICTURE_BYTES)} can be seen")
    if not _is_whole(content, kind):
        raise ToolFailed(f"{shown(path)} is a picture ({size}) whose end is missing")
    picture = ImageContent(data=base64.b64encode(content).decode(), mime_type=kind)
    return ToolResult(content=(TextContent(text=f"{shown(path)} ({kind}, {size})"), picture), origin=origin)


def _is_whole(content: bytes, kind: str) -> bool:
    if kind == "image/webp":
        return len(content) >= 8 + int.from_bytes(content[4:8], "little")
    return _ENDS[kind] in content[-1024:]
