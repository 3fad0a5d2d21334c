"""What a server's tool gave back, as our result: texts joined, pictures that models take, notes about the rest."""

import base64
import binascii
import json
from collections.abc import Iterator

from mcp import types

from agent_core.mcp.words import plain
from agent_core.messages import ImageContent, TextContent, clean_json
from agent_core.tool_result import ToolResult

MOST_IMAGES = 5
LARGEST_IMAGE = 3_750_000
"""Bytes; the smallest limit among the providers is 5 MB in base64."""
_BEGINNINGS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def as_result(answer: types.CallToolResult) -> ToolResult:
    """The text first, the pictures after it; structured content where there is no text, which says the same."""
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
            yield _image(data) or f"[a picture ({plain(kind, 60)}) that cannot be shown is left out]"
        case types.AudioContent(mime_type=kind):
            yield f"[a sound ({plain(kind, 60)}) is left out]"
        case types.ResourceLink(uri=uri, name=name):
            yield f"[{plain(name, 100)}: {plain(str(uri))}]"
        case types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, text=text)):
            yield f"{plain(str(uri))}:\n{text}"
        case types.EmbeddedResource(resource=types.BlobResourceContents(uri=uri, blob=data)):
            yield _image(data) or f"[{plain(str(uri))}, which is no text, is left out]"


def _image(data: str) -> ImageContent | None:
    """The picture, if it is one that models take; its kind as its bytes have it, whatever the server says, for a
    provider refuses a conversation in which the two differ."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    kind = next((kind for beginning, kind in _BEGINNINGS if raw.startswith(beginning)), None)
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        kind = "image/webp"
    return ImageContent(data=data, mime_type=kind) if kind and len(raw) <= LARGEST_IMAGE else None
