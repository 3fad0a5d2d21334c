"""A plain yes or no answers a question only where its author and the question are certain."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.attachments import Attachment
from channels.base import Addressed, ChatKey, MessageReceived, Sender
from channels.memory import NO_PACE, MemoryChannel, Reply
from gateway.app.yes_or_no import Word, plain_word
from tests.gateway.approving import CHART, asked, questions, recorder, states
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

ANN = Sender(id="ann", name="Ann")
HERE = ChatKey(platform="memory", account="here", chat="ann")


@pytest.fixture
def start_bot(start_bot: StartBot) -> StartBot:
    async def start(*turns: object, **how: object) -> Bot:
        return await start_bot(*turns, **{"channel": MemoryChannel(limits=NO_PACE), **how})

    return start


def message(text: str, **fields: object) -> MessageReceived:
    facts = {"event_id": "e", "chat": HERE, "sender": ANN, "at": 1.0, "text": text, "message_id": "m", **fields}
    return MessageReceived.model_validate(facts)


# Messages that count as plain answers


@pytest.mark.parametrize("text", ["yes", "Yes", " OK ", "ok.", "sure!", "y", "好", "好。", "可以", "行"])
def test_a_whole_message_may_say_yes(text: str) -> None:
    assert plain_word(message(text)) is Word.YES


@pytest.mark.parametrize("text", ["no", "No.", "n", "不", "不行！"])
def test_a_whole_message_may_say_no(text: str) -> None:
    assert plain_word(message(text)) is Word.NO


@pytest.mark.parametrize("text", ["yes?", "yes, but use the other file", "no, to 5", "okay then", "", "yesyes", "好吗"])
def test_what_says_more_or_asks_is_no_such_word(text: str) -> None:
    assert plain_word(message(text)) is None


def test_what_is_passed_on_and_what_stands_under_a_picture_is_no_such_word() -> None:
    assert plain_word(message("yes", shared="Forwarded from Bob:\nyes")) is None
    assert plain_word(message("yes", attachments=(Attachment(name="cat.png"),))) is None


@given(st.text())
def test_only_the_words_themselves_count(text: str) -> None:
    word = plain_word(message(text))
    assert word is None or text.strip().rstrip(".!。！").casefold() in word.value


# Effects


async def test_a_plain_yes_of_the_person_who_was_asked_lets_the_call_through(wired_bot: StartBot) -> None:  # D-24
    run, ran = recorder()
    bot = await wired_bot(CHART, "Here is the chart.", tools=(run,))
    await asked(bot)

    await bot.hears("yes")

    assert ran == [["python3", "chart.py"]]
    assert "✓ Approved by Ann: `python3 chart.py`" in bot.screen
    assert bot.screen[-1] == "Here is the chart."


async def test_a_plain_no_refuses_the_call(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "好的。", tools=(run,))
    await asked(bot)

    await bot.hears("不")

    assert ran == []
    assert states(bot.home) == ["denied"]


async def test_what_says_more_than_yes_steers_as_before(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)

    await bot.hears("yes, but of last year")

    assert ran == []
    assert states(bot.home) == ["withdrawn"]


async def test_a_yes_that_answers_nothing_is_a_message_like_others(start_bot: StartBot) -> None:
    bot = await start_bot("Yes to what?")

    await bot.hears("yes")

    assert bot.screen == ["Yes to what?"]


@pytest.mark.parametrize("text", ["stop", "停"])
async def test_a_plain_stop_ends_the_run(start_bot: StartBot, text: str) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "never", tools=(run,))
    await asked(bot)

    await bot.hears(text)

    assert ran == []
    assert states(bot.home) == ["withdrawn"]
    assert len(bot.llm.requests) == 1


async def test_a_yes_that_was_written_before_the_question_does_not_answer_it(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    before = bot.clock.time()
    await asked(bot)

    await bot.channel.deliver(message("yes", event_id="early", message_id="early", at=before))
    await bot.app.settled()

    assert ran == []
    assert states(bot.home) == ["withdrawn"]


@pytest.mark.parametrize(
    "changed",
    [
        lambda yes: yes.model_copy(update={"shared": "Forwarded from Bob:\nyes"}),
        lambda yes: yes.model_copy(update={"attachments": (Attachment(name="cat.png", reference="none"),)}),
    ],
    ids=["forwarded", "caption"],
)
async def test_what_is_not_their_own_plain_word_does_not_approve(
    start_bot: StartBot, changed: Callable[[MessageReceived], MessageReceived]
) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)
    yes = message("yes", event_id="other", message_id="other", at=bot.clock.time() + 1)

    await bot.channel.deliver(changed(yes))
    await bot.app.settled()

    assert ran == []


async def test_what_was_caught_up_does_not_approve(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)

    await bot.made.events.handler.accept(
        message("yes", event_id="late", message_id="late", at=bot.clock.time() + 1), is_live=False
    )
    await bot.app.settled()

    assert ran == []


async def test_an_edit_does_not_approve(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)
    first = bot.channel.heard[0]
    assert isinstance(first, MessageReceived)

    await bot.channel.changes(first, "yes")

    assert ran == []
    assert states(bot.home) == ["pending"]


# In groups


async def test_another_person_s_yes_does_not_answer(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", "Yes to what?", tools=(run,))
    await asked(bot, sender="bob", group="team")

    await bot.channel.hears("yes", sender="carl", group="team")
    await bot.channel.hears("yes", sender="ann", group="team")  # not even an owner's: that takes a button or a command

    assert ran == []
    assert states(bot.home) == ["pending"]


async def test_the_person_may_say_it_without_naming_us(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot, sender="bob", group="team")

    await bot.hears("ok", sender="bob", group="team", addressed=Addressed.AMBIENT)

    assert ran == [["python3", "chart.py"]]


async def test_after_somebody_else_has_spoken_it_is_asked_whether_it_was_meant(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot, sender="bob", group="team")

    await bot.channel.hears("Lunch?", sender="mallory", group="team", addressed=Addressed.AMBIENT)
    await bot.channel.hears("yes", sender="bob", group="team")
    await bot.channel.until(lambda: any("Do you mean this?" in text for text in bot.screen))

    assert ran == []
    assert states(bot.home) == ["pending"]
    await bot.channel.presses("1 Allow once", sender="bob")
    await bot.app.settled()
    assert ran == [["python3", "chart.py"]]


async def test_after_a_restart_a_group_s_question_needs_more_than_a_plain_word(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, CHART, "Here.", tools=(run,))
    await asked(bot, sender="bob", group="team")
    await bot.restart()

    await bot.channel.hears("yes", sender="bob", group="team")
    await bot.channel.until(lambda: any("Do you mean this?" in text for text in bot.screen))

    assert ran == []


async def test_a_reply_to_something_else_is_asked_about(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot)

    await bot.channel.hears("yes", reply=Reply("another message"))
    await bot.channel.until(lambda: any("Do you mean this?" in text for text in bot.screen))
    assert ran == []


# Several questions


async def test_with_a_preview_beside_the_question_it_is_asked_which_one_is_meant(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await bot.hears("/cron add every monday 9:00 look at the notes")
    await asked(bot)

    await bot.channel.hears("yes")
    await bot.channel.until(lambda: any("Which one do you mean?" in text for text in bot.screen))

    assert ran == []
    assert "1. look at the notes\n2. `python3 chart.py`" in bot.screen[-1]
    await bot.channel.presses("2 Allow once")
    await bot.app.settled()
    assert ran == [["python3", "chart.py"]]


@pytest.mark.parametrize(
    ("asked", "said", "outcome"),
    [
        ("every monday 9:00 look at the notes", "yes", "✓ Set"),
        ("every monday 9:00 look at the notes", "no", "✗ Not set: look at the notes"),
        ("每周一9点 看笔记", "好", "✓ 已设置"),
        ("每周一9点 看笔记", "不要", "✗ 未设置：看笔记"),
    ],
)
async def test_a_plain_word_to_the_one_preview_that_waits_is_answered_below_it(
    start_bot: StartBot, asked: str, said: str, outcome: str
) -> None:
    bot = await start_bot()
    await bot.hears(f"/cron add {asked}")
    [preview] = bot.screen

    await bot.hears(said)

    [above, answer] = bot.screen
    assert above == preview
    assert answer.startswith(outcome)
    assert not any(message.buttons for _, message in bot.channel.posts)


async def test_a_button_turns_the_preview_into_its_outcome(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/cron add every monday 9:00 look at the notes")

    await bot.channel.presses("Cancel")
    await bot.app.settled()

    assert bot.screen == ["✗ Not set: look at the notes"]


# Commands without an id


async def test_approve_without_an_id_takes_the_only_question(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "Here.", tools=(run,))
    await asked(bot)

    await bot.hears("/approve")

    assert ran == [["python3", "chart.py"]]


async def test_deny_without_an_id_takes_the_only_question(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "As you like.", tools=(run,))
    await asked(bot)

    await bot.hears("/deny")

    assert ran == []
    assert questions(bot) == []
