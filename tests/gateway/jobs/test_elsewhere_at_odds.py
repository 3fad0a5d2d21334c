"""Reports in other chats when their author is forgotten, changes them meanwhile, or has an odd name."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent_core.messages import NotificationMessage
from agent_core.origin import NOT_KNOWN
from channels.base import ChatKey, Sender
from channels.text import literal
from gateway.store.job import JobState
from gateway.store.job_targets import TargetState
from gateway.store.owed import Owed, Owes
from tests.gateway.jobs.asking import press, typed_ids
from tests.gateway.jobs.conftest import StartTimedBot
from tests.gateway.jobs.kit import ANN, TEAM, TimedBot, seen
from tests.gateway.jobs.test_elsewhere import TABLE, of, pressed, state, wished


async def notes(bot: TimedBot, chat: ChatKey) -> list[NotificationMessage]:
    history = await bot.store.transcript.history((await bot.store.chats.get(chat)).session)
    return [each for each in history if isinstance(each, NotificationMessage)]


async def forget(bot: TimedBot) -> None:
    await bot.hears("/forget me")
    await press(bot, bot.channel.posts[-1][1].buttons[0][0].label)
    await bot.settled()


async def test_the_agent_of_the_other_chat_knows_nothing_of_the_report_once_its_author_is_forgotten(
    start_bot: StartTimedBot,
) -> None:
    bot = await wished(start_bot, TABLE, "No idea.")
    await pressed(bot, "Allow")
    bot.at("2026-11-30 09:00")
    await bot.look()
    [note] = await notes(bot, TEAM)
    assert "sent:Ann:report ab0001" in note.origin.sources

    await forget(bot)
    assert [each.origin for each in await notes(bot, TEAM)] == [NOT_KNOWN]
    assert [(note.text, note.quoted, note.data) for note in await notes(bot, TEAM)] == [("(erased)", "", {})]
    assert (await bot.store.search.find([TEAM], "roof", 5)).found == []
    await bot.hears("which one?", sender="bob", group="team")
    assert "roof" not in seen(bot.llm.requests[-1])


async def change_before_the_answer_is_written(bot: TimedBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the author's change of the words be written after the next answer was read, and before it is written."""
    await bot.hears("/cron change ab0001 every monday 9:00 tell a joke")
    draft = next(each for each in await bot.store.jobs.planned(ANN) if each.state is JobState.DRAFT)
    add = bot.store.owed.add

    async def late(owes: Owes) -> Sequence[Owed]:
        monkeypatch.undo()
        await bot.store.jobs.take_over(draft.id, "ab0001", lambda job: replace(job, work=draft.work))
        return await add(owes)

    monkeypatch.setattr(bot.store.owed, "add", late)


@pytest.mark.parametrize("how", ["with the button", "with a command"])
async def test_words_that_change_while_the_other_chat_agrees_are_shown_there_first(
    start_bot: StartTimedBot, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    bot = await wished(start_bot)
    agree = bot.channel.posts[-1][1].buttons[0][0].action if how == "with the button" else "/cron allow ab0001"
    await change_before_the_answer_is_written(bot, monkeypatch)
    await bot.hears(agree, sender="bob", group="team")
    assert (await bot.job("ab0001")).words == "tell a joke"
    assert await state(bot) == [TargetState.ASKED]
    assert "> tell a joke" in of(bot, TEAM)
    await pressed(bot, "Allow")
    assert await state(bot) == [TargetState.OPEN]


async def test_a_refusal_stands_though_the_words_change_meanwhile(
    start_bot: StartTimedBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await wished(start_bot)
    await pressed(bot, "Allow")
    await change_before_the_answer_is_written(bot, monkeypatch)
    await bot.hears("/cron stop ab0001", sender="bob", group="team")
    assert await state(bot) == [TargetState.REFUSED]


async def test_a_name_in_quotation_marks_is_content_and_the_refusal_of_an_unknown_one_says_so(
    start_bot: StartTimedBot,
) -> None:
    bot = await start_bot("Hi.", new_request_id=typed_ids())
    asks_for = "/report every day 9:00 explain what happened to #123"
    await bot.hears(asks_for)
    assert of(bot, ANN).endswith('If it is no chat, put it in quotation marks: `"#123"`.')
    await bot.hears("hello", group="team")
    await bot.hears(asks_for)
    assert of(bot, ANN).endswith('If it is no chat, put it in quotation marks: `"#123"`.')
    for mark in ('"#123"', "“#123”", "'#123'", "`#123`", "「#123」"):
        await bot.hears(f"/report every day 9:00 explain what happened to {mark}")
        assert f"> explain what happened to {literal(mark)}\n" in of(bot, ANN)
        assert "Posted in" not in of(bot, ANN)
    await bot.hears("/language zh")
    await bot.hears("/report 每天9点 说明问题，发到 #123")
    assert of(bot, ANN).endswith('如果这不是聊天，请给它加上引号：`"#123"`。')


async def test_names_of_people_and_chats_hide_nothing_in_questions_and_posts(start_bot: StartTimedBot) -> None:
    bot = await start_bot("Hi.", TABLE, new_request_id=typed_ids())
    ann, bob = (Sender(id=each, name=f"{each}\u202e\n\n# x\u200b") for each in ("ann", "bob"))
    odd = "te\u202eam\u2066"
    await bot.channel.hears("hello", sender=ann, group=odd)
    await bot.settled()
    await bot.channel.hears(f"/report every monday 9:00 list what is late to #{odd}", sender=ann)
    await bot.settled()
    (confirm,) = [each.action for each in bot.channel.posts[-1][1].buttons[0] if each.label == "Confirm"]
    await bot.channel.hears(confirm, sender=ann)
    await bot.settled()
    await bot.channel.hears("/cron allow ab0001", sender=bob, group=odd)
    await bot.settled()
    bot.at("2026-11-30 09:00")
    await bot.look()

    texts = [message.markdown for _, message in bot.channel.posts]
    assert any("ann⟨U+202E⟩ # x⟨U+200B⟩ would like a report" in each for each in texts)
    assert any("A report of ann⟨U+202E⟩ # x⟨U+200B⟩ from another chat" in each for each in texts)
    assert any("#te⟨U+202E⟩am⟨U+2066⟩ on Memory: bob⟨U+202E⟩ # x⟨U+200B⟩ agreed" in each for each in texts)
    assert not any(hidden in each for each in texts for hidden in ("\u202e", "\u2066", "\u200b"))
