"""A chat goes on after an error in the middle of its release, and its posts after one of their delivery."""

import asyncio
import sqlite3
from collections.abc import Sequence

import pytest

from agent_core.origin import CLEAN
from channels.base import ChatKey, OutboundMessage
from gateway.cluster.chat_owners import ChatOwners
from gateway.store.postgres import PostgresError
from gateway.store.rows import Post
from tests.gateway.cluster.recorded_work import CHATS, Members, RecordedWork
from tests.process import until


async def test_a_chat_whose_release_has_failed_goes_on(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = CHATS[0]
    await members.accept(1, chat, 0)
    await until(lambda: members.log and members.dispatchers[0].ownership.owns(chat))
    await until(lambda: members.works[0].is_idle(chat))
    errors, release = [PostgresError("an internal error", sqlite3.SQLITE_ERROR)], ChatOwners.release

    async def failing(rows: ChatOwners, chats: Sequence[ChatKey], node: str, *, idle: bool = True) -> list[ChatKey]:
        if errors:
            raise errors.pop()
        return await release(rows, chats, node, idle=idle)

    monkeypatch.setattr(ChatOwners, "release", failing)
    with pytest.raises(PostgresError):
        await members.dispatchers[0].release_idle()

    await members.accept(2, chat, 0)
    await until(lambda: len(members.log) == 2)


async def test_a_chat_that_cannot_be_cut_off_goes_on(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = CHATS[0]
    await members.accept(1, chat, 0)
    await until(lambda: members.log and members.dispatchers[0].ownership.owns(chat))

    async def fails(_: RecordedWork, __: ChatKey) -> None:
        raise RuntimeError("a mistake")

    with monkeypatch.context() as patch:
        patch.setattr(RecordedWork, "cancel", fails)
        with pytest.raises(RuntimeError):
            await members.dispatchers[0].release([chat], idle=False)

    await members.accept(2, chat, 0)
    await until(lambda: len(members.log) == 2)


async def test_posts_that_could_not_be_delivered_are_delivered_when_they_are_passed_on_again(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = CHATS[0]
    await members.accept(1, chat, 0)
    await until(lambda: members.log and members.dispatchers[0].ownership.owns(chat))
    post = Post("key", "run", chat, OutboundMessage(markdown="hello"), origin=CLEAN)
    await members.stores[1].outbox.add([post])
    failed, deliver = asyncio.Event(), RecordedWork.deliver

    async def fails(work: RecordedWork, at: ChatKey, posts: Sequence[Post]) -> None:
        if not failed.is_set():
            failed.set()
            raise PostgresError("no memory", sqlite3.SQLITE_NOMEM)
        await deliver(work, at, posts)

    monkeypatch.setattr(RecordedWork, "deliver", fails)
    await members.dispatchers[1].ownership.forward(chat, ["key"])
    await failed.wait()

    await members.dispatchers[1].ownership.forward(chat, ["key"])
    await until(lambda: members.works[0].delivered == ["key"])
