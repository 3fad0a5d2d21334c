"""Plugins are told what happens while Parley runs, and one that fails is in nobody's way."""

from structlog.testing import capture_logs

from channels.base import Accepted, ReactionAdded, ReactionRemoved, Sender
from gateway.plugin import Plugin
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

Reaction = ReactionAdded | ReactionRemoved


def listens(noted: list[Reaction]) -> type[Plugin]:
    """Return a plugin that notes reactions."""

    class Listens(Plugin):
        name = "listens"

        def reacted(self, event: Reaction) -> None:
            noted.append(event)

    return Listens


class Stumbles(Plugin):
    """Fails at each reaction."""

    name = "stumbles"

    def reacted(self, event: Reaction) -> None:
        raise RuntimeError(event.event_id)


async def reacts(bot: Bot, emoji: str, *, sender: str = "ann", kind: type[Reaction] = ReactionAdded) -> Accepted:
    """React to the message that the bot heard first."""
    heard = bot.channel.heard[0]
    return await bot.channel.deliver(
        kind(
            event_id=f"{emoji} {sender} {kind.__name__}",
            chat=heard.chat,
            sender=Sender(id=sender, name=sender),
            at=heard.at,
            message_id=heard.event_id,
            emoji=emoji,
        )
    )


async def test_a_plugin_is_told_of_reactions_of_those_who_may_speak_and_of_nothing_else(start_bot: StartBot) -> None:
    noted: list[Reaction] = []
    bot = await start_bot("Hello.", plugins=(listens(noted),))

    await bot.hears("hi")
    await bot.hears("/help")
    await reacts(bot, "👍")
    assert await reacts(bot, "👎", sender="a stranger") is Accepted.REFUSED
    await reacts(bot, "👍", kind=ReactionRemoved)

    assert [(each.type, each.emoji, each.sender.id) for each in noted] == [
        ("reaction", "👍", "ann"),
        ("reaction_removed", "👍", "ann"),
    ]


async def test_a_plugin_that_fails_is_logged_by_name_and_the_others_are_told(start_bot: StartBot) -> None:
    noted: list[Reaction] = []
    bot = await start_bot("Hello.", plugins=(Stumbles, listens(noted)))

    await bot.hears("hi")
    with capture_logs() as logs:
        await reacts(bot, "👍")

    assert bot.screen == ["Hello."]
    assert [each.emoji for each in noted] == ["👍"]
    assert [(each["event"], each["plugin"]) for each in logs if each["log_level"] == "error"] == [
        ("a plugin failed", "stumbles")
    ]


async def test_a_plugin_that_its_settings_leave_nothing_to_do_is_told_nothing_until_they_change(
    start_bot: StartBot,
) -> None:
    noted: list[Reaction] = []

    class Asleep(Plugin):
        name = "asleep"

        def listens(self) -> bool:
            return self.core.settings.language == "zh"

        def reacted(self, event: Reaction) -> None:
            noted.append(event)

    bot = await start_bot("Hello.", plugins=(Asleep,))
    await bot.hears("hi")

    await reacts(bot, "👀")
    await bot.hears("/config set language zh")
    await reacts(bot, "👍")
    await bot.hears("/config set language en")
    await reacts(bot, "👎")

    assert [each.emoji for each in noted] == ["👍"]
