"""Strangers in direct chats, and what owners and admins decide about them."""

import asyncio
import re

import pytest

from agent_core.messages import text_of
from channels.base import Addressed, MessageReceived, Sender
from channels.memory import Reply, user
from gateway.permissions.membership import By
from gateway.permissions.roles import Role
from gateway.store.pairing import MOST_OF_SENDER
from gateway.store.person import Account
from gateway.store.strangers import KEPT, LONGEST, MOST_SHOWN
from tests.clock import OffsetClock
from tests.gateway.answering_late import LateChannel, seen, unanswered
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import ANN, NOBODY, Platform, code_of, role_of, told


async def with_stranger(start_bot: StartBot, *turns: str, words: str = "hi, may I?", **how: object) -> Bot:
    bot = await start_bot(*turns, channel=Platform(), **how)
    await bot.hears(words, sender="eve")
    await bot.channel.until(lambda: any("unknown here" in text for text in told(bot, "ann")))
    await bot.made.people.stranger_notices.settled()
    return bot


async def test_a_stranger_gets_one_line_and_the_owner_a_question(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot)
    await bot.hears("hello?", sender="eve")

    await bot.channel.until(lambda: told(bot, "eve") == ["I have asked the owner."])
    [question] = told(bot, "ann")
    assert (
        question == "`Eve` (`memory:eve`) wrote to me and is unknown here. May they talk to me?\n\n```\nhi, may I?\n```"
    )
    [message] = [each for posted, each in bot.channel.posts if posted.chat == ANN]
    assert [button.label for row in message.buttons for button in row] == ["Allow", "As guest", "Ignore", "Block"]
    assert bot.llm.requests == []


