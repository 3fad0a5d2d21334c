"""The tool that sends a file into the chat."""

import asyncio
import hashlib
from pathlib import Path

from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from channels.attachments import Attachment
from channels.base import ChatKey, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import copied
from gateway.store.rows import Post, PostState
from gateway.store.store import Store


def send_file_tool(store: Store, delivery: Delivery, outgoing: Path) -> Tool:
    """Return the `send_file` tool. It sends copies kept in `outgoing`, so later edits do not change what arrives."""

    @tool(idempotent=True, timeout_s=None, acts="write", label="Sending {path}", labels={"zh": "发送 {path}"})
    async def send_file(path: str, caption: str = "", *, context: ToolContext) -> str:
        """Send a workspace file to the person."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat to send to")
        chat = ChatKey.parse(context.chat_id)
        key = f"{context.session_id}:file:{context.call_id}"
        found = await store.outbox.find(key)
        if found is not None and found.state is PostState.SENT:
            return f"{path} was sent."
        most = delivery.channel(chat).limits.max_upload
        # The model server chooses the call's id: it may look like a path, or occur in other chats too.
        copy = outgoing / hashlib.sha256(key.encode()).hexdigest()[:24] / Attachment(name=path).safe_name
        file = await asyncio.to_thread(copied, context.workspace, path, copy, most)
        post = Post(key, "", chat, OutboundMessage(markdown=caption, attachments=(file,)), origin_of(context.messages))
        await store.outbox.add([post])
        await delivery.deliver(chat, [post])
        settled = await store.outbox.find(key)
        if settled is None or settled.state is not PostState.SENT:
            raise ToolFailed(f"{path} could not be sent", "tell the person")
        return f"{path} was sent."

    return send_file
