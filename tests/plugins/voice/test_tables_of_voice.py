"""The tables of voice pass the tests of every plugin, and tell who said what in groups."""

from channels.base import ChatKey
from gateway.plugins.voice.plugin import Voice
from gateway.plugins.voice.table import Recording, Recordings
from parley.testing import Bot
from tests.plugins.both_databases import OnBoth


def recorded(seq: int, chat: ChatKey, person: str) -> Recording:
    return Recording(seq, 0, chat, person, f"{person} was here", 3.0, "whisper-1")


class TestVoice(OnBoth):
    plugin = Voice

    async def use(self, bot: Bot) -> None:
        await bot.hears("hello", sender="bob")
        await bot.hears("hello", sender="bob", group="birds")
        table = bot.made.plugins[0].core.store.table(Recordings)
        await table.add(recorded(1, bot.channel.chat("bob"), "bob"))
        await table.add(recorded(2, bot.channel.chat(group="birds"), "bob"))
        await table.is_first_notice("memory:here:bob", 1)

    async def test_what_others_have_said_and_were_told_stays(self, bot: Bot) -> None:
        table = bot.made.plugins[0].core.store.table(Recordings)
        await table.add(recorded(3, bot.channel.chat(group="birds"), "carl"))
        await table.is_first_notice("memory:here:carl", 3)

        await bot.hears("/forget me", sender="bob")
        await bot.channel.presses("Erase for good", sender="bob")
        await bot.app.settled()

        assert [await table.find(seq, 0) for seq in (1, 2, 3)] == [None, None, "carl was here"]
        assert not await table.is_first_notice("memory:here:carl", 4)
