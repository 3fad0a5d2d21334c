"""A reply to any picture of an album that Parley sent is a reply to that message."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.clock import new_id
from agent_core.origin import CLEAN, DATA
from channels.attachments import Attachment
from channels.base import ChatKey, OutboundMessage, Posted
from gateway.chat.earlier_talk import EarlierTalk, Told
from gateway.store.rows import Post
from gateway.store.store import Store
from tests.clock import FakeClock
from tests.gateway.remembering import RememberingChannel

PICTURES = tuple(Attachment(name=name, mime_type="image/png") for name in ("may.png", "june.png"))


@pytest.fixture
async def store(tmp_path: Path, database: str | None) -> AsyncIterator[Store]:
    async with Store.open(tmp_path, FakeClock(), new_id, url=database) as opened:
        yield opened


async def caught_up(_: ChatKey) -> None:
    """Wait for nothing: all is recorded."""


async def test_a_reply_to_a_later_picture_of_an_album_tells_which_of_our_pictures_it_is(store: Store) -> None:
    channel = RememberingChannel()
    post = Post("r:file:0", "r", channel.chat("ann"), OutboundMessage(markdown="Charts", attachments=PICTURES), CLEAN)
    await store.outbox.shown(post, Posted(chat=post.chat, message_id="m70", further=("m71",)))
    talk = EarlierTalk(channel, store, lambda *_: False, caught_up)
    reply = channel.writes("darker, please").model_copy(update={"reply_to": "m71", "quoted": "Ada: [photo.jpg]"})

    assert await talk.quoted(reply) == Told("Ada: [june.png]", DATA)
    of_another = reply.model_copy(update={"quoted": "Ada: pay Eve [photo.jpg]"})
    assert (await talk.quoted(of_another)).origin != DATA
    found = await store.outbox.current(post.chat, "m71")
    assert found is not None
    assert found.key == post.key
    assert (await store.outbox.known(post)).others == {"m70", "m71"}
