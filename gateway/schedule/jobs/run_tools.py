"""Tools that only job runs have, or that behave differently there."""

import asyncio
import hashlib
from collections.abc import Iterable
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec import Struct

from agent_core.clock import Clock
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage
from agent_core.origin import CLEAN, DATA
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolContext, ToolFailed, tool
from channels.attachments import Attachment
from channels.base import Sender
from gateway.delivery.delivery import Delivery
from gateway.delivery.outgoing import collect, waiting, write
from gateway.permissions.access import Access
from gateway.records.spending_report import midnight, usage_text
from gateway.schedule.jobs.recent_messages import RecentMessages
from gateway.store.budget import Scope, chat_account
from gateway.store.job import HOUR, Firing, Job
from gateway.store.store import Store

LONGEST_BACK = 7 * 24
"""Hours of messages that can be read."""
MOST_DAYS = 90


class RunTools(Struct, frozen=True):
    """Creates the tools for each firing."""

    store: Store
    delivery: Delivery
    access: Access
    clock: Clock
    outgoing: Path
    """The folder for copies of files to send."""

    def of(self, job: Job, firing: Firing) -> tuple[Tool, ...]:
        """Return the tools of one run; `send_file` replaces the chats' own tool of that name."""
        return nothing_to_report, self._send_file(firing), self._read_history(job), self._own_usage(job)

    def files(self, firing: Firing) -> tuple[Attachment, ...]:
        """Return the files that its run has sent, in order, to attach to the report. Blocks for a moment."""
        return waiting(self._folder(firing))

    def file(self, firing: Firing, name: str, text: str) -> Attachment:
        """Write a file that is sent with a firing's message. Blocks for a moment."""
        return write(self._folder(firing) / "whole" / name, text.encode())

    def _folder(self, firing: Firing) -> Path:
        return self.outgoing / hashlib.sha256(f"{firing.job}:{firing.made_at}".encode()).hexdigest()[:24]

    def _send_file(self, firing: Firing) -> Tool:
        folder, most = self._folder(firing), self.delivery.channel(firing.chat).limits.max_upload

        @tool(idempotent=True, timeout_s=None, acts="write", label="Sending {path}", labels={"zh": "发送 {path}"})
        async def send_file(path: str, *, context: ToolContext) -> str:
            """Send a file of the workspace with the report."""
            await asyncio.to_thread(collect, context.workspace, path, folder, most)
            return f"{path} will be sent with your report."

        return send_file

    def _read_history(self, job: Job) -> Tool:
        talk = RecentMessages(self.store, self.delivery.channel(job.chat), job.chat, self.access.is_trusted)

        @tool(execution="parallel", label="Reading what was said here", labels={"zh": "查看之前的聊天"})
        async def read_history(hours: int = 24) -> ToolResult:
            """Read what was said in this chat."""
            if hours < 1:
                raise ToolFailed("it reads one hour at least", "call it again with hours from 1")
            if self.access.only_of(job.chat, job.person) is not None:
                raise ToolFailed("a guest's job does not read what others said here", "do without it")
            since = self.clock.time() - min(hours, LONGEST_BACK) * HOUR
            said = await talk.since(since, ZoneInfo(job.zone))
            return ToolResult.of(said.text, DATA | said.origin)

        return read_history

    def _own_usage(self, job: Job) -> Tool:
        @tool(execution="parallel", label="Looking at what was used", labels={"zh": "查看用量"})
        async def own_usage(days: int = 7) -> str:
            """Read what you have used here: calls of models, tokens, cost."""
            if days < 1:
                raise ToolFailed("it tells of one day at least", "call it again with days from 1")
            days, now, zone = min(days, MOST_DAYS), self.clock.time(), ZoneInfo(job.zone)
            whole = self._may_see_all(job)
            scope, chats = (Scope.ALL, []) if whole else (Scope.CHAT, [chat_account(job.chat).subject])
            rows = await self.store.spending.usage(midnight(now, zone, days), scope, chats)
            return usage_text(rows, zone, now, days, "Parley in all chats" if whole else "Parley in this chat")

        return own_usage

    def _may_see_all(self, job: Job) -> bool:
        """Return True for an owner in a private chat: only owners may see the usage of all chats."""
        is_owner = self.access.is_owner(job.chat, Sender(id=job.person, name=""))
        return is_owner and not self.delivery.channel(job.chat).is_group(job.chat)


@tool(idempotent=True, label="Nothing to report", labels={"zh": "没有要报告的"})
async def nothing_to_report(why: str, *, context: ToolContext) -> ToolResult:
    """End without a message to anybody."""
    answer = next((each for each in reversed(context.messages) if isinstance(each, AssistantMessage)), None)
    if answer is not None and len(answer.tool_calls) > 1:
        raise ToolFailed("other calls stand beside this one", "call it alone, once you have seen what they bring")
    return ToolResult.of(why, CLEAN).model_copy(update={"terminate": True})


def nothing_said(messages: Iterable[AgentMessage]) -> bool:
    """Return True if the run ended with a call of `nothing_to_report`."""
    calls: set[str] = set()
    nothing = False
    for message in messages:
        if isinstance(message, AssistantMessage):
            nothing = False
            calls = {call.id for call in message.tool_calls if call.name == nothing_to_report.name}
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in calls:
            nothing = not message.is_error
    return nothing
