"""/doctor tries what Parley needs in a chat, names what is missing, and leaves nothing behind."""

import pytest

from channels.base import ChannelError
from channels.memory import NO_PACE, CallKind, MemoryChannel
from channels.terminal.chat import LIMITS
from tests.gateway.conftest import StartBot

WORDS = "Slack does not allow the app to call files.upload: it lacks the scope files:write; add it at https://api.slack.com/apps"


async def test_a_healthy_chat_lacks_nothing_and_shows_only_the_answer(start_bot: StartBot) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=NO_PACE))
    await bot.hears("/doctor", group="birds")

    [answer] = bot.screen
    assert answer.count("✓") == 5
    assert "✗" not in answer
    assert "Nothing is missing here." in answer


@pytest.mark.parametrize(
    ("kind", "what"), [("edit", "edit it"), ("delete", "delete a message"), ("typing", "show that")]
)
async def test_what_is_refused_is_named_with_the_platform_s_words(
    start_bot: StartBot, kind: CallKind, what: str
) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=NO_PACE))
    bot.channel.fails(kind, ChannelError(WORDS, permanent=True))
    await bot.hears("/doctor")

    answer = bot.screen[-1].replace("\\", "")
    assert f"- ✗ {what}" in answer
    assert WORDS in answer
    assert "Repair what is marked" in answer
    assert "test message; I remove" not in "".join(bot.screen[:-1])


async def test_only_admins_may(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/doctor", sender="bob")
    assert bot.screen == ["Only owners and admins can do this."]


async def test_a_terminal_keeps_what_is_written_so_nothing_is_tried_there(start_bot: StartBot) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=LIMITS.model_copy(update={"is_local": False})))
    await bot.hears("/doctor")

    [answer] = bot.screen
    assert answer.startswith("There is nothing to try here")
