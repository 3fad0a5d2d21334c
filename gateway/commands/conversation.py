"""Commands about the conversation: /new, /stop, /continue, /retry, /language, /context, /compact, /export."""

import asyncio
import hashlib
from pathlib import Path

import structlog

from agent_core.agent import Agent, AgentBusy
from agent_core.context.context import ContextStats
from agent_core.reasons import TerminalReason
from channels.attachments import Attachment
from channels.base import Button, OutboundMessage
from channels.text import literal
from gateway.chat.replies import Answer, Said
from gateway.commands.desk import Desk
from gateway.commands.table import Command, Invocation, reply, rewritten
from gateway.errors import ParleyError
from gateway.records.export.entries import Heading
from gateway.records.export.export import FORMS, exported, write_private
from gateway.runs.verdicts import Continuing, Stopped
from gateway.store.archive import Archive
from gateway.store.rows import Run, RunEnd
from gateway.texts.say import LANGUAGES, Language, say

log = structlog.get_logger(__name__)

NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}
BAR_WIDTH = 10
"""Width of the bar in characters."""
BUCKETS = {
    "prompt": "context_prompt",
    "tools": "context_tools",
    "skill_index": "context_skill_index",
    "loaded_skills": "context_loaded_skills",
    "references": "context_references",
    "circumstances": "context_circumstances",
    "conversation": "context_conversation",
    "tool_results": "context_tool_results",
}
"""Text keys of the parts of the context."""
MOST_WORDS = 500
"""Characters of the instructions for /compact."""
MIME_TYPES = {"md": "text/markdown", "json": "application/json", "html": "text/html"}


async def new(given: Invocation) -> OutboundMessage:
    try:
        await given.session.renew(given.sender)
    except PermissionError:
        return reply(say("not_yours", given.language))
    return reply("\n\n".join([say("new_session", given.language), *_tasks_go_on(given)]))


async def stop(given: Invocation) -> OutboundMessage | None:
    """Stop the run. A stopped run gets no reply, as its own message then reads "Stopped"; tasks are reported."""
    try:
        stopped = await given.session.stop(given.sender)
    except PermissionError:
        return reply(say("not_yours", given.language))
    going_on = _tasks_go_on(given)
    match stopped:
        case Stopped.RUN:
            return reply(going_on[0]) if going_on else None
        case Stopped.WAITING:
            return reply("\n\n".join([say("stopped", given.language), *going_on]))
        case Stopped.NOTHING:
            return reply("\n\n".join([say("nothing_to_stop", given.language), *going_on]))


async def go_on(given: Invocation) -> Answer:
    """Continue the run that a limit ended, by a message in the user's name. The button names that run."""
    match await given.session.continuing(given.sender, given.arguments.strip(), lambda reason: reason.is_limit):
        case Continuing.POSSIBLE:
            return Said(say("continue_words", given.language))
        case Continuing.NOTHING:
            return reply(say("continue_nothing", given.language))
        case Continuing.NOT_YOURS:
            return reply(say("continue_not_yours", given.language))


async def retry(given: Invocation) -> Answer:
    """Have the model answer again after a failure; the user's message and its files are still in the session."""
    failed = await given.session.continuing(
        given.sender, given.arguments.strip(), lambda reason: reason is TerminalReason.ERROR
    )
    match failed:
        case Continuing.POSSIBLE:
            return Said(say("retry_words", given.language))
        case Continuing.NOTHING:
            return reply(say("retry_nothing", given.language))
        case Continuing.NOT_YOURS:
            return reply(say("continue_not_yours", given.language))


def _tasks_go_on(given: Invocation) -> list[str]:
    """Return a sentence about background tasks that keep running, if there are any."""
    count = given.desk.tasks.in_background(given.session.key, given.sender)
    return [say("tasks_go_on", given.language, count=count, slash=given.slash)] if count else []


async def language(given: Invocation) -> Answer:
    wanted = given.arguments.strip().lower()
    chosen = next((code for code in LANGUAGES if wanted in (code, NAMES[code].lower())), None)
    if chosen is None:
        buttons = tuple(Button(label=NAMES[code], action=f"/language {code}") for code in LANGUAGES)
        return OutboundMessage(markdown=say("language_ask", given.language), buttons=(buttons,))
    await given.session.conversation.speak(chosen)
    return rewritten(say("language_set", chosen))


async def again(given: Invocation) -> OutboundMessage:
    """Show the messages that may not have arrived."""
    lost = await given.desk.store.outbox.last_unconfirmed(given.session.key)
    if not lost:
        return reply(say("nothing_unconfirmed", given.language))
    files = tuple(file for post in lost for file in post.message.attachments)
    text = "\n\n".join(post.message.markdown for post in lost)
    return OutboundMessage(markdown=text, buttons=lost[-1].message.buttons, attachments=files)


async def context(given: Invocation) -> OutboundMessage:
    """Show what fills the context. Everyone in the chat may see it, as it quotes no messages."""
    agent = await given.session.conversation.agent()
    model = agent.loop.caller.next_model
    stats = agent.context.stats(agent.state, model.context_window)
    lines = [
        say("status_model", given.language, model=model.id),
        say("status_context", given.language, used=f"{stats.tokens:,}", window=f"{stats.window:,}"),
        f"`{_bar(stats)}` {stats.percent:.0f} %",
    ]
    sizes = dict(stats.buckets)
    rows = [_row(say(key, given.language), sizes[name], stats) for name, key in BUCKETS.items() if sizes[name]]
    rows.append(_row(say("context_free", given.language), stats.free, stats))
    if stats.loaded_skills:
        names = ", ".join(map(literal, stats.loaded_skills))
        rows.append(say("context_skills", given.language, names=names))
    return reply("\n".join(["  \n".join(lines), "", *rows]))


