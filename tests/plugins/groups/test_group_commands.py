"""/activation and /speakers, said in groups by people with and without the right."""

import pytest

from channels.base import (
    Accepted,
    Addressed,
    ChatKey,
    Sender,
)
from channels.limits import Limits
from channels.memory import MemoryChannel
from channels.values import Standing
from gateway.permissions.roles import Role
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

COOK = Sender(id="zoe", name="Zoe", standing=Standing(roles=("67",)))
FULL = Sender(id="yan", name="Yan", standing=Standing(is_full_member=True))


class Server(MemoryChannel):
    """A platform with roles and full members."""

    def __init__(self) -> None:
        super().__init__(limits=Limits(max_text=4_000, tells_full_members=True))
        self.named = {"66": "Cooks", "67": "Head Cooks", "68": "cooks"}

    async def roles(self, chat: ChatKey) -> dict[str, str]:
        return self.named


async def mutters(bot: Bot, sender: str, thread: str | None = None) -> Accepted:
    """Say something in the group that is not addressed to the bot."""
    how = Addressed.AMBIENT
    return await bot.channel.hears("hm", sender=sender, group="team", thread=thread, addressed=how)


async def says(bot: Bot, text: str, sender: str | Sender = "ann", thread: str | None = None) -> str:
    """Say something in the group and return the newest message there."""
    await bot.channel.hears(text, sender=sender, group="team", thread=thread)
    await bot.app.settled()
    return bot.screen[-1]


def role_of(bot: Bot, sender: Sender) -> Role | None:
    return bot.made.people.access.role(bot.channel.chat(group="team"), sender)


async def test_every_message_of_a_group_is_answered_once_an_admin_wants_it(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    assert await mutters(bot, "bob") is Accepted.IGNORED
    assert (await says(bot, "/activation")).startswith("In this group I answer when I am mentioned or replied to, and")
    assert (await says(bot, "/activation always")).startswith("In this group I answer every message of people who may")
    assert await mutters(bot, "bob") is Accepted.NEW
    assert await mutters(bot, "zoe") is Accepted.REFUSED
    await bot.app.settled()
    assert bot.screen[-1] == "One."
    await bot.restart()
    assert await mutters(bot, "bob") is Accepted.NEW


async def test_a_thread_can_be_quieter_than_its_group(start_bot: StartBot) -> None:
    bot = await start_bot()
    await says(bot, "/activation always")
    assert (await says(bot, "/activation mention", thread="7")).startswith("In this thread I answer only when I am")
    assert await mutters(bot, "bob", "7") is Accepted.IGNORED
    assert await mutters(bot, "bob", "8") is Accepted.NEW


@pytest.mark.parametrize(
    "command",
    [
        *("/activation always", "/speakers everybody", "/speakers everybody member", "/speakers listed everywhere"),
        *("/tools exec allow", "/ACTIVATION Always", "/speakers\u3000everybody", "/Speakers\x1ceverybody\x1cmember"),
    ],
)
async def test_only_owners_and_admins_change_a_group(start_bot: StartBot, command: str) -> None:
    bot = await start_bot()
    assert await says(bot, command, sender="bob") == "Only owners and admins can change that. Ask one of them."
    assert role_of(bot, COOK) is None


async def test_the_group_is_opened_and_closed_by_buttons(start_bot: StartBot) -> None:
    bot = await start_bot("Hello, Zoe.")
    await says(bot, "/speakers")
    await bot.channel.presses("/speakers everybody")
    await bot.app.settled()
    assert bot.screen[-1].startswith("In this group everybody may speak with me as a guest, also guests of the")
    assert await says(bot, "hi", sender="zoe") == "Hello, Zoe."
    await says(bot, "/speakers listed")
    assert await bot.channel.hears("hi", sender="zoe", group="team") is Accepted.REFUSED


async def test_a_guest_by_the_group_changes_nothing_in_it(start_bot: StartBot) -> None:
    bot = await start_bot()
    await says(bot, "/speakers everybody member")
    assert role_of(bot, COOK) is Role.MEMBER
    assert (
        await says(bot, "/speakers everybody", sender="zoe")
        == "Only owners and admins can change that. Ask one of them."
    )


@pytest.mark.parametrize(
    ("typed", "role"),
    [
        ("role Head Cooks", Role.GUEST),
        ("role @head cooks member", Role.MEMBER),
        ("role <@&67>", Role.GUEST),
        ("role 67 member", Role.MEMBER),
        ("角色 Head Cooks 成员", Role.MEMBER),
    ],
)
async def test_a_role_on_the_server_admits_its_people(start_bot: StartBot, typed: str, role: Role) -> None:
    bot = await start_bot(channel=Server())
    told = await says(bot, f"/speakers {typed}")
    words = (
        "拥有角色 Head Cooks 的人都可以" if typed.startswith("角色") else "everybody with the role Head Cooks may speak"
    )
    assert words in told
    assert role_of(bot, COOK) is role
    assert role_of(bot, FULL) is None


async def test_full_members_of_the_workspace_are_admitted_and_its_guests_are_not(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Server())
    assert "its guests and people of other organisations may not" in await says(bot, "/speakers workspace")
    assert role_of(bot, FULL) is Role.GUEST
    assert role_of(bot, COOK) is None


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("role Cooks", "Several roles have the name Cooks. Say which by its id: `66`, `68`."),
        ("role Waiters", "There is no role Waiters on this server. Roles: Cooks, Head Cooks, cooks."),
        ("role", "Write `/speakers [listed|"),
        ("everybody owner", "Write `/speakers [listed|"),
        ("everybody admin", "Write `/speakers [listed|"),
        ("admins", "Write `/speakers [listed|"),
        ("-1", "Write `/speakers [listed|"),
    ],
)
async def test_bad_words_change_nothing_and_say_what_to_write(start_bot: StartBot, typed: str, told: str) -> None:
    bot = await start_bot(channel=Server())
    assert told.casefold() in (await says(bot, f"/speakers {typed}")).casefold()
    assert role_of(bot, COOK) is None


@pytest.mark.parametrize("typed", ["role Cooks", "workspace"])
async def test_a_platform_that_cannot_tell_says_so(start_bot: StartBot, typed: str) -> None:
    bot = await start_bot()
    assert "`/speakers everybody`" in await says(bot, f"/speakers {typed}")


async def test_a_private_chat_has_no_such_rules(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.channel.hears("/speakers everybody")
    await bot.app.settled()
    assert bot.screen == ["That is for groups. In a private chat I answer every message of the person it belongs to."]
