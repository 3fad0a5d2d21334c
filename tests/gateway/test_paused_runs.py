"""A run that waits for its user's budget holds up nobody else in a group, and goes on with what was said meanwhile."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Waits, calls
from agent_core.tools.tool import Tool, tool
from channels.base import ChatKey
from gateway.chat.session import ChatSession
from gateway.store.budget import Account, Budget, Scope
from gateway.store.opening import FILE
from gateway.texts.amounts import USD, Allowance, Period, Unit
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows
from tests.gateway.test_budgets import DEAR, NO_ROOM
from tests.gateway.test_edited_prompt import sent
from tests.process import until

pytestmark = pytest.mark.usefixtures("no_progress")

TIGHT, AMPLE = (Allowance(Period.DAY, Unit.USD, amount) for amount in (USD // 100, 5 * USD))
TEAM = ChatKey.parse("memory:here:#team")
WAITS = "Waiting: a budget is used up"


def session(bot: Bot) -> ChatSession:
    return bot.made.chats.sessions.of(TEAM)


def paused(bot: Bot) -> list[str]:
    return sorted(run.person for run in session(bot).open_runs.paused)


async def allows(bot: Bot, allowance: Allowance, person: str = "bob") -> None:
    await bot.made.guards.budgets.set(Budget(Account(Scope.PERSON, f"memory:{person}"), allowance), "memory:ann")


async def asks(bot: Bot, sender: str, text: str) -> None:
    await bot.channel.hears(text, sender=sender, group="team")


async def waits_for_room(bot: Bot, person: str = "bob", text: str = "For Bob?") -> None:
    """Let a person's budget have no room for what they ask in the group."""
    await allows(bot, TIGHT, person)
    await asks(bot, person, text)
    await until(lambda: person in paused(bot))


async def is_shown(bot: Bot, text: str) -> None:
    await until(lambda: any(text in shown for shown in bot.screen))


def is_steered(bot: Bot) -> bool:
    mail = session(bot).mail
    return any(map(mail.is_given, mail))


def heard(request: LlmRequest) -> list[str]:
    """Return the words of users in a request, and the roles of other messages."""
    return [text_of(each.content) if each.role == "user" else each.role for each in request.messages]