async def compact(given: Invocation) -> OutboundMessage:
    if given.session.running_for is not None:
        return reply(say("compact_busy", given.language))
    if not _may(given):
        return reply(say("compact_not_yours", given.language))
    if refusal := given.too_soon():
        return refusal
    agent = await given.session.conversation.agent()
    try:
        return reply(await _compacted(given, agent, given.language))
    except AgentBusy:
        return reply(say("compact_busy", given.language))


async def _compacted(given: Invocation, agent: Agent, language: Language) -> str:
    """Compact the session and record it as a run, because it costs tokens and must survive a restart."""
    store, clock = given.desk.store, given.desk.clock
    run = Run(given.desk.new_id(), given.session.key, agent.session_id, given.sender.id, clock.time())
    end = await agent.compact(given.arguments.strip()[:MOST_WORDS])
    if end is None or end.boundary is None:
        return say("stopped" if given.session.is_cut_short else "compact_nothing", language)
    store.runs.begin(run)
    store.transcript.append(run, 0, end.boundary, later=True)
    await store.runs.end(run, RunEnd(TerminalReason.COMPLETED, end.usage, agent.loop.model.id, end.error), [])
    return say("compacted", language, before=f"{end.tokens_before:,}", after=f"{end.tokens_after:,}")


def _may(given: Invocation) -> bool:
    """Return True for owners, and for the user of a private chat."""
    key = given.session.key
    return not given.desk.delivery.channel(key).is_group(key) or given.desk.access.is_owner(key, given.sender)


def _bar(stats: ContextStats) -> str:
    full = min(BAR_WIDTH, round(stats.percent * BAR_WIDTH / 100))
    return "▰" * full + "▱" * (BAR_WIDTH - full)


def _row(name: str, size: int, stats: ContextStats) -> str:
    percent = f" ({100 * size / stats.window:.0f} %)" if stats.window else ""
    return f"- {name}: {size:,}{percent}"


async def export(given: Invocation) -> OutboundMessage:
    """Export this chat. In groups only owners may, as the file contains more than is visible in the chat."""
    desk, key, language = given.desk, given.session.key, given.language
    form = given.arguments.strip().lower() or FORMS[0]
    if form not in FORMS:
        return reply(say("export_forms", language, slash=given.slash))
    channel = desk.delivery.channel(key)
    if channel.is_group(key) and not desk.access.is_owner(key, given.sender):
        return reply(say("export_not_here", language))
    zone = await given.session.conversation.zone()
    heading = Heading(str(key), desk.about.name, zone, desk.clock.time())
    try:
        file = await asyncio.to_thread(_write, desk, heading, form)
    except ParleyError as error:
        log.warning("a chat could not be exported", chat=str(key), reason=error.sentence)
        return reply(say("export_failed", language))
    if file is None:
        return reply(say("export_empty", language))
    size = file.stat().st_size
    if size > channel.limits.max_upload:
        file.unlink()
        return reply(say("export_too_large", language, size=size // 2**20, most=channel.limits.max_upload // 2**20))
    name = f"chat-{heading.day(heading.now)}.{form}"
    attachment = Attachment(name=name, mime_type=MIME_TYPES[form], size=size, path=str(file))
    return OutboundMessage(markdown=say("export_done", language), attachments=(attachment,))


def _write(desk: Desk, heading: Heading, form: str) -> Path | None:
    """Write the export, replacing the chat's previous one. Returns None if the chat has no messages. Blocks."""
    folder = desk.home / "outgoing" / f"export-{hashlib.sha256(heading.chat.encode()).hexdigest()[:24]}"
    with Archive.open(desk.home) as archive:
        if not archive.sessions(heading.chat):
            return None
        file = folder / f"chat.{form}"
        write_private(file, exported(archive, heading, form, desk.secrets))
    return file


COMMANDS = (
    Command("again", {"en": "Show the last answer", "zh": "显示上一条回答"}, again, hidden=True),
    Command("retry", {"en": "Try again what failed", "zh": "重试失败的回答"}, retry, hidden=True),
    Command("new", {"en": "Begin a new conversation", "zh": "开始新的对话"}, new),
    Command("stop", {"en": "Stop what is running", "zh": "停止当前任务"}, stop),
    Command("continue", {"en": "Continue an answer that a limit ended", "zh": "从达到上限的地方继续"}, go_on),
    Command("language", {"en": "Choose English or Chinese here", "zh": "选择语言"}, language, arguments="[en|zh]"),
)
HISTORY_COMMANDS = (
    Command(
        "export", {"en": "Get this chat as a file", "zh": "把本聊天导出为文件"}, export, arguments="[md|json|html]"
    ),
    Command("context", {"en": "Show how full the model's context is", "zh": "显示上下文占用情况"}, context),
    Command("compact", {"en": "Shorten the earlier conversation", "zh": "压缩之前的对话"}, compact, arguments="[KEEP]"),
)
