"""Budgets as people meet them: a run without room waits, is let on by a button, and every call is accounted for."""

import asyncio
from pathlib import Path

import pytest

from agent_core.loop.model_chain import Candidate
from agent_core.models.llm import FailureCause, FailureKind, LlmRequest
from agent_core.models.scripted import SCRIPTED_MODEL, Failure, ScriptedLlm, Turn, Waits
from channels.memory import NO_PACE
from gateway.permissions.room import Charged
from gateway.settings.budgets import BudgetSettings
from gateway.store.budget import ALL, Account, Payer, Scope, Spent
from gateway.store.job import FiringState, Report
from gateway.texts.amounts import Period
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.jobs.kit import Calendar, a_job, make_timed_bot
from tests.gateway.jobs.test_run_now import FindingChannel
from tests.gateway.tasking import Cast, begins, rows
from tests.process import until

DEAR = SCRIPTED_MODEL.model_copy(update={"input_price": 3.0, "output_price": 15.0})
"""Its longest answer costs 0.06 USD."""
STATES = "SELECT state, count(*) FROM spending GROUP BY state"
NO_ROOM = "has no room for the next step"


def _tight(**how: object) -> dict[str, object]:
    return {"model": DEAR, "budgets": BudgetSettings(all="0.01 USD a day"), **how}


def _seen_by(bot: Bot, sender: str) -> str:
    return "\n".join(bot.channel.screen_of(bot.channel.chat(sender)))


def _buttons(bot: Bot, sender: str) -> list[str]:
    chat = bot.channel.chat(sender)
    posts = [message for posted, message in bot.channel.posts if posted.chat == chat]
    return [button.label for message in posts for row in message.buttons for button in row]


def _used(bot: Bot, account: Account = ALL) -> int:
    return bot.made.guards.budgets.ledger.used(account, bot.clock.time(), Period.DAY).tokens


async def _waits(bot: Bot, text: str = "hi", sender: str = "ann") -> None:
    await bot.channel.hears(text, sender=sender)
    await until(lambda: NO_ROOM in _seen_by(bot, sender))


# Used up


async def test_a_run_without_room_waits_and_goes_on_once_the_owner_raises_the_budget(wired_bot: StartBot) -> None:
    bot = await wired_bot("Hello!", **_tight())
    await _waits(bot)
    assert not bot.llm.requests

    await bot.channel.presses("Raise to 1 USD a day")
    await bot.app.settled()

    assert "Hello!" in bot.screen
    assert any("The budget is set" in text and "1 USD a day" in text for text in bot.screen)


