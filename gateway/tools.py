"""Tools that need the house: sending a file into the chat."""

import asyncio
import hashlib
import mimetypes
import os
import shutil
from pathlib import Path

from agent_core.builtin.files.confined import open_file
from agent_core.tools import Tool, ToolContext, ToolFailed, tool
from channels.base import Attachment, ChatKey, OutboundMessage
from gateway.delivery import Delivery
from gateway.store.rows import Post, PostState
from gateway.store.store import Store


def send_file_tool(store: Store, delivery: Delivery, outgoing: Path) -> Tool:
    """`outgoing` is the folder of the copies that are sent, so that what was promised is what arrives."""

    @tool(idempotent=True, timeout_s=None, acts="write", label="Sending {path}")
    async def send_file(path: str, caption: str = "", *, context: ToolContext) -> str:
        """Send a file of the workspace to the person."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat to send to")
        chat = ChatKey.parse(context.chat_id)
        key = f"{context.session_id}:file:{context.call_id}"
        found = await store.find_post(key)
        if found is not None and found.state is PostState.SENT:
            return f"{path} was sent."
        most = delivery.channel(chat).limits.max_upload
        # The call's id is the model server's: it may look like a path, and other chats may have the same.
        copy = outgoing / hashlib.sha256(key.encode()).hexdigest()[:24] / Attachment(name=path).safe_name
        file = await asyncio.to_thread(_copy, context.workspace, path, copy, most)
        post = Post(key, "", chat, OutboundMessage(markdown=caption, attachments=(file,)))
        await store.post([post])
        await delivery.deliver(chat, [post])
        settled = await store.find_post(key)
        if settled is None or settled.state is not PostState.SENT:
            raise ToolFailed(f"{path} could not be sent", "tell the person")
        return f"{path} was sent."

    return send_file


def _copy(workspace: Path, path: str, target: Path, most: int) -> Attachment:
    """Raises ToolFailed for a file that is not there, not inside the workspace, or larger than `most` bytes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(open_file(workspace, path), "rb") as source:
        size = os.fstat(source.fileno()).st_size
        if size > most:
            raise ToolFailed(f"the file has {size} bytes, and {most} is the most that can be sent here")
        with target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    mime_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return Attachment(name=Path(path).name, mime_type=mime_type, size=size, path=str(target))