def ends_of(bot: Bot) -> list[tuple[object, ...]]:
    return rows(bot.home, "SELECT person, reason FROM runs ORDER BY ended")


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def test_others_go_on_while_a_run_waits_for_its_budget(wired_bot: StartBot) -> None:  # D-11, D-23
    bot = await wired_bot("Carl's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await is_shown(bot, WAITS)
    await is_shown(bot, NO_ROOM)

    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")
    assert heard(bot.llm.requests[0]) == ["For Carl?"]

    await allows(bot, AMPLE)
    await bot.app.settled()
    assert heard(bot.llm.requests[1]) == ["For Carl?", "assistant", "For Bob?"]
    assert bot.screen[-1] == "Bob's."
    assert ends_of(bot) == [("carl", "completed"), ("bob", "completed")]


async def test_a_run_goes_on_after_its_tools_with_what_was_said_meanwhile(wired_bot: StartBot) -> None:  # D-11
    seen = asyncio.Event()
    bot = await wired_bot(Waits(seen, calls(("look", {}))), "Carl's.", "Bob's.", tools=(look,), model=DEAR)
    await asks(bot, "bob", "For Bob?")
    await until(lambda: len(bot.llm.requests) == 1)
    await allows(bot, TIGHT)
    seen.set()
    await until(lambda: paused(bot) == ["bob"])
    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert heard(bot.llm.requests[2]) == ["For Carl?", "assistant", "For Bob?", "assistant", "tool_result"]
    assert rows(bot.home, "SELECT count(*) FROM tool_calls") == [(1,)]
    assert bot.screen[-1] == "Bob's."


async def test_the_same_persons_later_words_wait_with_the_run_and_steer_it(wired_bot: StartBot) -> None:  # D-11
    bot = await wired_bot("Bob's.", model=DEAR)
    await waits_for_room(bot, text="Oslo")
    await asks(bot, "bob", "no, Bergen")
    await until(lambda: len(session(bot).mail) == 1)
    assert not bot.llm.requests

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert [heard(each) for each in bot.llm.requests] == [["Oslo", "no, Bergen"]]
    assert await bot.made.base.store.inbox.waiting() == []


async def test_runs_of_several_wait_and_each_goes_on_by_itself(start_bot: StartBot) -> None:
    bot = await start_bot("Carl's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await waits_for_room(bot, "carl", "For Carl?")

    await allows(bot, AMPLE, "carl")
    await is_shown(bot, "Carl's.")
    assert paused(bot) == ["bob"]
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert [heard(each)[-1] for each in bot.llm.requests] == ["For Carl?", "For Bob?"]


async def test_a_run_that_may_go_on_waits_until_that_of_another_is_over(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Carl's."), "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await until(lambda: len(bot.llm.requests) == 1)

    await allows(bot, AMPLE)
    await until(lambda: session(bot).open_runs.has_next)
    assert len(bot.llm.requests) == 1
    said.set()
    await bot.app.settled()

    assert ends_of(bot) == [("carl", "completed"), ("bob", "completed")]


async def test_a_restart_keeps_a_paused_run_and_the_message_behind_it(start_bot: StartBot) -> None:  # D-23
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "never"), "Carl's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await until(lambda: len(bot.llm.requests) == 1)

    await bot.restart()
    await is_shown(bot, "Carl's.")
    await until(lambda: paused(bot) == ["bob"])
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert [heard(each)[-1] for each in bot.llm.requests] == ["For Carl?", "For Carl?", "For Bob?"]
    assert ends_of(bot) == [("carl", "completed"), ("bob", "completed")]
    assert rows(bot.home, "SELECT deaths FROM runs WHERE person = 'bob'") == [("{}",)]


async def test_its_user_stops_it_while_another_run_goes_on(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "Carl's."), model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await until(lambda: len(bot.llm.requests) == 1)

    await asks(bot, "bob", "/stop")
    await until(lambda: paused(bot) == [])
    said.set()
    await bot.app.settled()

    assert sorted(ends_of(bot)) == [("bob", "aborted"), ("carl", "completed")]
    assert any("Stopped" in text for text in bot.screen)


async def test_an_admin_stops_it_and_other_members_cannot(start_bot: StartBot) -> None:
    bot = await start_bot(model=DEAR)
    await waits_for_room(bot)

    await asks(bot, "carl", "/stop")
    await until(lambda: len(bot.screen) == 3)
    assert paused(bot) == ["bob"]
    await asks(bot, "ann", "/stop")
    await bot.app.settled()

    assert ends_of(bot) == [("bob", "aborted")]


async def test_status_and_queue_show_what_waits(start_bot: StartBot) -> None:
    bot = await start_bot(model=DEAR)
    await waits_for_room(bot)

    await asks(bot, "ann", "/queue")
    await is_shown(bot, "Waiting for room in a budget")
    [listed] = [text for text in bot.screen if "Waiting for room in a budget" in text]
    assert "For Bob?" in listed
    await asks(bot, "ann", "/status")
    await is_shown(bot, "**Budget:** 1 waiting for room, see /queue")


async def test_a_message_taken_back_meanwhile_is_not_answered(start_bot: StartBot) -> None:
    bot = await start_bot("Carl's.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "/rewind")
    await is_shown(bot, "no longer know the last exchange")

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert not bot.llm.requests
    assert ends_of(bot) == [("bob", "aborted")]


async def test_the_order_is_the_same_when_the_conversation_is_read_again(start_bot: StartBot) -> None:
    bot = await start_bot("Carl's.", "Bob's.", "Last.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")
    await allows(bot, AMPLE)
    await bot.app.settled()

    await bot.restart()
    await asks(bot, "carl", "And now?")
    await bot.app.settled()

    assert heard(bot.llm.requests[-1]) == ["For Carl?", "assistant", "For Bob?", "assistant", "And now?"]


async def test_an_answer_that_had_waited_is_given_again_as_the_last_one(start_bot: StartBot) -> None:
    bot = await start_bot("Carl's.", "Bob's.", "Bob's again.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")
    await allows(bot, AMPLE)
    await bot.app.settled()

    await asks(bot, "bob", "/retry")
    await bot.app.settled()

    assert bot.screen[-1] == "Bob's again."
    assert heard(bot.llm.requests[-1])[-1] == "For Bob?"


async def test_an_edit_of_a_paused_message_is_answered_once(start_bot: StartBot) -> None:
    bot = await start_bot("Bob's.", model=DEAR)
    await waits_for_room(bot)
    await bot.channel.changes(sent(bot, "For Bob?"), "For Bob, please?")
    await until(lambda: len(session(bot).mail) == 1)

    await allows(bot, AMPLE)
    await bot.app.settled()

    assert [heard(each) for each in bot.llm.requests] == [["For Bob, please?"]]


class Lingering:
    """A tool that looks until it is told to end."""

    def __init__(self) -> None:
        self.starts = 0
        self.over = asyncio.Event()

    @property
    def tool(self) -> Tool:
        @tool(idempotent=True)
        async def linger() -> str:
            """Look for a while."""
            self.starts += 1
            await self.over.wait()
            return "seen"

        return linger


async def test_who_writes_while_a_run_without_room_is_resumed_is_answered_at_once(start_bot: StartBot) -> None:
    lingering = Lingering()
    bot = await start_bot(calls(("linger", {})), "Ann's.", "Bob's.", tools=(lingering.tool,), model=DEAR)
    await asks(bot, "bob", "For Bob?")
    await until(lambda: lingering.starts == 1)
    await allows(bot, TIGHT)
    await bot.restart()
    await until(lambda: lingering.starts == 2)
    await asks(bot, "ann", "For Ann?")
    await until(lambda: is_steered(bot))

    lingering.over.set()
    await is_shown(bot, "Ann's.")
    await bot.restart()
    await until(lambda: paused(bot) == ["bob"])
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert heard(bot.llm.requests[-1]) == ["For Ann?", "assistant", "For Bob?", "assistant", "tool_result"]
    assert ends_of(bot) == [("ann", "completed"), ("bob", "completed")]


async def test_a_run_that_waits_a_second_time_stays_behind_what_was_said_meanwhile(start_bot: StartBot) -> None:
    bot = await start_bot("Carl's.", "Bob's.", model=DEAR)
    await waits_for_room(bot)
    await asks(bot, "carl", "For Carl?")
    await is_shown(bot, "Carl's.")
    await asks(bot, "bob", "please")
    await until(lambda: len(session(bot).mail) == 1)

    for _ in range(3):  # each time it takes its user's words in, and has no room for an answer
        await bot.restart()
        await until(lambda: paused(bot) == ["bob"])
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert heard(bot.llm.requests[-1]) == ["For Carl?", "assistant", "For Bob?", "please"]
    assert bot.screen[-1] == "Bob's."


async def test_a_damaged_message_without_its_id_keeps_no_run_from_waiting(start_bot: StartBot) -> None:
    bot = await start_bot("Bob's.", model=DEAR)
    await waits_for_room(bot)
    await bot.stop()
    with closing(sqlite3.connect(bot.home / FILE)) as store, store:
        damaged = "replace(message, '\"id\"', '\"ie\"')"
        store.execute(f"INSERT INTO transcript SELECT 2, chat, session, run, turn, {damaged} FROM transcript")  # noqa: S608

    await bot.restart()
    await until(lambda: paused(bot) == ["bob"])
    await allows(bot, AMPLE)
    await bot.app.settled()

    assert bot.screen[-1] == "Bob's."
