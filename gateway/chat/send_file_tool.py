"""The tool that sends a file into the chat."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from agent_core.untrusted import origin_of
from channels.attachments import Attachment
from channels.base import ChatKey, OutboundMessage
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import MOST_WAITING, copied
from gateway.store.rows import Post, PostState
from gateway.store.store import Store


def send_file_tool(store: Store, delivery: Delivery, outgoing: Path) -> Tool:
    """Return the `send_file` tool. It sends copies kept in `outgoing`, so later edits do not change what arrives."""

    def copies(workspace: Path, paths: Sequence[str], key: str, most: int) -> tuple[Attachment, ...]:
        # The model server chooses the call's id: it may look like a path, or occur in other chats too.
        folder = outgoing / hashlib.sha256(key.encode()).hexdigest()[:24]
        places = [folder, *(folder.with_name(f"{folder.name}-{place}") for place in range(1, len(paths)))]
        return tuple(
            copied(workspace, path, place / Attachment(name=path).safe_name, most)
            for path, place in zip(paths, places, strict=True)
        )

    async def is_sent(key: str) -> bool:
        found = await store.outbox.find(key)
        return found is not None and found.state is PostState.SENT

    @tool(idempotent=True, timeout_s=None, acts="write", label="Sending {path}", labels={"zh": "发送 {path}"})
    async def send_file(path: str, caption: str = "", also: tuple[str, ...] = (), *, context: ToolContext) -> str:
        """Send the person a file, and those in `also` with it."""
        if context.chat_id is None:
            raise ToolFailed("there is no chat to send to")
        paths = _several([path, *also])
        names = ", ".join(paths)
        chat = ChatKey.parse(context.chat_id)
        key = f"{context.session_id}:file:{context.call_id}"
        told = f"{names} {'was' if len(paths) == 1 else 'were'} sent."
        if len(paths) == 1 and await is_sent(key):
            return told
        masked_channel = delivery.masked_channel(chat)
        most = masked_channel.channel.limits.max_upload
        files = await asyncio.to_thread(copies, context.workspace, paths, key, most)
        whole = OutboundMessage(markdown=caption, attachments=files)
        parts = masked_channel.split(whole) if len(files) > 1 else (whole,)
        keys = [f"{key}:{place}" if place else key for place in range(len(parts))]
        origin = origin_of(context.messages)
        posts = [Post(each, "", chat, part, origin) for each, part in zip(keys, parts, strict=True)]
        unsent = [post for post in posts if not await is_sent(post.key)]
        await store.outbox.add(unsent)
        trouble = await delivery.attempt(chat, unsent)
        if trouble is not None or not all([await is_sent(post.key) for post in unsent]):
            what = f"{names} could not be sent" if len(paths) == 1 else f"of {names} not all could be sent"
            raise ToolFailed(f"{what}: {trouble.reason}" if trouble else what, "tell the person")
        return told

    return send_file


def _several(paths: Sequence[str]) -> Sequence[str]:
    """Return each path once. Raises ToolFailed for more than go in one message."""
    once = [*dict.fromkeys(paths)]
    if len(once) > MOST_WAITING:
        raise ToolFailed(f"{MOST_WAITING} files are the most that go in one message", "send the others after it")
    return once
