"""The key of a post belongs to one chat."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.gateway.test_store import CHAT, opened, post


async def test_the_key_of_a_post_in_another_chat_is_refused_and_nothing_is_written(
    tmp_path: Path, database: str | None
) -> None:
    other = replace(post(0, "for Bob"), chat=CHAT.model_copy(update={"chat": "bob"}))

    async with opened(tmp_path, database) as store:
        await store.outbox.add([post(0, "for Ann")])
        with pytest.raises(ValueError, match="run-1:answer:0 is that of a post in another chat"):
            await store.outbox.add([post(1, "more for Ann"), other])
        found = await store.outbox.unsent()

    assert [(each.chat, each.message.markdown) for each in found] == [(CHAT, "for Ann")]
