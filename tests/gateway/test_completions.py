"""What people are offered while they type the arguments of a command, and in menus and /help, by their role."""

import sys

import pytest

from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import SCRIPTED_MODEL, ScriptedLlm
from channels.commands import Typed
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.permissions.roles import Role
from gateway.runs.model_set import ModelMenu
from gateway.settings.run_time import changeable
from gateway.store.person import Account, Person
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

FAST = ModelInfo(**{**SCRIPTED_MODEL.model_dump(), "id": "house/fast"})
MENU = ModelMenu(others=[Candidate(FAST, ScriptedLlm())])
PEOPLE = {"ann": Role.OWNER, "bob": Role.MEMBER, "gus": Role.GUEST}


async def offers(
    bot: Bot, sender: str, command: str, option: str, text: str = "", before: str = "", *, group: str | None = None
) -> list[str]:
    """Return the values that somebody is offered."""
    session = bot.made.chats.sessions.of(bot.channel.chat(sender, group=group))
    typed = Typed(command=command, option=option, text=text, before=before)
    return [each.value for each in await bot.made.commands.table.suggest(session, user(sender), typed)]


async def lived_in(start_bot: StartBot) -> Bot:
    """Return a bot with a conversation, a job and three people."""
    bot = await start_bot(
        "It grows.", "So it does.", "Yes.", "Well.", models=MENU, settings={"guest_models": frozenset({"house/none"})}
    )
    await bot.hears("how is the garden?")
    await bot.hears("/remind tomorrow at 9 water the garden")
    await bot.hears("/allow memory:gus guest")
    return bot


async def test_known_values_are_offered(start_bot: StartBot) -> None:
    bot = await lived_in(start_bot)
    (job,) = await bot.made.jobs.jobs.shown(bot.channel.chat("ann"))
    (run,) = await bot.made.base.store.run_records.newest(bot.channel.chat("ann"), None, 9)

    assert "remind" in await offers(bot, "ann", "help", "name", "rem")
    assert await offers(bot, "ann", "model", "name", "fast") == ["house/fast"]
    assert await offers(bot, "ann", "retry", "model", "house") == ["house/fast"]
    assert await offers(bot, "ann", "tz", "name", "new york") == ["America/New_York"]
    assert await offers(bot, "ann", "resume", "id", "gard") == [run.session[:6]]
    assert await offers(bot, "ann", "cron", "id", "water", "pause") == [job.id]
    assert await offers(bot, "ann", "budget", "amount", "", "job") == [job.id]
    assert await offers(bot, "ann", "budget", "amount", "", "here") == []
    assert await offers(bot, "ann", "role", "person", "gu") == ["memory:gus"]
    assert await offers(bot, "ann", "block", "person", "guest") == ["memory:gus"]
    assert set(await offers(bot, "ann", "config", "more", "")) == {*list(changeable())[:25]}
    assert await offers(bot, "ann", "think", "action") == []  # the platform lists these itself
    assert await offers(bot, "ann", "nonsense", "id") == []


async def test_nobody_is_offered_what_they_may_not_see(start_bot: StartBot) -> None:
    bot = await lived_in(start_bot)
    await bot.hears("how is mine?", sender="bob", group="team")
    commands = bot.made.commands.table.commands

    for sender, role in PEOPLE.items():
        for command in commands:
            for option in command.spec.options:
                found = await offers(bot, sender, command.name, option.name)
                assert found == [] or role.is_at_least(command.offered_to), (sender, command.name)
    assert await offers(bot, "mallory", "help", "name") == []
    for sender in ("bob", "gus"):
        assert await offers(bot, sender, "forget", "person") == []
        assert await offers(bot, sender, "cron", "id") == []  # of another chat
    assert "house/fast" in await offers(bot, "bob", "model", "name")
    assert "house/fast" not in await offers(bot, "gus", "model", "name")
    assert await offers(bot, "ann", "config", "more", group="team") == []
    assert len(await offers(bot, "bob", "resume", "id", group="team")) == 1
    assert await offers(bot, "gus", "resume", "id", group="team") == []
    await bot.hears("and mine?", sender="gus", group="team")
    await bot.hears("/new", group="team")
    await bot.hears("not for gus", sender="bob", group="team")
    assert len(await offers(bot, "gus", "resume", "id", group="team")) == 1
    assert "config" not in await offers(bot, "gus", "help", "name")


async def test_at_most_25_values_come_with_little_work(start_bot: StartBot) -> None:
    bot = await lived_in(start_bot)
    for number in range(2_000):
        bot.made.people.roles.put(_person(number))
    for command, option in (("role", "person"), ("tz", "name"), ("help", "name"), ("resume", "id"), ("cron", "id")):
        found = await offers(bot, "ann", command, option)
        assert 0 < len(found) <= 25
        assert await _calls(bot, command, option) <= 40 * 2_000, command


async def _calls(bot: Bot, command: str, option: str) -> int:
    """Return the number of function calls that completing a value takes."""
    count = 0

    def note(_frame: object, event: str, _of: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        await offers(bot, "ann", command, option, "a")
    finally:
        sys.setprofile(None)
    return count


def _person(number: int) -> Person:
    return Person(f"p{number}", "member", accounts=(Account(f"memory:p{number}", f"Person {number}"),))


@pytest.mark.parametrize("sender", PEOPLE)
async def test_help_lists_what_a_role_is_offered(start_bot: StartBot, sender: str) -> None:
    bot = await lived_in(start_bot)
    await bot.hears("/help more", sender=sender)

    told = bot.screen[-1]
    for command in bot.made.commands.table.commands:
        is_offered = not command.hidden and PEOPLE[sender].is_at_least(command.offered_to)
        assert (f"- /{command.name} " in told) == is_offered, command.name
    await bot.hears("/help config", sender=sender)
    assert ("is for people with more rights here" in bot.screen[-1]) == (sender != "ann")
    await bot.hears("/confgi", sender=sender)
    assert ("Did you mean /config?" in bot.screen[-1]) == (sender == "ann")


async def test_each_command_with_arguments_tells_its_usage_with_an_example_and_is_found_when_mistyped(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channel=MemoryChannel(limits=NO_PACE))
    for command in bot.made.commands.table.offered(Role.OWNER):
        await bot.hears(f"/help {command.name}")
        assert f"/{command.name}" in bot.screen[-1]
        if command.arguments not in {"", "[ID]"}:
            assert f", for example `/{command.name} " in bot.screen[-1]
        if any(option.required for option in command.spec.options):
            await bot.hears(f"/{command.name}")
            assert f"Write `/{command.name} " in bot.screen[-1]
        mistyped = f"{command.name}{command.name[-1]}"
        await bot.hears(f"/{mistyped}")
        assert "Did you mean /" in bot.screen[-1], mistyped
        await bot.hears(f"/help {mistyped}")
        assert "Did you mean /" in bot.screen[-1], mistyped
