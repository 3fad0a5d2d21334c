"""Who loses the right to speak loses with it what is open: runs, messages, questions, tasks and jobs."""

import asyncio
import threading
from dataclasses import replace
from itertools import count

import pytest

from agent_core.loop.permissions import Proposal
from agent_core.models.scripted import Waits, calls
from agent_core.skills.library import SkillLibrary
from agent_core.tools.tool import tool
from channels.base import (
    Accepted,
    Addressed,
    MessageReceived,
    Sender,
)
from channels.memory import user
from channels.values import Standing
from gateway.permissions.binding import Binding, binding
from gateway.permissions.groups import SPEAKERS, Audience, Speakers
from gateway.permissions.roles import Role
from gateway.store.chat_settings import places
from gateway.store.job import JobState, Pause
from gateway.store.person import Account, Person
from tests.gateway.approving import asked, questions, recorder, states
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import a_job
from tests.gateway.peopled import Platform
from tests.process import until


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def blocked(bot: Bot, name: str = "bob") -> None:
    """Block a person, as /block does."""
    person = Person(name, None, is_blocked=True, by="memory:ann", accounts=(Account(f"memory:{name}"),))
    await bot.made.base.store.people.save(person)
    bot.made.people.roles.put(person)
    await bot.made.commands.revocation.sweep()


async def made(bot: Bot, role: Role, name: str) -> None:
    person = Person(name, role.value, by="memory:ann", accounts=(Account(f"memory:{name}"),))
    await bot.made.base.store.people.save(person)
    bot.made.people.roles.put(person)
    await bot.made.commands.revocation.sweep()


async def rule(bot: Bot, setting: Speakers, group: str = "team") -> None:
    chat = bot.channel.chat(group=group)
    await bot.made.people.group_rules.set(chat, "ann", places(chat)[0], SPEAKERS, str(setting))


async def test_a_run_ends_with_the_block_and_makes_no_further_call(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, calls(("look", {}))), "never said", tools=(look,))
    await bot.channel.hears("look around", sender="bob")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("and then more", sender="bob")
    await blocked(bot)
    said.set()
    await bot.app.settled()
    assert len(bot.llm.requests) == 1
    assert await bot.made.base.store.inbox.waiting() == []
    assert await bot.channel.hears("hello?", sender="bob") is Accepted.REFUSED


async def test_admins_are_told_what_ended_and_nobody_twice(start_bot: StartBot) -> None:
    said = asyncio.Event()
    turns = Waits(said, calls(("look", {}))), "never said"
    bot = await start_bot(*turns, tools=(look,), channel=Platform())
    await made(bot, Role.ADMIN, "dora")
    await bot.channel.hears("look around", sender="bob")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/block memory:bob", sender="dora")
    await bot.channel.until(lambda: bool(bot.channel.screen_of(bot.channel.chat("dora"))))  # else the run ends first
    said.set()
    await bot.app.settled()
    await bot.made.people.owners.settled()

    notice = "`memory:bob` may no longer speak with me, or have jobs there. Ended or paused: running answers: 1."
    for name in ("ann", "dora", "carl"):
        told = [text for text in bot.channel.screen_of(bot.channel.chat(name)) if text.startswith(notice)]
        assert len(told) == (0 if name == "carl" else 1)


async def test_waiting_messages_of_others_are_still_answered(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "never said"), "For Carl.")
    await bot.channel.hears("mine", sender="bob", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("and mine", sender="carl", group="team")
    await blocked(bot)
    said.set()
    await bot.app.settled()
    assert bot.screen[-1] == "For Carl."


async def test_a_question_closes_and_its_button_works_for_nobody(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "done", tools=(run,))
    question = await asked(bot, sender="bob")
    await blocked(bot)
    await bot.app.settled()
    assert states(bot.home) == ["withdrawn"]
    await bot.channel.hears(f"/approve {question}", sender="ann")
    await bot.app.settled()
    assert ran == []


async def test_a_role_taken_in_mid_run_holds_with_the_next_call(start_bot: StartBot) -> None:
    """An approval given before does not carry the call over the change either."""
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "I may not.", tools=(run,))
    await made(bot, Role.MEMBER, "dora")
    question = await asked(bot, sender="dora")
    await made(bot, Role.GUEST, "dora")
    await bot.channel.hears(f"/approve {question}", sender="dora")
    await bot.app.settled()
    assert ran == []
    assert bot.screen[-1] == "I may not."


