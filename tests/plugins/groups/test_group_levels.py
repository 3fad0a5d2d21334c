"""Rules of groups for a thread, a group, a workspace and everywhere, and what they leave to tools."""

import pytest

from agent_core.models.scripted import calls
from channels.base import Sender
from gateway.permissions.roles import Role
from tests.gateway.approving import questions, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ZOE = Sender(id="zoe", name="Zoe")


async def says(bot: Bot, text: str, *, group: str = "team", thread: str | None = None, language: str = "en") -> str:
    """Say something as the owner and return the newest message."""
    await bot.hears(text, group=group, thread=thread, language=language)
    return bot.screen[-1]


def role_in(bot: Bot, group: str, thread: str | None = None) -> Role | None:
    return bot.made.people.access.role(bot.channel.chat(group=group, thread=thread), ZOE)


@pytest.mark.parametrize(
    ("word", "opened"),
    [
        ("here", [("team", "7")]),
        ("channel", [("team", "7"), ("team", None)]),
        ("", [("team", "7"), ("team", None)]),
        ("workspace", [("team", "7"), ("team", None), ("plans", None)]),
        ("everywhere", [("team", "7"), ("team", None), ("plans", None)]),
        ("所有聊天", [("team", "7"), ("team", None), ("plans", None)]),
    ],
)
async def test_a_rule_holds_at_the_level_that_was_named_also_after_a_restart(
    start_bot: StartBot, word: str, opened: list[tuple[str, str | None]]
) -> None:
    bot = await start_bot()
    await says(bot, f"/speakers everybody {word}", thread="7")
    await bot.restart()

    found = [(group, thread) for group, thread in (("team", "7"), ("team", None), ("plans", None))]

    assert [each for each in found if role_in(bot, *each) is Role.GUEST] == opened
    assert bot.made.people.access.role(bot.channel.chat("zoe"), ZOE) is None


async def test_people_see_which_level_holds_and_how_to_take_it_back(start_bot: StartBot) -> None:
    bot = await start_bot()
    assert "This is the default." in await says(bot, "/activation")
    assert "This is set everywhere." in await says(bot, "/activation always everywhere")
    assert "This is set in this chat and its threads." in await says(bot, "/activation mention")

    hidden = await says(bot, "/activation thread workspace")
    assert hidden.startswith("Set in this whole workspace or server. But here a rule of a narrower level still holds:")
    assert "only when I am mentioned" in hidden

    removed = await says(bot, "/activation default")
    assert removed.startswith("The rule was removed in this chat and its threads. Now:")
    assert "everything in threads" in removed
    assert "This is set in this whole workspace or server." in removed
    assert "设置范围：整个工作区或服务器。" in await says(bot, "/activation", language="zh")


async def test_a_closed_level_takes_back_what_it_gave(start_bot: StartBot) -> None:
    bot = await start_bot()
    await says(bot, "/speakers everybody member everywhere")
    assert role_in(bot, "plans") is Role.MEMBER

    await says(bot, "/speakers default everywhere")

    assert role_in(bot, "plans") is None


async def test_what_tools_may_do_in_a_group_holds_for_its_owner_too(start_bot: StartBot) -> None:
    run, ran = recorder()
    turn = calls(("run", {"command": ["x"]}))
    bot = await start_bot(turn, "I may not.", turn, tools=(run,))
    assert "what the role of the person who asks allows." in await says(bot, "/tools")
    limits = await says(bot, "/tools exec deny everywhere")
    assert "- `exec` (run programs): refused, set everywhere" in limits

    assert await says(bot, "go on") == "I may not."
    assert (ran, questions(bot)) == ([], [])
    await bot.channel.hears("go on", sender="ann")
    await bot.channel.until(lambda: bool(questions(bot)))

    assert ran == []  # in a private chat the limit of groups does not hold: there it is asked, as before


async def test_no_limit_gives_anybody_more_than_their_role(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "I may not.", tools=(run,))
    await says(bot, "/speakers everybody")
    await says(bot, "/tools exec allow")

    await bot.hears("go on", sender="zoe", group="team")

    assert bot.screen[-1] == "I may not."
    assert ran == []


@pytest.mark.parametrize("words", ["exec", "exec maybe", "everything deny", "exec deny nowhere", "-1", "exec deny x y"])
async def test_bad_limits_change_nothing_and_say_what_to_write(start_bot: StartBot, words: str) -> None:
    bot = await start_bot()
    assert (await says(bot, f"/tools {words}")).startswith("Write `/tools [read|")
    assert await bot.made.base.store.chat_settings.names("tools.") == set()


async def test_only_owners_and_admins_limit_tools(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/tools exec allow", sender="bob", group="team")
    assert bot.screen == ["Only owners and admins can change that. Ask one of them."]
