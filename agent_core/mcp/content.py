"""Conversion of MCP tool results: joined texts, supported pictures, and notes about what is left out."""

import base64
import json
from collections.abc import Iterator

from mcp import types

from agent_core.mcp.words import plain
from agent_core.messages import ImageContent, TextContent, clean_json
from agent_core.tool_result import ToolResult
from agent_core.tools.files.pictures import picture_type, show_picture
from agent_core.tools.tool import ToolFailed

MOST_IMAGES = 5


def as_result(answer: types.CallToolResult) -> ToolResult:
    """Convert a result: text first, then pictures. Structured content is used only without text, since it says the
    same."""
    parts = [part for block in answer.content for part in _parts(block)]
    texts = [part for part in parts if isinstance(part, str)]
    images = [part for part in parts if isinstance(part, ImageContent)]
    if len(images) > MOST_IMAGES:
        texts.append(f"[{len(images) - MOST_IMAGES} more pictures are left out]")
    if not texts and answer.structured_content is not None:
        texts.append(json.dumps(clean_json(answer.structured_content), ensure_ascii=False))
    text = (TextContent(text="\n".join(texts)),) if texts else ()
    return ToolResult(content=(*text, *images[:MOST_IMAGES]), is_error=bool(answer.is_error))


def _parts(block: types.ContentBlock) -> Iterator[str | ImageContent]:
    match block:
        case types.TextContent(text=text):
            yield text
        case types.ImageContent(data=data, mime_type=kind):
            yield _picture(data) or f"[a picture ({plain(kind, 60)}) that cannot be shown is left out]"
        case types.AudioContent(mime_type=kind):
            yield f"[a sound ({plain(kind, 60)}) is left out]"
        case types.ResourceLink(uri=uri, name=name):
            yield f"[{plain(name, 100)}: {plain(str(uri))}]"
        case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
            yield f"{plain(str(uri))}:\n{text}"
        case types.EmbeddedResource(resource=types.BlobResourceContents(uri=uri, blob=data)):
            yield _picture(data) or f"[{plain(str(uri))}, which is no text, is left out]"


def _picture(data: str) -> ImageContent | None:
    """Return a picture that models accept, or None. Its type is detected from its bytes, because providers reject a
    request whose declared type is wrong."""
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        return None
    kind = picture_type(content)
    if kind is None:
        return None
    try:
        shown = show_picture(content, kind, "picture")
    except ToolFailed:
        return None
    return next((part for part in shown.content if isinstance(part, ImageContent)), None)
