"""Plugins read files: what they tell is masked, bounded, and never the sender's word."""

from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from agent_core.messages import text_of
from agent_core.models.scripted import SCRIPTED_MODEL
from agent_core.origin import CLEAN
from channels.text import literal
from gateway.chat.received_files import ROOM, FileContents, ReceivedFile
from gateway.plugin import Plugin
from gateway.security.secrets import Secrets
from gateway.store.rows import InboxItem, Run
from gateway.texts.say import Language
from tests.gateway.conftest import StartBot
from tests.gateway.test_origin_of_posts import last_prompt

SECRET = "xoxb-very-secret-1234567890"  # noqa: S105
PNG = b"\x89PNG\r\n\x1a\nIEND\xaeB`\x82"


class Reader(Plugin):
    """Tells the bytes of a file as its text."""

    name = "reader"
    rooms: ClassVar[list[int]] = []

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        self.rooms.append(room)
        text = file.content.decode("utf-8", "replace")
        return FileContents(text, shown=f"> {'读了' if language == 'zh' else 'Read'} {literal(file.name)}")


class Blind(Plugin):
    """Reads nothing, and leaves it to others."""

    name = "blind"

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        return None


class Stumbles(Plugin):
    """Fails at each file."""

    name = "stumbles"

    async def read(
        self, item: InboxItem, run: Run | None, file: ReceivedFile, room: int, language: Language
    ) -> FileContents | None:
        raise RuntimeError("a torn page")


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_is_in_a_file_is_told_with_the_message(start_bot: StartBot, language: str) -> None:
    bot = await start_bot("At noon.", plugins=(Reader,))

    await bot.hears("when?", files={"menu.pdf": b"Lunch is at noon."}, language=language)

    prompt = last_prompt(bot)
    assert text_of(prompt.content) == "when?"
    assert "[menu.pdf reads:]\nLunch is at noon.\n[End of menu.pdf.]" in (prompt.context or "")
    assert prompt.origin != CLEAN
    assert bot.screen == [f"> {'读了' if language == 'zh' else 'Read'} menu.pdf\n\nAt noon."]


async def test_a_secret_in_a_file_is_masked(start_bot: StartBot) -> None:
    bot = await start_bot("I see.", plugins=(Reader,), secrets=Secrets([SECRET]))

    await bot.hears("look", files={"keys.pdf": f"{'x' * (ROOM - 40)}{SECRET}".encode()})

    assert "xxx" in (last_prompt(bot).context or "")
    assert SECRET[:12] not in f"{last_prompt(bot)}{bot.screen}"


async def test_the_files_of_a_message_share_the_room(start_bot: StartBot) -> None:
    Reader.rooms.clear()
    bot = await start_bot("I see.", plugins=(Reader,))

    await bot.hears("look", files={"a.pdf": b"a" * 1_000, "b.pdf": b"b" * (3 * ROOM), "c.pdf": b"c"})

    context = last_prompt(bot).context or ""
    assert Reader.rooms[0] == ROOM
    assert len(Reader.rooms) == 2, "nothing is read for which there is no room"
    assert "[... the rest is left out here]" in context
    assert "c.pdf, 1 bytes, in the workspace" in context
    assert len(context) < ROOM + 2_000


async def test_a_small_model_is_told_less(start_bot: StartBot) -> None:
    Reader.rooms.clear()
    bot = await start_bot(
        "I see.", plugins=(Reader,), model=SCRIPTED_MODEL.model_copy(update={"context_window": 4_000})
    )

    await bot.hears("look", files={"a.pdf": b"a" * ROOM})

    assert Reader.rooms == [2_000]
    assert (last_prompt(bot).context or "").count("a" * 100) == 20


async def test_pictures_that_the_model_sees_and_empty_files_are_not_read(start_bot: StartBot) -> None:
    Reader.rooms.clear()
    bot = await start_bot("A cat.", plugins=(Reader,))

    await bot.hears("look", files={"cat.png": PNG, "empty.pdf": b""})

    assert Reader.rooms == []


async def test_one_that_does_not_read_it_or_fails_leaves_it_to_the_next(start_bot: StartBot) -> None:
    bot = await start_bot("At noon.", plugins=(Blind, Stumbles, Reader))

    with capture_logs() as logs:
        await bot.hears("when?", files={"menu.pdf": b"Lunch is at noon."})

    assert "Lunch is at noon." in (last_prompt(bot).context or "")
    assert [each["plugin"] for each in logs if each["event"] == "a plugin failed"] == ["stumbles"]


@pytest.mark.parametrize("plugins", [(), (Stumbles,)], ids=["nobody", "one that fails"])
async def test_a_file_that_nobody_reads_is_in_the_workspace(
    start_bot: StartBot, plugins: tuple[type[Plugin], ...]
) -> None:
    bot = await start_bot("I see a file.", plugins=plugins)

    await bot.hears("look", files={"menu.pdf": b"Lunch is at noon."})

    assert "menu.pdf, 17 bytes, in the workspace" in (last_prompt(bot).context or "")
    assert bot.screen == ["I see a file."]