async def test_a_waiting_run_survives_a_restart_and_is_asked_about_only_once(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await _waits(bot)

    await bot.restart()
    await until(lambda: not bot.made.chats.sessions.are_idle)
    await bot.channel.presses("Raise to 1 USD a day")
    await bot.app.settled()

    assert "Hello!" in bot.screen
    asked = [text for text in bot.screen if "was set" in text or NO_ROOM in text]
    assert len(asked) <= 1


@pytest.mark.usefixtures("no_progress")
async def test_others_see_one_sentence_and_cannot_raise_it(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await _waits(bot, sender="bob")
    assert _buttons(bot, "bob") == []

    await bot.channel.hears("/budget all 5 USD a day", sender="bob")
    await until(lambda: "Only owners and admins can change budgets." in _seen_by(bot, "bob"))
    assert not bot.llm.requests

    await bot.channel.hears("/budget all 5 USD a day")
    await bot.app.settled()
    assert "Hello!" in _seen_by(bot, "bob")


async def test_a_member_who_presses_in_a_group_is_refused_and_an_owner_is_not(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await bot.channel.hears("hi", sender="bob", group="team")
    await until(lambda: any(NO_ROOM in text for text in bot.screen))

    await bot.channel.presses("Raise to 1 USD a day", sender="bob")
    await until(lambda: "Only owners and admins can change budgets." in bot.screen)
    assert not bot.llm.requests
    await bot.channel.presses("Raise to 1 USD a day", sender="ann")
    await bot.app.settled()

    assert "Hello!" in bot.screen


async def test_an_old_button_never_lowers_a_budget(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await _waits(bot)
    old = next(b.action for _, m in bot.channel.posts for row in m.buttons for b in row if b.label.startswith("Raise"))
    await bot.hears("/budget all 50 USD a day")

    await bot.hears(old)

    assert "The budget is that high already." in bot.screen[-1]
    assert "50 USD a day" in bot.screen[-1]


async def test_a_stopped_run_does_not_wait_for_its_budget(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await _waits(bot)

    await bot.hears("/stop")

    assert not bot.llm.requests
    assert _used(bot) == 0


async def test_a_waiting_run_does_not_delay_the_end_of_the_program(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", **_tight())
    await _waits(bot)

    await (await bot.drains())

    assert not bot.llm.requests


async def test_compact_is_refused_instead_of_waiting_so_that_the_budget_can_be_raised(start_bot: StartBot) -> None:
    bot = await start_bot("one", "two", model=DEAR)
    await bot.hears("long " * 400)
    await bot.hears("long " * 400)
    await bot.hears("/budget all 0.01 USD a day")

    await bot.hears("/compact")

    assert len(bot.llm.requests) == 2
    await bot.hears("/budget all 5 USD a day")
    assert "The budget is set" in bot.screen[-1]


# Every call once


async def test_each_attempt_is_accounted_for_with_what_it_used(wired_bot: StartBot) -> None:
    bot = await wired_bot(Failure(FailureKind.TRANSIENT), "Hello!")

    await bot.hears("hi")

    assert len(bot.llm.requests) == 2
    assert rows(bot.home, "SELECT count(*), count(DISTINCT id) FROM spending") == [(2, 2)]
    [(both,)] = rows(bot.home, "SELECT sum(tokens) FROM spending")
    assert _used(bot) == both


async def test_the_calls_of_a_task_are_charged_once_to_the_same_person_and_chat(wired_bot: StartBot) -> None:
    cast = Cast(begins("count", background=False), "There are 42.", tasks={"count": ["42 files."]})
    bot = await wired_bot(*cast.turns)

    await bot.hears("count the files")

    assert len(bot.llm.requests) == 3
    assert rows(bot.home, "SELECT count(*), count(DISTINCT run) FROM spending") == [(3, 2)]
    assert rows(bot.home, "SELECT DISTINCT chat, person FROM spending") == [("memory:here:ann", "memory:ann")]
    [(spent,)] = rows(bot.home, "SELECT sum(tokens) FROM spending")
    for account in (ALL, Account(Scope.PERSON, "memory:ann"), Account(Scope.CHAT, "memory:here:ann")):
        assert _used(bot, account) == spent


async def test_a_summary_is_charged_to_the_person_who_asked_for_it(wired_bot: StartBot) -> None:
    def talker(request: LlmRequest) -> Turn:
        return "## Goal\nFly." if request.system.startswith("You shorten a conversation") else "ok"

    bot = await wired_bot(*[talker] * 4)
    for _ in range(3):
        await bot.hears("I want to fly to Tokyo in the morning. " * 100)

    await bot.hears("/compact")

    assert rows(bot.home, "SELECT count(*) FROM spending WHERE person = 'memory:ann'") == [(len(bot.llm.requests),)]


async def test_a_call_cut_off_by_the_end_of_the_program_counts_in_full_as_an_estimate(start_bot: StartBot) -> None:
    waits = Waits(asyncio.Event(), "never")
    bot = await start_bot(waits, "Hello!")
    await bot.channel.hears("hi")
    await waits.reached.wait()
    [(reserved,)] = rows(bot.home, "SELECT tokens FROM spending WHERE state = 'reserved'")

    await bot.restart()  # the run goes on with a new call
    await bot.app.settled()

    assert rows(bot.home, STATES) == [("estimate", 1), ("settled", 1)]
    [(estimated,)] = rows(bot.home, "SELECT tokens FROM spending WHERE state = 'estimate'")
    assert estimated == reserved


@pytest.mark.parametrize(("may_be_billed", "state"), [(False, "settled"), (True, "estimate")])
async def test_a_call_without_an_answer_counts_in_full_if_it_may_be_billed(
    start_bot: StartBot, state: str, *, may_be_billed: bool
) -> None:
    lost = Failure(cause=FailureCause.NETWORK, may_be_billed=may_be_billed)
    bot = await start_bot(lost, "Hello!")

    await bot.hears("hi")

    # All that was reserved holds the longest answer.
    lines = rows(bot.home, "SELECT state, tokens > 4096 FROM spending ORDER BY at")
    assert lines == [(state, may_be_billed), ("settled", False)]


async def test_an_unknown_price_counts_as_the_ceiling(start_bot: StartBot) -> None:
    bot = await start_bot("Hello!", budgets=BudgetSettings(unknown_price=1_000.0))

    await bot.hears("hi")

    # 1,000 dollars a million tokens, in billionths of a dollar
    assert rows(bot.home, "SELECT cost = tokens * 1000000, cost > 0 FROM spending") == [(1, 1)]


async def test_many_chats_share_one_budget_and_never_exceed_it(start_bot: StartBot) -> None:
    bot = await start_bot(*["Hello!"] * 40, budgets=BudgetSettings(all="20k tokens a day"))
    await asyncio.gather(*(bot.channel.hears("hi", group=f"g{number}") for number in range(9)))
    assert _used(bot) <= 20_000
    await bot.app.settled()

    assert bot.screen.count("Hello!") == 9
    assert _used(bot) <= 20_000
    assert rows(bot.home, "SELECT count(*) FROM spending") == [(len(bot.llm.requests),)]


# Told in time


async def _has_used(bot: Bot, tokens: int, person: str = "ann") -> None:
    """Charge an earlier call to a person and their private chat."""
    payer = Payer(bot.channel.chat(person), "earlier", person, f"memory:{person}")
    charged = await bot.made.guards.budgets.reserve(payer, "scripted", Spent(tokens))
    assert isinstance(charged, Charged)
    bot.made.guards.budgets.settle(charged, "scripted", Spent(tokens), "settled")


async def test_at_80_percent_there_is_one_quiet_word_and_the_cheaper_model_from_then_on(start_bot: StartBot) -> None:
    cheap = ScriptedLlm("Cheap.", "Cheap again.")
    bot = await start_bot("Dear.", cheaper=Candidate(SCRIPTED_MODEL.model_copy(update={"id": "cheap"}), cheap))
    await bot.hears("/budget here 100k tokens a day")
    await bot.hears("hi")

    await _has_used(bot, 81_000)
    await bot.hears("and now?")
    await bot.hears("and again?")

    assert len(bot.llm.requests) == 1
    assert len(cheap.requests) == 2
    told = [message for _, message in bot.channel.posts if "% of a budget are used" in message.markdown]
    assert [(each.silent, each.buttons) for each in told] == [(True, ())]
    assert any("Answered by cheap." in text for text in bot.screen)


async def test_after_a_restart_the_word_is_not_repeated(start_bot: StartBot) -> None:
    bot = await start_bot(*["ok"] * 3)
    await bot.hears("/budget me 100k tokens a month")
    await _has_used(bot, 85_000)
    await bot.hears("hi")

    await bot.restart()
    await bot.hears("hi again")

    assert sum("% of a budget are used" in text for text in bot.screen) <= 1
    assert _used(bot) > 85_000


async def test_the_budget_of_everything_is_told_to_the_owners_and_not_to_members(start_bot: StartBot) -> None:
    bot = await start_bot("ok", "ok")
    await bot.hears("/budget all 100k tokens a day")
    await bot.hears("hi", sender="bob")

    await _has_used(bot, 85_000, "bob")
    await bot.app.settled()

    assert "of a budget" not in _seen_by(bot, "bob")


async def _makes_admin(bot: Bot, person: str) -> None:
    await bot.hears("hello", sender=person)  # so that there is a private chat
    await bot.hears(f"/role memory:{person} admin")


@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "after a restart"])
async def test_admins_are_told_of_the_budget_of_everything_privately_and_once(
    start_bot: StartBot, *, restarts: bool
) -> None:
    bot = await start_bot(*["ok"] * 3, channel=FindingChannel(limits=NO_PACE))
    await _makes_admin(bot, "bob")
    await bot.hears("/budget all 100k tokens a day")
    if restarts:
        await bot.restart()

    await _has_used(bot, 85_000, "carl")
    await bot.app.settled()
    await until(lambda: all("% of a budget are used" in _seen_by(bot, each) for each in ("ann", "bob")))
    await bot.restart()
    await _has_used(bot, 1_000, "carl")
    await bot.app.settled()

    assert [_seen_by(bot, each).count("% of a budget are used") for each in ("ann", "bob", "carl")] == [1, 1, 0]


@pytest.mark.usefixtures("no_progress")
async def test_an_admin_raises_a_budget_that_holds_up_another_person(start_bot: StartBot) -> None:
    bot = await start_bot("ok", "Hello!", channel=FindingChannel(limits=NO_PACE), model=DEAR)
    await _makes_admin(bot, "bob")
    await bot.hears("/budget all 0.01 USD a day")
    await bot.channel.hears("hi", sender="carl")
    await until(lambda: all(NO_ROOM in _seen_by(bot, each) for each in ("ann", "bob", "carl")))
    assert [_seen_by(bot, each).count(NO_ROOM) for each in ("ann", "bob")] == [1, 1]
    assert _buttons(bot, "carl") == []

    await bot.channel.presses("Raise to 1 USD a day", sender="bob")
    await bot.app.settled()

    assert "Hello!" in _seen_by(bot, "carl")


async def test_room_comes_with_the_next_day_by_itself(tmp_path: Path) -> None:
    clock = Calendar("2026-11-23 22:00")
    bot = make_timed_bot(tmp_path, ["Good morning!"], clock=clock)
    await bot.start()
    try:
        await bot.hears("/budget all 10k tokens a day")
        await _has_used(bot, 9_000)
        await bot.channel.hears("hi")
        await until(lambda: NO_ROOM in _seen_by(bot, "ann"))
        assert "on 2026-11-24" in _seen_by(bot, "ann")

        bot.at("2026-11-24 00:01")
        await until(lambda: "Good morning!" in bot.screen)
    finally:
        await bot.stop()


async def test_a_job_does_not_wait_and_says_why_in_its_outcome(tmp_path: Path) -> None:
    bot = make_timed_bot(tmp_path, ["Sales: 42."])
    await bot.start()
    try:
        await bot.has(a_job(Report(instructions="Report yesterday's sales.")))
        await bot.hears("/budget job abc123 10 tokens a day")
        bot.at("2026-11-23 09:00")
        await bot.look()

        firing = await bot.firing("abc123")
        assert (firing.state, firing.cause) == (FiringState.FAILED, "spent")
        assert "A budget has no room for this. See /budget." in bot.screen[-1]
        assert not bot.llm.requests

        await bot.hears("/budget job abc123 off")
        bot.at("2026-11-24 09:00")
        await bot.look()
        assert "Sales: 42." in bot.screen[-1]
        assert rows(bot.home, "SELECT job, count(*) FROM spending GROUP BY job") == [("abc123", 1)]
    finally:
        await bot.stop()
