"""Pairing, strangers and the commands for roles, as people see them in chats."""

import asyncio
import re

import pytest

from channels.base import Accepted, Sender
from gateway.permissions.roles import Role
from gateway.records.audit_actions import last_actions
from gateway.store.pairing import MOST_OF_CODE, MOST_OF_SENDER
from tests.clock import OffsetClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import NOBODY, Platform, code_of, role_of, told
from tests.gateway.ruling import admit
from tests.process import until

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
    clock = OffsetClock()
    bot = await start_bot(people=NOBODY, clock=clock)
    code = await code_of(bot)
    for _ in range(MOST_OF_SENDER):
        await bot.hears("/pair 00000000", sender="eve")
    await bot.hears(f"/pair {code}", sender="eve")
    assert role_of(bot, "eve") is None

    await bot.restart()
    await bot.hears(f"/pair {code}", sender="eve")
    assert role_of(bot, "eve") is None, "the lock survives a restart"

    clock.ahead += 3_601
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
    clock = OffsetClock()
    bot = await start_bot(people=NOBODY, clock=clock)
    code = await code_of(bot)
    await bot.restart()
    assert await code_of(bot) == code

    clock.ahead += 3_601
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
    assert await bot.made.base.store.people.all() == []


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
    assert await bot.made.base.store.people.all() == []


async def test_people_are_listed_with_buttons_that_change_them(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/people")
    assert "- Owner: `Ann` `memory:ann` (in the settings)" in bot.screen[-1]
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


async def test_whoami_promises_nobody_more_than_block_keeps(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/whoami", sender="bob")
    assert "no chat can lower it, but owners and admins can block you" in bot.screen[-1]
    await bot.hears("/role memory:bob none")
    assert role_of(bot, "bob") is Role.MEMBER
    await bot.hears("/block memory:bob")
    assert role_of(bot, "bob") is None

    await bot.hears("/whoami")
    assert bot.screen[-1].endswith("The role is in the settings and cannot be taken away in a chat.")


async def test_people_of_the_same_name_have_buttons_that_tell_them_apart(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.", "Hi.", "Hi.")
    for person, name in (("eve", "Eve"), ("eve2", "Eve"), ("dan", "Dan")):
        await bot.channel.hears("hi", sender=Sender(id=person, name=name))
        await bot.hears(f"/allow memory:{person} guest")

    await bot.hears("/people")

    listed = next(each for _, each, *_ in reversed(bot.channel.posts) if each.markdown.startswith("These people"))
    assert {"Dan", "Eve (memory)"} <= {button.label for row in listed.buttons for button in row}
    assert "Guest: `Eve` `memory:eve` (by `Ann`)" in listed.markdown


async def test_people_of_the_settings_are_listed_by_the_names_under_which_they_were_seen(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", channel=Platform())
    await bot.hears("hello", sender="bob")

    await bot.hears("/people")

    assert "- Member: `Bob` `memory:bob` (in the settings)" in bot.screen[-1]
    assert "- Owner: `Ann` `memory:ann` (in the settings)" in bot.screen[-1]


async def test_changes_of_roles_groups_and_budgets_are_in_the_audit_with_who_made_them(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", channel=Platform())
    await bot.hears("/role memory:bob admin")
    await bot.hears("/block memory:eve")
    await bot.hears("/budget all 5 USD a day")
    await admit(bot)
    code = await code_of(bot)
    await bot.hears(f"/pair {code}", sender="carl")
    await bot.hears("/role memory:bob king")

    await bot.channel.until(lambda: "owner" in told(bot, "carl")[-1])
    await until(lambda: "pairing code" in _audited(bot))

    assert [f"{each.what} {each.details}: {each.status}, for {each.person}" for each in last_actions(bot.home, 9)] == [
        "role memory:carl by a pairing code → owner: changed, for memory:carl",
        "speakers memory:here:#team everybody guest: changed, for memory:ann",
        "budget all $5/day: changed, for memory:ann",
        "role memory:eve none → blocked: changed, for memory:ann",
        "role memory:bob member → admin: changed, for memory:ann",
    ]


def _audited(bot: Bot) -> str:
    return "".join(file.read_text() for file in (bot.home / "audit").glob("*.jsonl"))