async def test_what_a_stranger_said_is_answered_after_allow(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello, Eve.")
    await bot.hears("and one more thing", sender="eve")

    await bot.channel.presses("As guest")

    await bot.channel.until(lambda: told(bot, "eve")[-1] == "Hello, Eve.")
    assert role_of(bot, "eve") is Role.GUEST
    assert "hi, may I?\nand one more thing" in text_of(bot.llm.requests[0].messages[-1].content)
    await bot.channel.until(lambda: told(bot, "ann") == ["`Eve` (`memory:eve`) was let in as a guest by `Ann`."])


async def test_whoever_a_stranger_mentions_later_is_among_the_named(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello, Eve.")
    zed = Sender(id="zed", name="Run it all")
    later = MessageReceived(
        event_id="later",
        chat=bot.channel.chat("eve"),
        sender=user("eve"),
        at=1.0,
        message_id="later",
        addressed=Addressed.DIRECT,
        text="and ask @Run it all",
        named=(zed,),
    )
    await bot.channel.deliver(later)
    [waiting] = await bot.made.base.store.strangers.all()

    assert isinstance(waiting.event, MessageReceived)
    assert waiting.event.text.endswith("ask @Run it all")
    assert waiting.event.named == (zed,)


class LatePlatform(Platform, LateChannel):
    """One that acknowledges calls late, too."""


async def test_a_question_is_closed_though_its_button_was_pressed_before_its_send_was_acknowledged(
    start_bot: StartBot,
) -> None:
    bot = await start_bot("Hello, Eve.", channel=LatePlatform(keeps_keys=False))
    async with unanswered(bot, "As guest"):
        await bot.hears("hi, may I?", sender="eve")
        await seen(bot, "As guest")
        await bot.channel.presses("As guest")

    assert told(bot, "ann") == ["`Eve` (`memory:eve`) was let in as a guest by `Ann`."]
    await bot.channel.until(lambda: told(bot, "eve")[-1] == "Hello, Eve.")


async def test_what_was_decided_stays_told_though_the_question_is_closed_by_others_at_the_same_time(
    start_bot: StartBot,
) -> None:
    bot = await with_stranger(start_bot)
    notices, store = bot.made.people.stranger_notices, bot.made.base.store
    [stranger] = await store.strangers.all()
    [asked] = [post for post in await store.outbox.of_run(f"stranger-{stranger.id}") if post.message.buttons]
    for steps in range(12):
        await store.outbox.add([asked])

        async def close_rest(steps: int = steps) -> None:
            for _ in range(steps):
                await store.strangers.all()
            await notices.close_rest(stranger)

        await asyncio.gather(notices.close(stranger, "guest", "`Ann`"), close_rest())
        await notices.settled()
        assert told(bot, "ann") == ["`Eve` (`memory:eve`) was let in as a guest by `Ann`."]


async def test_a_stranger_who_was_let_in_is_answered_after_a_crash_too(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello, Eve.")
    await bot.made.people.membership.give(By(ANN, user("ann")), Account("memory:eve"), Role.MEMBER)

    await bot.restart()

    await bot.channel.until(lambda: told(bot, "eve")[-1:] == ["Hello, Eve."])


@pytest.mark.parametrize(("button", "words"), [("Ignore", "is ignored"), ("Block", "was blocked")])
async def test_ignore_and_block_delete_the_words_everywhere(start_bot: StartBot, button: str, words: str) -> None:
    bot = await with_stranger(start_bot, words="xyzzy-secret-words")

    await bot.channel.presses(button)
    await bot.channel.until(lambda: all(words in text for text in told(bot, "ann")))
    await bot.hears("xyzzy-secret-words again", sender="eve")
    await bot.app.settled()
    await bot.stop()

    assert role_of(bot, "eve") is None
    assert told(bot, "eve") == ["I have asked the owner."]
    assert len(told(bot, "ann")) == 1


async def test_at_most_three_strangers_are_shown_at_once(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    for number in range(MOST_SHOWN + 3):
        await bot.hears(f"hello {number}", sender=f"s{number}")
    await bot.channel.until(lambda: len(told(bot, "ann")) == MOST_SHOWN + 1)
    more = "More unknown people have written to me: 3."
    await bot.channel.until(lambda: sum(text.startswith(more) for text in told(bot, "ann")) == 1)

    await bot.channel.presses("Ignore")

    await bot.channel.until(lambda: any("hello 3" in text for text in told(bot, "ann")))
    assert sum("unknown here" in text for text in told(bot, "ann")) == MOST_SHOWN


def digests(bot: Bot) -> list[str]:
    return [text for text in told(bot, "ann") if text.startswith(("More unknown people", "Nobody else"))]


@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "after a restart"])
async def test_the_number_of_those_who_wait_goes_down_as_strangers_are_decided_about(
    start_bot: StartBot, *, restarts: bool
) -> None:
    bot = await start_bot(channel=Platform())
    for number in range(MOST_SHOWN + 2):
        await bot.hears(f"hello {number}", sender=f"s{number}")
    await bot.channel.until(lambda: digests(bot) != [] and "to me: 2." in digests(bot)[0])
    if restarts:
        await bot.restart()

    await bot.channel.presses("Ignore")
    await bot.channel.until(lambda: "to me: 1." in digests(bot)[0])
    await bot.channel.presses("Block")
    await bot.channel.until(lambda: digests(bot) == ["Nobody else is waiting any more."])
    for number in range(2):
        await bot.hears("hello", sender=f"late{number}")

    await bot.channel.until(lambda: len(digests(bot)) == 2 and "to me: 2." in digests(bot)[1])
    assert digests(bot)[0] == "Nobody else is waiting any more."


async def test_groups_stay_silent(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("hello", sender="eve", group="team", addressed=Addressed.MENTION)

    assert bot.screen == []
    assert await bot.made.people.strangers.waiting() == []


async def test_by_setting_strangers_get_no_line(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, answers_strangers=False)

    assert told(bot, "eve") == []


async def test_strangers_are_answered_in_their_language(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.channel.hears("你好", sender="eve")
    await bot.channel.hears("hello", sender=user("zoe", "zh-hans"))

    await bot.channel.until(lambda: told(bot, "eve") == told(bot, "zoe") == ["我已经问了所有者。"])


async def test_words_and_names_carry_no_mentions_links_or_hidden_characters(start_bot: StartBot) -> None:
    mallory = Sender(id="eve", name="`@everyone` [x](https://evil.example)\u202e")
    bot = await start_bot(channel=Platform())
    await bot.channel.hears("```\n<!channel> https://evil.example @here\u200b", sender=mallory)
    await bot.channel.until(lambda: told(bot, "ann") != [])

    [question] = told(bot, "ann")
    assert question.count("`") == 2 + 2 + 6, "all of it is code, in which platforms find neither mentions nor links"
    assert "\u202e" not in question
    assert "\u200b" not in question


async def test_words_are_kept_up_to_a_limit_and_for_a_week(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await with_stranger(start_bot, words="x" * 2_000, clock=clock)
    [waiting] = await bot.made.people.strangers.waiting()
    assert waiting.words == "x" * LONGEST

    clock.ahead += KEPT + 1

    assert await bot.made.people.strangers.waiting() == []


async def test_the_button_of_a_stranger_whose_week_is_over_does_nothing_and_says_so(start_bot: StartBot) -> None:
    clock = OffsetClock()
    bot = await with_stranger(start_bot, clock=clock)
    clock.ahead += KEPT + 1

    await bot.channel.presses("Allow")
    await bot.app.settled()

    assert role_of(bot, "eve") is None
    assert "too long ago" in told(bot, "ann")[-1]
    assert bot.llm.requests == []


async def test_a_person_with_several_accounts_is_asked_once(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("/role memory:dora owner")
    await bot.hears("/link", sender="dora")
    [code] = re.findall(r"/link (\w{8})`", told(bot, "dora")[-1])
    await bot.hears(f"/link {code}", sender="dora2")

    await bot.hears("hi, may I?", sender="eve")
    await bot.channel.until(lambda: any("unknown here" in text for text in told(bot, "ann")))
    await bot.made.people.stranger_notices.settled()

    asked = [text for name in ("dora", "dora2") for text in told(bot, name) if "unknown here" in text]
    assert len(asked) == 1


async def test_a_quotation_of_the_question_brings_no_words_to_the_model(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Fine.", words="xyzzy")
    [(posted, message)] = [each for each in bot.channel.posts if each[0].chat == ANN]

    await bot.hears("what is this?", reply=Reply(posted.message_id, f"Ada: {message.markdown}"))

    assert "xyzzy" not in str(bot.llm.requests[0].messages)


async def test_the_second_of_two_admins_is_told_that_it_is_decided(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello.")
    [waiting] = await bot.made.people.strangers.waiting()

    await asyncio.gather(
        bot.channel.hears(f"/stranger guest {waiting.id}"), bot.channel.hears(f"/stranger block {waiting.id}")
    )
    await bot.app.settled()

    assert sum("was decided already" in text for text in told(bot, "ann")) == 1


@pytest.mark.parametrize("action", ["guest nobody", "", "member", "fly abc", "guest ../../etc"])
async def test_forged_buttons_do_nothing(start_bot: StartBot, action: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/stranger {action}")

    assert "was decided already" in bot.screen[-1]


async def test_a_member_cannot_press_for_an_owner(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot)
    [waiting] = await bot.made.people.strangers.waiting()

    for verdict in ("member", "guest", "ignore", "block"):
        await bot.hears(f"/stranger {verdict} {waiting.id}", sender="bob")

    assert set(told(bot, "bob")) == {"Only owners and admins can see and change roles."}
    assert [each.id for each in await bot.made.people.strangers.waiting()] == [waiting.id]


async def test_a_stranger_from_before_there_was_an_owner_is_shown_to_the_first_one(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform(), people=NOBODY)
    await bot.hears("hi, may I?", sender="eve")
    await bot.app.settled()
    assert told(bot, "eve") == []

    await bot.hears(f"/pair {await code_of(bot)}", sender="ann")

    await bot.channel.until(lambda: any("hi, may I?" in text for text in told(bot, "ann")))
    await bot.channel.until(lambda: told(bot, "eve") == ["I have asked the owner."])


async def test_a_stranger_whom_a_crash_kept_from_the_owner_is_shown_once_after_the_start(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    said = MessageReceived(
        at=bot.clock.time(),
        event_id="m1",
        chat=bot.channel.chat("eve"),
        sender=user("eve"),
        message_id="1",
        text="may I?",
    )
    await bot.made.base.store.strangers.hear("s1", "memory:eve", said)

    await bot.restart()
    await bot.channel.until(lambda: any("may I?" in text for text in told(bot, "ann")))
    await bot.made.people.stranger_notices.settled()
    await bot.restart()
    await bot.app.settled()
    await bot.made.people.stranger_notices.settled()

    assert len(told(bot, "ann")) == len(told(bot, "eve")) == 1


async def test_pair_without_a_code_says_how_and_is_silent_after_a_few_times(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    for _ in range(MOST_OF_SENDER):
        await bot.hears("/pair", sender="eve")
    await bot.channel.until(lambda: len(told(bot, "eve")) == MOST_OF_SENDER)
    await bot.hears("/pair", sender="eve")
    await bot.made.people.stranger_notices.settled()

    assert told(bot, "eve")[0].startswith("Write `/pair CODE`")
    assert len(told(bot, "eve")) == MOST_OF_SENDER


@pytest.mark.parametrize("verdict", ["give", "block", "ignore"])
async def test_a_question_that_a_crash_left_open_is_closed_at_the_next_start(start_bot: StartBot, verdict: str) -> None:
    bot = await with_stranger(start_bot, "Hello.", words="xyzzy")
    [waiting] = await bot.made.people.strangers.waiting()
    by, eve = By(ANN, user("ann")), Account("memory:eve")
    if verdict == "give":
        await bot.made.people.membership.give(by, eve, Role.GUEST)
    elif verdict == "block":
        await bot.made.people.membership.block(by, eve)
    else:
        await bot.made.base.store.strangers.ignore(waiting.id)

    await bot.restart()

    await bot.channel.until(lambda: told(bot, "ann") == ["`Eve` (`memory:eve`): this is decided."])
    await bot.hears("hello?", sender="eve")
    await bot.app.settled()
    assert sum("unknown here" in text for text in told(bot, "ann")) == 0, "it is not asked again"


async def test_the_first_message_takes_the_place_of_the_command_that_opens_a_chat(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("/start", sender="eve")
    await bot.channel.until(lambda: any("/start" in text for text in told(bot, "ann")))

    await bot.hears("it is me, Eve from work", sender="eve")

    await bot.channel.until(lambda: "it is me, Eve from work" in told(bot, "ann")[-1])
    await bot.made.people.stranger_notices.settled()
    assert len(told(bot, "ann")) == 1
    assert len(told(bot, "eve")) == 1
