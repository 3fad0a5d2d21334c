"""An owner with several accounts is told once, where they were heard last."""

from channels.base import ChannelError, Sender
from channels.limits import Limits
from gateway.permissions.roles import People
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform

EVERYWHERE = People(owners=frozenset({"memory:ann", "phone:a7", "work:annie"}), allow=frozenset())
NAMES = {"memory": ("ann", "Ann"), "phone": ("a7", "Ann Miller"), "work": ("annie", "ann")}


class Platforms:
    """Three platforms on which Ann owns the bot, with accounts that she has not linked."""

    def __init__(self) -> None:
        self.all = {name: Platform(name=name) for name in NAMES}

    async def start(self, start_bot: StartBot, *turns: str, **how: object) -> Bot:
        first, *rest = self.all.values()
        return await start_bot(*turns, channel=first, beside=rest, people=EVERYWHERE, **how)

    async def ann_writes(self, bot: Bot, platform: str, words: str, name: str = "") -> None:
        person, known_as = NAMES[platform]
        await self.all[platform].hears(words, sender=Sender(id=person, name=name or known_as))
        await bot.app.settled()

    def told(self, platform: str, person: str = "") -> list[str]:
        channel = self.all[platform]
        return channel.screen_of(channel.chat(person or NAMES[platform][0]))

    async def stranger_writes(self, bot: Bot, person: str = "eve") -> None:
        await self.all["memory"].hears("hi, may I?", sender=Sender(id=person, name=person.title()))
        await self.all["memory"].until(lambda: bool(self.asked(person)))
        await bot.made.people.stranger_notices.settled()

    def asked(self, person: str = "eve") -> list[str]:
        """Return the platforms on which Ann was asked about a stranger, in order."""
        words = f"(`memory:{person}`) wrote to me and is unknown here"
        return [name for name in self.all for text in self.told(name) if words in text]


async def test_an_owner_is_asked_about_a_stranger_once_where_she_was_heard_last(start_bot: StartBot) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.", "Hello.", "Hello.")
    for platform in ("memory", "work", "phone"):
        await here.ann_writes(bot, platform, "hello")

    await here.stranger_writes(bot)
    await here.ann_writes(bot, "work", "/whoami")
    await here.stranger_writes(bot, "dan")

    assert (here.asked("eve"), here.asked("dan")) == (["phone"], ["work"])


async def test_accounts_of_the_settings_that_never_wrote_are_told_nothing_while_another_can_be(
    start_bot: StartBot,
) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.")
    await here.ann_writes(bot, "work", "hello")

    await here.stranger_writes(bot)
    await bot.restart()
    await bot.made.people.stranger_notices.settled()

    assert here.asked() == ["work"]


async def test_another_account_is_told_when_the_last_one_cannot_be_reached(start_bot: StartBot) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.", "Hello.")
    for platform in ("memory", "phone"):
        await here.ann_writes(bot, platform, "hello")
    here.all["phone"].fails("send", ChannelError("bot was blocked by the user", permanent=True))

    await here.stranger_writes(bot)

    assert here.asked() == ["memory"]


async def test_owners_of_other_names_are_asked_each(start_bot: StartBot) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.", "Hello.")
    await here.ann_writes(bot, "memory", "hello")
    await here.ann_writes(bot, "phone", "hello", name="Zoe Miller")

    await here.stranger_writes(bot)
    await here.all["phone"].until(lambda: len(here.asked()) == 2)

    assert here.asked() == ["memory", "phone"]


async def test_an_owner_with_accounts_that_look_alike_is_offered_to_link_them_once(start_bot: StartBot) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.", "Hello.")
    await here.ann_writes(bot, "memory", "hello")
    await here.ann_writes(bot, "phone", "hello")

    await here.stranger_writes(bot)
    await here.ann_writes(bot, "memory", "/whoami")
    await here.stranger_writes(bot, "dan")

    offered = [text for name in here.all for text in here.told(name) if "look like one person" in text]
    assert len(offered) == 1
    assert "`Ann Miller` (`phone:a7`), `Ann` (`memory:ann`)" in offered[0]
    await here.all["phone"].presses("Link them", sender="a7")
    await here.all["phone"].until(lambda: "/link " in here.told("phone")[-1])


async def test_people_lists_an_owner_with_accounts_that_look_alike_once(start_bot: StartBot) -> None:
    here = Platforms()
    bot = await here.start(start_bot, "Hello.", "Hello.")
    await here.ann_writes(bot, "memory", "hello")
    await here.ann_writes(bot, "phone", "hello")

    await here.ann_writes(bot, "phone", "/people")

    rows = [line for line in here.told("phone")[-1].splitlines() if line.startswith("- ")]
    assert rows == [
        "- Owner: `Ann Miller` `phone:a7`, `memory:ann` (in the settings, one person? `/link` links the accounts)",
        "- Owner: `work:annie` (in the settings)",
    ]


async def test_an_entry_of_the_settings_without_a_workspace_is_known_by_name(start_bot: StartBot) -> None:
    here = Platforms()
    here.all["work"] = Platform(name="work", limits=Limits(max_text=4_000, ids_per_workspace=True))
    bot = await here.start(start_bot, "Hello.", "Hello.", "Hello.")
    for platform in NAMES:
        await here.ann_writes(bot, platform, "hello")

    await here.ann_writes(bot, "work", "/people")

    [row] = [line for line in here.told("work")[-1].splitlines() if line.startswith("- ")]
    assert row.startswith("- Owner: `ann` `work:annie`, `phone:a7`, `memory:ann` (in the settings")
