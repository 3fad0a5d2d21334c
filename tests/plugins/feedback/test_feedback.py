"""People praise and blame answers by a press or a reaction, and owners and admins see the sums."""

from agent_core.models.llm import FailureKind, LlmFailure
from channels.base import ReactionAdded, ReactionRemoved, Sender
from channels.memory import NO_PACE, MemoryChannel
from gateway.plugins.feedback.plugin import FeedbackPlugin
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

GOOD, BAD = "Good answer", "Bad answer"
RATED = NO_PACE.model_copy(update={"rates_answers": True})


async def answered(start_bot: StartBot, text: str = "the capital of Norway?", **how: str) -> Bot:
    """Return a bot that has answered once, on a platform with buttons that rate."""
    bot = await start_bot("Oslo.", channel=MemoryChannel(limits=RATED))
    await bot.hears(text, **how)
    return bot


async def pressed(bot: Bot, label: str, sender: str = "ann") -> None:
    await bot.channel.presses(label, sender=sender)
    await bot.app.settled()


async def sums(bot: Bot) -> str:
    await bot.hears("/feedback")
    return bot.screen[-1]


async def test_a_press_is_kept_with_the_run_and_neither_answers_nor_changes_anything(start_bot: StartBot) -> None:
    bot = await answered(start_bot)
    [(_, answer)] = bot.channel.posts
    assert [[button.label for button in row] for row in answer.buttons] == [[GOOD, BAD]]
    calls_before = len(bot.channel.calls)

    await pressed(bot, BAD)

    assert len(bot.channel.calls) == calls_before
    (run,) = await bot.made.base.store.run_records.newest(bot.channel.heard[0].chat, None, 1)
    told = await sums(bot)
    assert "👍 0, 👎 1" in told
    assert f"`{run.run[:8]}`" in told


async def test_the_last_word_of_each_person_counts(start_bot: StartBot) -> None:
    bot = await answered(start_bot)

    for label in (BAD, GOOD, GOOD):
        await pressed(bot, label)

    assert "👍 1, 👎 0" in await sums(bot)


async def test_a_reaction_on_an_answer_says_the_same(start_bot: StartBot) -> None:
    bot = await answered(start_bot)
    asked = bot.channel.heard[0]
    [(posted, _)] = bot.channel.posts
    for emoji, message in (("👎", asked.event_id), ("👀", posted.message_id), ("👍", posted.message_id)):
        event = f"{emoji}{message}"
        sender = Sender(id="ann", name="ann")
        await bot.channel.deliver(
            ReactionAdded(event_id=event, chat=asked.chat, sender=sender, at=asked.at, message_id=message, emoji=emoji)
        )

    [plugin] = [each for each in bot.made.plugins if isinstance(each, FeedbackPlugin)]
    await plugin.closed()
    assert "👍 1, 👎 0" in await sums(bot)


async def test_a_reaction_that_is_taken_back_counts_no_more_but_what_was_said_since_does(start_bot: StartBot) -> None:
    bot = await answered(start_bot)
    [(posted, _)] = bot.channel.posts
    [plugin] = [each for each in bot.made.plugins if isinstance(each, FeedbackPlugin)]
    ann, at, counted = Sender(id="ann", name="ann"), bot.channel.heard[0].at, []
    for number, (is_new, emoji) in enumerate(((True, "👍"), (False, "👍"), (True, "👎"), (False, "👍"))):
        event: ReactionAdded | ReactionRemoved = ReactionAdded(
            event_id=f"{number}", chat=posted.chat, sender=ann, at=at, message_id=posted.message_id, emoji=emoji
        )
        if not is_new:
            event = ReactionRemoved(**event.model_dump(exclude={"type"}))
        await bot.channel.deliver(event)
        await plugin.closed()
        counted.append(await sums(bot))

    assert ["👍 1" in counted[0], "👎 1" in counted[2], "👎 1" in counted[3]] == [True] * 3
    assert "Nobody has rated" in counted[1]


async def test_an_answer_that_failed_has_no_such_buttons(start_bot: StartBot) -> None:
    bot = await start_bot(LlmFailure(kind=FailureKind.FATAL, message="no"), channel=MemoryChannel(limits=RATED))
    await bot.hears("hello")

    assert [button.label for _, post in bot.channel.posts for row in post.buttons for button in row] == ["Try again"]


async def test_where_a_platform_has_no_such_buttons_there_are_none(start_bot: StartBot) -> None:
    bot = await start_bot("Oslo.")
    await bot.hears("the capital of Norway?")

    [(_, answer)] = bot.channel.posts
    assert answer.buttons == ()


async def test_sums_are_for_owners_and_admins_and_in_chinese_too(start_bot: StartBot) -> None:
    bot = await answered(start_bot, "挪威的首都是？", language="zh")

    await bot.hears("/feedback", sender="bob")
    assert bot.screen[-1] == "Only owners and admins can do this."
    await bot.hears("/feedback", language="zh")
    assert bot.screen[-1] == "最近 30 天没有人评价过回答。"
    await pressed(bot, "回答得不好")
    await bot.hears("/feedback", language="zh")
    assert "👍 0，👎 1" in bot.screen[-1]


async def test_the_command_of_a_button_rates_nothing_when_it_is_typed_without_a_run(start_bot: StartBot) -> None:
    bot = await answered(start_bot)
    before = await sums(bot)

    await bot.hears("/feedback_good")

    assert await sums(bot) == before
