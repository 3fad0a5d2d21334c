"""Downloads from Discord's CDN."""

from http import HTTPStatus

import aiohttp

from channels.attachments import Attachment
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.normalise import Reference
from channels.discord.wire import Message
from channels.files import MIB, FileRefused, too_large
from channels.values import parse

MAX_DOWNLOAD = 25 * MIB
"""Larger files are of no use to a model or a chat's workspace."""
DOWNLOAD_SECONDS = 120.0
_EXPIRED = (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN, HTTPStatus.GONE)


async def download(rest: Rest, attachment: Attachment) -> bytes:
    """Download a file. Raises ChannelError, a permanent one if the file is too large or gone."""
    if (attachment.size or 0) > MAX_DOWNLOAD:
        raise too_large(attachment, "Parley reads", MAX_DOWNLOAD)
    reference = Reference.parse(attachment.reference)
    if reference is None:
        raise FileRefused(f"Discord does not give {attachment.safe_name}", "kept_back")
    content = await _fetch(attachment, reference.url)
    if content is None:  # addresses expire after a day
        content = await _fetch(attachment, await _new_address(rest, reference))
    if content is None:
        raise FileRefused(f"{attachment.safe_name} no longer exists", "gone")
    return content


async def _fetch(attachment: Attachment, url: str) -> bytes | None:
    """Return the content, or None if the address has expired."""
    content = bytearray()
    timeout = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
            if answer.status in _EXPIRED:
                return None
            answer.raise_for_status()
            async for chunk in answer.content.iter_any():
                content += chunk
                if len(content) > MAX_DOWNLOAD:
                    raise too_large(attachment, "Parley reads", MAX_DOWNLOAD)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        reason = f"Discord does not give {attachment.safe_name}: {type(error).__name__}"
        raise FileRefused(reason, "unreachable", permanent=False) from error
    return bytes(content)


async def _new_address(rest: Rest, reference: Reference) -> str:
    route = Endpoint(
        "GET",
        "/channels/{channel_id}/messages/{message_id}",
        {"channel_id": reference.channel, "message_id": reference.message},
    )
    message = parse(Message, await rest.call(Call(route, needs="Read Message History")))
    found = message.attachments if message else ()
    return next((file.url for file in found if file.id == reference.file), reference.url)
