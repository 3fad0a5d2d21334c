"""Downloads of files that users sent, and files to upload."""

import asyncio
from pathlib import Path

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.telegram.client import Client

MIB = 1024 * 1024
MAX_UPLOAD = 50 * MIB
MAX_DOWNLOAD = 20 * MIB
"""Telegram's limit for bots."""
FILE_SECONDS = 120.0


async def download(client: Client, attachment: Attachment) -> bytes:
    """Download a file. Raises ChannelError, a permanent one if the file is too large."""
    too_large = ChannelError(
        f"{attachment.safe_name} is too large: Telegram gives bots files of at most {MAX_DOWNLOAD // MIB} MB",
        permanent=True,
    )
    if (attachment.size or 0) > MAX_DOWNLOAD:
        raise too_large
    try:
        about = await client.call("getFile", {"file_id": attachment.reference})
    except ChannelError as error:
        raise (too_large if "too big" in error.reason.lower() else error) from error
    path = about.get("file_path") if isinstance(about, dict) else None
    if not isinstance(path, str):
        raise ChannelError(f"Telegram does not give {attachment.safe_name}", permanent=True)
    return await client.fetch(path, seconds=FILE_SECONDS)


async def upload(file: Attachment) -> bytes:
    """Read a file to upload. Raises a permanent ChannelError if it is too large or cannot be read."""
    path = Path(file.path)
    try:
        if (await asyncio.to_thread(path.stat)).st_size > MAX_UPLOAD:
            reason = f"{file.safe_name} is too large: Telegram takes files of at most {MAX_UPLOAD // MIB} MB from bots"
            raise ChannelError(reason, permanent=True)
        return await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise ChannelError(f"{file.safe_name} cannot be read: {error.strerror}", permanent=True) from error
