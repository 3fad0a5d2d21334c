"""Pairing, strangers and the commands for roles, as people see them in chats."""

import asyncio
import re

import pytest

from agent_core.messages import text_of
from channels.base import Accepted, Addressed, ChatKey, MessageReceived, Sender
from channels.memory import MemoryChannel, Reply, user
from gateway.permissions.membership import By
from gateway.permissions.roles import People, Role
from gateway.store.pairing import MOST_OF_CODE, MOST_OF_SENDER
from gateway.store.person import Account
from gateway.store.strangers import KEPT, LONGEST, MOST_SHOWN
from tests.clock import FakeClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot

NOBODY = People(frozenset(), frozenset())
ANN = ChatKey(platform="memory", account="here", chat="ann")


class Platform(MemoryChannel):
    """A platform on which the bot may write to a user first."""

    async def private_chat(self, person: str) -> ChatKey:
        return self.chat(person)


def role_of(bot: Bot, person: str) -> Role | None:
    return bot.made.access.role(bot.channel.chat(person), user(person))


def told(bot: Bot, person: str) -> list[str]:
    return bot.channel.screen_of(bot.channel.chat(person))


async def code_of(bot: Bot) -> str:
    return (await bot.made.pairing.code()).text


# The first owner


async def test_who_says_the_code_in_a_direct_chat_owns_the_bot_at_once(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", people=NOBODY)

    assert await bot.hears(f"/pair {await code_of(bot)}", sender="eve") is Accepted.REFUSED
    await bot.channel.until(lambda: told(bot, "eve")[-1:] != [] and "owner now" in told(bot, "eve")[-1])
    await bot.hears("hello", sender="eve")

    assert role_of(bot, "eve") is Role.OWNER
    assert told(bot, "eve")[-1] == "Hello."


async def test_an_owner_by_code_stays_one_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    await bot.hears(f"/pair {await code_of(bot)}", sender="eve")

    await bot.restart()

    assert role_of(bot, "eve") is Role.OWNER


async def test_a_code_works_once_and_however_it_is_typed(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    code = await code_of(bot)
    await bot.hears(f"/pair  {code[:4].upper()}-{code[4:].upper()}.", sender="eve")
    await bot.hears(f"/pair {code}", sender="mallory")

    assert (role_of(bot, "eve"), role_of(bot, "mallory")) == (Role.OWNER, None)


async def test_in_a_group_a_code_does_nothing_and_gets_no_answer(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)

    await bot.hears(f"/pair {await code_of(bot)}", sender="eve", group="team")

    assert role_of(bot, "eve") is None
    assert bot.screen == []


async def test_five_wrong_codes_lock_a_sender_even_with_the_right_one(start_bot: StartBot) -> None:
    clock = FakeClock()
    bot = await start_bot(people=NOBODY, clock=clock)
    code = await code_of(bot)
    for _ in range(MOST_OF_SENDER):
        await bot.hears("/pair 00000000", sender="eve")
    await bot.hears(f"/pair {code}", sender="eve")
    assert role_of(bot, "eve") is None

    await bot.restart()
    await bot.hears(f"/pair {code}", sender="eve")
    assert role_of(bot, "eve") is None, "the lock survives a restart"

    clock.now += 3_601
    await bot.hears(f"/pair {await code_of(bot)}", sender="eve")
    assert role_of(bot, "eve") is Role.OWNER


async def test_fifty_wrong_codes_of_anybody_make_a_new_one(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    first = await code_of(bot)
    for number in range(100):
        await bot.hears(f"/pair wrong{number}", sender=f"m{number // MOST_OF_SENDER}")
    assert MOST_OF_CODE < 100

    await bot.hears(f"/pair {first}", sender="eve")

    assert role_of(bot, "eve") is None
    assert await code_of(bot) != first


async def test_a_code_is_valid_for_an_hour_and_survives_a_restart(start_bot: StartBot) -> None:
    clock = FakeClock()
    bot = await start_bot(people=NOBODY, clock=clock)
    code = await code_of(bot)
    await bot.restart()
    assert await code_of(bot) == code

    clock.now += 3_601
    await bot.hears(f"/pair {code}", sender="eve")

    assert role_of(bot, "eve") is None
    assert await code_of(bot) != code


async def test_two_who_say_the_code_at_once_do_not_both_own_the_bot(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    code = await code_of(bot)

    said = (bot.channel.hears(f"/pair {code}", sender=name) for name in ("eve", "mallory"))
    await asyncio.gather(*said)

    assert [role_of(bot, "eve"), role_of(bot, "mallory")].count(Role.OWNER) == 1


async def test_an_owner_sees_a_code_and_a_member_becomes_owner_with_it(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/pair")
    [code] = re.findall(r"`/pair (\w{8})`", bot.screen[-1])

    await bot.hears(f"/pair {code}", sender="bob")

    assert role_of(bot, "bob") is Role.OWNER


# Strangers


async def with_stranger(start_bot: StartBot, *turns: str, words: str = "hi, may I?", **how: object) -> Bot:
    bot = await start_bot(*turns, channel=Platform(), **how)
    await bot.hears(words, sender="eve")
    await bot.channel.until(lambda: any("unknown here" in text for text in told(bot, "ann")))
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


async def test_a_stranger_who_was_let_in_is_answered_after_a_crash_too(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello, Eve.")
    await bot.made.membership.give(By(ANN, user("ann")), Account("memory:eve"), Role.MEMBER)

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
    assert sum(text.startswith("More unknown people") for text in told(bot, "ann")) == 1

    await bot.channel.presses("Ignore")

    await bot.channel.until(lambda: any("hello 3" in text for text in told(bot, "ann")))
    assert sum("unknown here" in text for text in told(bot, "ann")) == MOST_SHOWN


async def test_groups_stay_silent(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("hello", sender="eve", group="team", addressed=Addressed.MENTION)

    assert bot.screen == []
    assert await bot.made.strangers.waiting() == []


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
    clock = FakeClock()
    bot = await with_stranger(start_bot, words="x" * 2_000, clock=clock)
    [waiting] = await bot.made.strangers.waiting()
    assert waiting.words == "x" * LONGEST

    clock.now += KEPT + 1

    assert await bot.made.strangers.waiting() == []


async def test_a_quotation_of_the_question_brings_no_words_to_the_model(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Fine.", words="xyzzy")
    [(posted, message)] = [each for each in bot.channel.posts if each[0].chat == ANN]

    await bot.hears("what is this?", reply=Reply(posted.message_id, f"Ada: {message.markdown}"))

    assert "xyzzy" not in str(bot.llm.requests[0].messages)


async def test_the_second_of_two_admins_is_told_that_it_is_decided(start_bot: StartBot) -> None:
    bot = await with_stranger(start_bot, "Hello.")
    [waiting] = await bot.made.strangers.waiting()

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
    [waiting] = await bot.made.strangers.waiting()

    for verdict in ("member", "guest", "ignore", "block"):
        await bot.hears(f"/stranger {verdict} {waiting.id}", sender="bob")

    assert set(told(bot, "bob")) == {"Only owners and admins can see and change roles."}
    assert [each.id for each in await bot.made.strangers.waiting()] == [waiting.id]


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
    await bot.made.store.strangers.hear("s1", "memory:eve", said)

    await bot.restart()
    await bot.channel.until(lambda: any("may I?" in text for text in told(bot, "ann")))
    await bot.restart()
    await bot.app.settled()

    assert len(told(bot, "ann")) == len(told(bot, "eve")) == 1


async def test_pair_without_a_code_says_how_and_is_silent_after_a_few_times(start_bot: StartBot) -> None:
    bot = await start_bot(people=NOBODY)
    for _ in range(MOST_OF_SENDER):
        await bot.hears("/pair", sender="eve")
    await bot.channel.until(lambda: len(told(bot, "eve")) == MOST_OF_SENDER)
    await bot.hears("/pair", sender="eve")
    await bot.made.stranger_notices.settled()

    assert told(bot, "eve")[0].startswith("Write `/pair CODE`")
    assert len(told(bot, "eve")) == MOST_OF_SENDER


# Commands


async def test_a_person_is_let_in_raised_lowered_and_blocked_at_once(start_bot: StartBot) -> None:
    bot = await start_bot()
    for words, role in [
        ("/allow memory:eve guest", Role.GUEST),
        ("/role memory:eve admin", Role.ADMIN),
        ("/role memory:eve member", Role.MEMBER),
        ("/block memory:eve", None),
        ("/allow memory:eve", Role.MEMBER),
        ("/role memory:eve none", None),
    ]:
        await bot.hears(words)
        assert role_of(bot, "eve") is role, bot.screen[-1]


@pytest.mark.parametrize(
    "who", ["eve", "@eve", "telegram:7", "memory:", ":eve", "memory:e ve x", "", "memory:a:b", "`"]
)
async def test_ids_in_a_wrong_form_are_refused_with_an_example(start_bot: StartBot, who: str) -> None:
    bot = await start_bot()
    await bot.hears(f"/block {who}")

    assert "telegram:123456789" in bot.screen[-1]
    assert await bot.made.store.people.all() == []


async def test_what_stands_in_the_settings_cannot_be_taken_in_a_chat_but_by_a_block(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:eve owner")
    await bot.hears("/block memory:ann", sender="eve")
    await bot.hears("/role memory:ann member", sender="eve")
    await bot.hears("/role memory:bob guest", sender="eve")
    assert (role_of(bot, "ann"), role_of(bot, "bob")) == (Role.OWNER, Role.MEMBER)

    await bot.hears("/block memory:bob", sender="eve")

    assert role_of(bot, "bob") is None


async def test_an_admin_lets_members_in_and_makes_no_admins(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:bob admin")
    await bot.hears("/allow memory:eve", sender="bob")
    assert role_of(bot, "eve") is Role.MEMBER

    for words in ("/role memory:eve admin", "/role memory:bob owner", "/block memory:ann", "/role memory:ann none"):
        await bot.hears(words, sender="bob")

    assert (role_of(bot, "eve"), role_of(bot, "bob"), role_of(bot, "ann")) == (Role.MEMBER, Role.ADMIN, Role.OWNER)


async def test_members_and_guests_see_and_change_nobody(start_bot: StartBot) -> None:
    bot = await start_bot()
    for words in ("/people", "/allow memory:eve", "/role memory:bob owner", "/block memory:carl", "/person memory:ann"):
        await bot.hears(words, sender="bob")

    assert set(told(bot, "bob")) == {"Only owners and admins can see and change roles."}
    assert await bot.made.store.people.all() == []


async def test_people_are_listed_with_buttons_that_change_them(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/people")
    assert "- Owner: `memory:ann` (in the settings)" in bot.screen[-1]
    assert "- Member: `memory:bob` (in the settings)" in bot.screen[-1]

    await bot.channel.presses("memory:bob")
    await bot.app.settled()
    await bot.channel.presses("Admin")
    await bot.app.settled()

    assert role_of(bot, "bob") is Role.ADMIN


async def test_whoami_shows_role_and_account(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/whoami", sender="bob")

    assert bot.screen[-1].startswith("**Role:** Member  \n**Account:** `memory:bob`")
