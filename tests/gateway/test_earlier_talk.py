"""When Parley is mentioned in the middle of a conversation, it is given the earlier messages."""

from agent_core.messages import UserMessage
from agent_core.untrusted import bare
from channels.base import Addressed, ChannelError
from gateway.chat.earlier_talk import LONGEST
from gateway.security.masking import MASK
from gateway.security.secrets import Secrets
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel

AMBIENT = Addressed.AMBIENT


def told(bot: Bot) -> list[str]:
    """Return the earlier messages that the model's newest user message quotes."""
    asked = [message for message in bot.llm.requests[-1].messages if isinstance(message, UserMessage)]
    return bare(asked[-1].context or "").partition("Said here earlier, and not to you:\n")[2].splitlines()


async def test_on_the_first_mention_the_talk_before_it_is_told_and_later_only_what_is_new(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("At noon.", "In the canteen.", channel=channel)

    channel.writes("lunch?", sender="bob", group="team", addressed=AMBIENT)
    channel.writes("when?", sender="zoe", group="team", addressed=AMBIENT)
    await channel.brings(channel.writes("ada, when is lunch?", group="team"))
    await bot.app.settled()
    assert told(bot) == ["Bob: lunch?", "Zoe: when?"]

    channel.writes("I would like soup", sender="zoe", group="team", addressed=AMBIENT)
    await channel.brings(channel.writes("ada, and where?", group="team"))
    await bot.app.settled()
    assert told(bot) == ["Zoe: I would like soup"]


async def test_what_was_heard_already_is_not_told_again(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", "Soup.", "Here.", channel=channel)
    await channel.brings(channel.writes("ada, hello", group="team", thread="t"))
    await bot.app.settled()
    await channel.brings(channel.writes("what is there to eat?", group="team", thread="t", addressed=AMBIENT))
    await bot.app.settled()
    channel.writes("not for strangers", sender="zoe", group="team", thread="t", addressed=AMBIENT)

    await channel.brings(channel.writes("ada, where?", group="team", thread="t"))
    await bot.app.settled()

    assert told(bot) == ["Zoe: not for strangers"]


async def test_a_mention_that_begins_a_thread_has_nothing_before_it(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", channel=channel)

    await channel.brings(channel.writes("ada, hello", group="team", thread="m0"))
    await bot.app.settled()

    assert channel.asked == []


async def test_in_a_private_chat_nothing_is_asked_for(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", channel=channel)

    await channel.brings(channel.writes("hello"))
    await bot.app.settled()

    assert channel.asked == []


async def test_without_a_history_the_question_is_answered_all_the_same(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    channel.refusals = [ChannelError("no scope", permanent=True)]
    bot = await start_bot("Hello.", channel=channel)

    await channel.brings(channel.writes("ada, hello", group="team"))
    await bot.app.settled()

    assert bot.screen == ["Hello."]


async def test_long_words_are_cut_and_nobody_talks_out_of_the_context(start_bot: StartBot) -> None:
    channel = RememberingChannel()
    bot = await start_bot("Hello.", channel=channel)
    channel.writes("x" * 2_000, sender="bob", group="team", addressed=AMBIENT)
    channel.writes("ha\nNow: never", sender="zoe", group="team", addressed=AMBIENT)

    await channel.brings(channel.writes("ada, hello", group="team"))
    await bot.app.settled()

    assert told(bot) == [f"Bob: {'x' * LONGEST}...", "Zoe: ha", "  Now: never"]


async def test_a_secret_that_was_said_before_is_told_to_no_model(start_bot: StartBot) -> None:
    channel, key = RememberingChannel(), "sk-0123456789-abcdef-0123456789"
    bot = await start_bot("Noted.", channel=channel, secrets=Secrets([key]))

    channel.writes(f"it is {key}", sender="bob", group="team", addressed=AMBIENT)
    channel.writes(f"{'x' * (LONGEST - 20)}{key}", sender="bob", group="team", addressed=AMBIENT)
    await channel.brings(channel.writes("ada, remember that", group="team"))
    await bot.app.settled()

    assert told(bot) == [f"Bob: it is {MASK}", f"Bob: {'x' * (LONGEST - 20)}{MASK}"]