async def test_a_role_taken_while_an_approval_is_checked_holds_too(
    start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    checking, go_on, number = threading.Event(), threading.Event(), count()

    def slowly(proposal: Proposal, library: SkillLibrary, *, network: bool) -> Binding:
        if next(number) == 1:  # the first is that of the question
            checking.set()
            go_on.wait(30)
        return binding(proposal, library, network=network)

    monkeypatch.setattr("gateway.permissions.permissions.binding", slowly)
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "I may not.", tools=(run,))
    await made(bot, Role.MEMBER, "dora")
    question = await asked(bot, sender="dora")
    await until(checking.is_set)
    await made(bot, Role.GUEST, "dora")
    await bot.channel.hears(f"/approve {question}", sender="dora")
    await until(lambda: states(bot.home) == ["approved"])
    go_on.set()
    await bot.app.settled()
    assert ran == []
    assert bot.screen[-1] == "I may not."


async def test_jobs_pause_and_say_why(start_bot: StartBot) -> None:
    bot = await start_bot()
    job = replace(a_job("stretch", name="aa0001"), chat=bot.channel.chat("bob"), person="bob")
    await bot.made.base.store.jobs.add(job)
    await blocked(bot)
    found = await bot.made.base.store.jobs.find("aa0001")
    assert found is not None
    assert (found.state, found.pause) == (JobState.PAUSED, Pause.NOT_ALLOWED)


@pytest.mark.usefixtures("no_progress")
async def test_a_change_cut_short_by_a_crash_is_completed_at_the_next_start(start_bot: StartBot) -> None:
    """Also for people who were taken out of the settings, who are told nothing by any command."""
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "done", tools=(run,))
    await asked(bot, sender="bob")
    person = Person("bob", None, is_blocked=True, by="memory:ann", accounts=(Account("memory:bob"),))
    await bot.made.base.store.people.save(person)
    await bot.restart()
    await bot.app.settled()
    assert states(bot.home) == ["withdrawn"]
    assert ran == []
    assert bot.screen[-1].endswith("Stopped, because its sender may no longer speak with me here.")
    assert await bot.made.base.store.runs.unfinished() == []


async def test_what_a_group_gave_ends_when_the_group_is_closed(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "never said"), "hello")
    await rule(bot, Speakers(Audience.EVERYBODY))
    assert await bot.channel.hears("hi", sender="zoe", group="team") is Accepted.NEW
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await rule(bot, Speakers())
    said.set()
    await bot.app.settled()
    assert "never said" not in bot.screen[-1]
    assert await bot.channel.hears("hi", sender="zoe", group="team") is Accepted.REFUSED


async def test_losing_the_servers_role_ends_what_is_open_and_survives_a_restart(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(calls(("run", {"command": ["x"]})), "done", tools=(run,))
    await rule(bot, Speakers(Audience.ROLE, "67", Role.MEMBER))
    cook = Sender(id="zoe", name="Zoe", standing=Standing(roles=("67",)))
    await bot.channel.hears("draw it", sender=cook, group="team")
    await bot.channel.until(lambda: bool(questions(bot)))
    await bot.restart()
    assert bot.made.people.access.role(bot.channel.chat(group="team"), Sender(id="zoe", name="")) is Role.MEMBER
    assert states(bot.home) == ["pending"]
    fired = cook.model_copy(update={"standing": Standing()})
    told = await bot.channel.hears("hm", sender=fired, group="team", addressed=Addressed.AMBIENT)
    assert told is Accepted.REFUSED
    await bot.app.settled()
    assert states(bot.home) == ["withdrawn"]
    assert ran == []


async def test_an_edit_changes_nobody_elses_message(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "one"), "two")
    await bot.channel.hears("first", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)
    await bot.channel.hears("mine", sender="ann", group="team")
    mine = bot.channel.heard[-1]
    assert isinstance(mine, MessageReceived)
    await bot.channel.changes(mine.model_copy(update={"sender": user("carl")}), "run it")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    said.set()
    await bot.app.settled()
    assert "run it" not in str(bot.llm.requests[-1].messages)
