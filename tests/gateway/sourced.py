"""All content of a chat that may reach a model again, with its recorded origin."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from agent_core.messages import AgentMessage, Derived, message_adapter
from agent_core.origin import CLEAN, Origin, in_line
from agent_core.tools.memory import Memory
from agent_core.untrusted import origin_of
from agent_core.workspace.provenance import FileLedger
from channels.base import ChatKey
from gateway.permissions.sources import origin_of_post
from gateway.permissions.workspaces import folder_name, workspace_of
from gateway.store.rows import Post
from tests.gateway.bot import Bot
from tests.gateway.jobs.kit import PARIS
from tests.gateway.tasking import rows


async def held(bot: Bot, chat: ChatKey) -> list[tuple[str, Origin]]:
    """Return all content of a chat that may reach a model again, with its recorded origin."""
    return [
        *_rows(bot.home, chat),
        await _read_next(bot, chat),
        *await _posts(bot, chat),
        *await asyncio.to_thread(_files, bot.home, chat),
        *await _facts(bot, chat),
        *await _jobs(bot, chat),
        *_tasks(bot.home, chat),
    ]


def _rows(home: Path, chat: ChatKey) -> Iterator[tuple[str, Origin]]:
    """Yield the messages of the chat and its tasks, each with the sources of its conversation so far."""
    so_far: dict[str, Origin] = {}
    query = f"SELECT session, message FROM transcript WHERE chat = '{chat}' ORDER BY seq"  # noqa: S608
    for session, row in rows(home, query):
        message = message_adapter.validate_json(str(row))
        own = message.origin if isinstance(message, Derived) else CLEAN
        so_far[str(session)] = so_far.get(str(session), CLEAN) | own
        yield _words(message), so_far[str(session)]


def _words(message: AgentMessage) -> str:
    return json.dumps({**message.model_dump(mode="json"), "origin": None}, ensure_ascii=False)


async def _read_next(bot: Bot, chat: ChatKey) -> tuple[str, Origin]:
    """Return what the model reads next of the conversation, after compaction too."""
    store = bot.made.base.store
    messages = await store.transcript.history((await store.chats.get(chat)).session)
    return "".join(map(_words, messages)), origin_of(messages)


async def _posts(bot: Bot, chat: ChatKey) -> list[tuple[str, Origin]]:
    store = bot.made.base.store
    posts = [post for _, post in await store.outbox.screen(chat, 500) if isinstance(post, Post)]
    said = [post for post in posts if ":answer:" in post.key or ":proactive:" in post.key]
    return [(post.message.markdown, await origin_of_post(store, post)) for post in said]


def _files(home: Path, chat: ChatKey) -> list[tuple[str, Origin]]:
    """Return the files with their sources, as after a restart."""
    workspace = workspace_of(home, chat)
    files = FileLedger(home / "provenance").of(workspace)
    return [
        (f"{name} {(workspace / name).read_text('utf-8', 'replace')}", files.of([name])) for name in files_in(workspace)
    ]


async def _facts(bot: Bot, chat: ChatKey) -> list[tuple[str, Origin]]:
    memory = Memory(bot.home / "memory" / folder_name(chat), bot.clock, PARIS)
    return [(fact.text, fact.origin) for fact in await memory.search("")]


async def _jobs(bot: Bot, chat: ChatKey) -> list[tuple[str, Origin]]:
    store = bot.made.base.store
    found = [(job.work.model_dump_json(), job.origin) for job in await store.jobs.in_chat(chat)]
    return [*found, *((each.text, each.origin) for each in await store.firings.in_chat_since(chat, 0.0))]


def _tasks(home: Path, chat: ChatKey) -> Iterator[tuple[str, Origin]]:
    for prompt, origin, report, after in rows(
        home,
        f"SELECT prompt, origin, report, report_origin FROM tasks WHERE chat = '{chat}'",  # noqa: S608
    ):
        yield str(prompt), in_line(str(origin))
        yield str(report or ""), in_line(str(after))


def files_in(workspace: Path) -> list[str]:
    return sorted(str(each.relative_to(workspace)) for each in workspace.rglob("*") if each.is_file())
