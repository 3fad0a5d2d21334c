"""Linked accounts are one person, and linking raises nobody's rights but those an owner shares."""

import re
from functools import partial

import pytest

from agent_core.workspace.keeper import Author
from channels.base import ChatKey, Sender
from channels.memory import NO_PACE, MemoryChannel, user
from gateway.app.page_commands import PageCommands
from gateway.chat.run_pace import BURST, MOST_WAITING
from gateway.permissions.roles import Role
from gateway.permissions.room import Charged
from gateway.settings.limits import MB, QuotaSettings
from gateway.store.budget import Account, Payer, Scope, Spent
from gateway.texts.amounts import Period
from tests.clock import HandClock
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform

CODE = re.compile(r"/link (\w{8})`")

NO_ROOM = "has no room for the next step"


def role_of(bot: Bot, person: str) -> Role | None:
    return bot.made.people.access.role(bot.channel.chat(person), user(person))


def chat_of(bot: Bot, person: str) -> ChatKey:
    return bot.channel.chat(person)


async def code_from(bot: Bot, person: str) -> str:
    await bot.hears("/link", sender=person)
    found = CODE.search(bot.channel.screen_of(chat_of(bot, person))[-1])
    assert found is not None
    return found[1]


async def linked(bot: Bot, giver: str, sayer: str) -> str:
    """Link two accounts; return what the second one is told."""
    code = await code_from(bot, giver)
    await bot.hears(f"/link {code}", sender=sayer)
    await bot.hears(f"/link {code} yes", sender=sayer)
    told = bot.channel.screen_of(chat_of(bot, sayer))
    return told[-1] if told else ""


def waits(bot: Bot, person: str) -> bool:
    """Return True if the person was told that a budget has no room."""
    return NO_ROOM in bot.channel.screen_of(chat_of(bot, person))[-1]


async def test_two_members_become_one_person(start_bot: StartBot) -> None:
    bot = await start_bot()

    assert (await linked(bot, "bob", "carl")).startswith("Linked: `memory:bob`, `memory:carl`")

    others = bot.made.people.access.other_accounts(chat_of(bot, "carl"), user("carl"))
    assert others == [("memory", "", "bob")]


async def test_before_linking_the_other_account_is_named(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "bob")

    await bot.hears(f"/link {code}", sender="carl")

    assert "`Bob` (`memory:bob`)" in bot.screen[-1]
    assert await bot.made.base.store.people.all() == []


@pytest.mark.parametrize(
    ("giver", "sayer", "words"),
    [
        ("bob", "ann", "more rights than the other one"),
        ("bob", "bob", "not valid"),
        ("bob", "eve", "nobody has let this account in"),
    ],
)
async def test_a_weaker_account_raises_nobody(start_bot: StartBot, giver: str, sayer: str, words: str) -> None:
    bot = await start_bot()
    before = [role_of(bot, each) for each in ("ann", "bob", "carl", "eve")]

    assert words in await linked(bot, giver, sayer)

    assert [role_of(bot, each) for each in ("ann", "bob", "carl", "eve")] == before


async def test_an_owners_code_makes_the_other_account_the_owners_until_it_is_blocked(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:bob owner")
    await bot.hears(f"/link {await code_from(bot, 'bob')}", sender="eve")
    assert role_of(bot, "eve") is Role.OWNER
    await bot.restart()
    assert role_of(bot, "eve") is Role.OWNER

    await bot.hears("/block memory:eve")

    assert (role_of(bot, "eve"), role_of(bot, "bob")) == (None, None), "a block covers the whole person"


async def test_a_code_works_once(start_bot: StartBot) -> None:
    bot = await start_bot()
    code = await code_from(bot, "ann")
    await bot.hears(f"/link {code}", sender="eve")

    await bot.hears(f"/link {code}", sender="mallory")

    assert (role_of(bot, "eve"), role_of(bot, "mallory")) == (Role.OWNER, None)


async def test_unlinked_accounts_are_separate_again(start_bot: StartBot) -> None:
    bot = await start_bot()
    await linked(bot, "bob", "carl")
    await bot.hears("/link off", sender="carl")
    await bot.restart()

    await bot.hears("/block memory:bob")

    assert (role_of(bot, "bob"), role_of(bot, "carl")) == (None, Role.MEMBER)


async def test_the_answer_to_a_separation_names_the_role_that_is_left(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears(f"/link {await code_from(bot, 'ann')}", sender="eve")
    assert role_of(bot, "eve") is Role.OWNER
    await bot.hears("/link off", sender="eve")
    assert "Its role came from the other account, so it has none now" in bot.channel.screen_of(chat_of(bot, "eve"))[-1]
    assert (role_of(bot, "eve"), role_of(bot, "ann")) == (None, Role.OWNER)

    await linked(bot, "bob", "carl")
    await bot.hears("/link off", sender="carl")
    assert "Its role here: member." in bot.channel.screen_of(chat_of(bot, "carl"))[-1].lower().replace("its", "Its")
    assert role_of(bot, "carl") is Role.MEMBER


async def test_in_a_group_no_code_is_shown(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/link", sender="bob", group="team")

    assert bot.screen == ["Others can read this chat. Please send me that in a direct chat."]


@pytest.mark.parametrize("account", ["bob", "carl"])
async def test_linking_frees_nobody_from_a_budget(start_bot: StartBot, account: str) -> None:
    bot = await start_bot("Too much.", "Too much.")
    await bot.hears(f"/budget memory:{account} 10 tokens a day")
    await linked(bot, "bob", "carl")

    for person in ("bob", "carl"):
        await bot.channel.hears("hi", sender=person)
        await bot.channel.until(partial(waits, bot, person))
    assert bot.llm.requests == []

    await bot.hears("/budget memory:carl 10m tokens a day")
    await bot.channel.until(lambda: bot.channel.screen_of(chat_of(bot, "bob"))[-1] == "Too much.")


async def test_linked_accounts_share_what_they_have_used(start_bot: StartBot) -> None:
    bot = await start_bot("Hello, Bob.", "Hello, Carl.")
    await bot.hears("hi", sender="carl")
    used = bot.made.guards.budgets.ledger.used(Account(Scope.PERSON, "memory:carl"), bot.clock.time(), Period.DAY)
    await linked(bot, "bob", "carl")

    await bot.hears("/budget memory:bob 10m tokens a day")

    assert used.tokens > 0
    assert f"of which {used.tokens:,} tokens are used" in bot.screen[-1]


async def test_linked_accounts_share_their_pace(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*[f"answer {number}" for number in range(BURST + 1)], channel=channel, clock=clock)
    await linked(bot, "bob", "carl")
    for number in range(BURST):
        await bot.hears(f"{number}", sender="bob")

    await channel.hears("I am Bob, too", sender="carl")
    await channel.hears("/queue", sender="carl")
    await channel.until(lambda: "I am Bob, too" in channel.screen_of(chat_of(bot, "carl"))[-1])
    async with clock.going_on():
        await channel.until(lambda: channel.screen_of(chat_of(bot, "carl"))[-1] == f"answer {BURST}")


async def test_linked_accounts_share_the_room_for_files(start_bot: StartBot) -> None:
    bot = await start_bot(quotas=QuotaSettings(person_mb=1, reserve_mb=0))
    of_bob, of_carl = (bot.made.files.versions.of(chat_of(bot, each)) for each in ("bob", "carl"))
    of_bob.workspace.mkdir(parents=True)
    with of_bob.file(Author("write_file", "c1", "bob"), "file", 900_000):
        (of_bob.workspace / "file").write_bytes(b"x" * 900_000)
    assert of_carl.quota.room("carl").bytes == MB

    await linked(bot, "bob", "carl")

    room = of_carl.quota.room("carl")
    assert room.bytes == MB - 900_000
    assert {*room.pools} & {*of_bob.quota.room("bob").pools}


async def test_linked_accounts_share_the_room_for_waiting_messages(start_bot: StartBot) -> None:
    bot = await start_bot()
    await linked(bot, "bob", "carl")
    pace, carls = bot.made.chats.pace, chat_of(bot, "carl")
    assert not pace.is_full(carls, user("carl"))

    pace.waiting["memory:bob"] = MOST_WAITING

    assert pace.is_full(carls, user("carl"))


async def test_the_giver_of_a_code_is_told_and_takes_it_back_by_a_button(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears(f"/link {await code_from(bot, 'ann')}", sender="eve")
    assert role_of(bot, "eve") is Role.OWNER
    await bot.made.people.stranger_notices.settled()
    told = bot.channel.screen_of(chat_of(bot, "ann"))[-1]
    assert told.startswith("`Eve` (`memory:eve`) has used your code")

    await bot.channel.presses("Separate it", sender="ann")
    await bot.app.settled()

    assert role_of(bot, "eve") is None
    assert "is a person of its own again" in bot.channel.screen_of(chat_of(bot, "ann"))[-1]
    await bot.restart()
    assert (role_of(bot, "ann"), role_of(bot, "eve")) == (Role.OWNER, None)


async def test_what_an_owner_by_a_row_gave_by_a_code_is_gone_after_the_separation(start_bot: StartBot) -> None:
    bot = await start_bot(channel=Platform())
    await bot.hears("/role memory:dora owner")
    await bot.hears(f"/link {await code_from(bot, 'dora')}", sender="eve")
    assert role_of(bot, "eve") is Role.OWNER

    await bot.hears("/link off memory:eve", sender="dora")

    assert (role_of(bot, "dora"), role_of(bot, "eve")) == (Role.OWNER, None)


async def test_an_account_that_used_a_code_cannot_separate_its_giver(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/role memory:dora owner")
    await bot.hears(f"/link {await code_from(bot, 'dora')}", sender="eve")

    await bot.hears("/link off memory:dora", sender="eve")

    assert role_of(bot, "dora") is Role.OWNER
    assert "No such account was linked" in bot.channel.screen_of(chat_of(bot, "eve"))[-1]


NAMES = {
    "emoji": "\N{PILE OF POO}" * 300,
    "right to left": "ann\u202eyldneirf\u2066",
    "mention": "@everyone <!channel> <@U1> @ann",
    "link": "[owner](https://evil.example) https://evil.example",
    "code": "`` `x` ```",
    "lines": "Eve\n\n**Owner**: ann\n- Admin",
    "empty": "\u200b\u2060",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_names_do_nothing_where_they_are_shown(start_bot: StartBot, name: str) -> None:
    """In the list, in questions and in notices they are one line of code, with hidden characters written out."""
    bot = await start_bot(channel=Platform())
    eve = Sender(id="eve", name=name)
    await bot.channel.hears("hi", sender=eve)
    await bot.channel.until(lambda: any("unknown here" in text for text in bot.screen))
    await bot.hears("/people")
    code = await code_from(bot, "ann")
    await bot.channel.hears(f"/link {code}", sender=eve)
    await bot.app.settled()
    await bot.made.people.stranger_notices.settled()
    await bot.hears("/people")

    shown = [text for text in bot.channel.screen_of(chat_of(bot, "ann")) if "memory:eve" in text]
    assert len(shown) >= 3
    for text in shown:
        outside = "".join(text.replace("```\nhi\n```", "").split("`")[::2])
        assert not any(each in outside for each in ("everyone", "<@", "channel>", "evil", "**"))
        assert not any(each in text for each in ("\u202e", "\u2066", "\u200b", "\u2060"))
        assert all(len(line) < 400 for line in text.splitlines())
    labels = [each.label for _, message in bot.channel.posts for row in message.buttons for each in row]
    assert all(len(label) <= 60 and label.isprintable() for label in labels)


async def test_a_person_hears_of_a_budget_once_whichever_account_pays(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.", channel=Platform(limits=NO_PACE))
    await bot.hears(f"/link {await code_from(bot, 'ann')}", sender="eve")
    await linked(bot, "bob", "carl")
    await bot.hears("/budget all 100k tokens a day")
    await bot.hears("/budget memory:bob 90k tokens a day")
    for person in ("bob", "carl", "eve"):
        await bot.hears("hi", sender=person)
        charged = await bot.made.guards.budgets.reserve(
            Payer(
                chat_of(bot, person), "run", person, bot.made.people.access.person(chat_of(bot, person), user(person))
            ),
            "m",
            Spent(40_000, 0),
        )
        assert isinstance(charged, Charged) == (person != "eve")
        if isinstance(charged, Charged):
            bot.made.guards.budgets.settle(charged, "m", Spent(42_000, 0), "settled")
        await bot.app.settled()
        await bot.made.people.owners.settled()

    seen = {each: "\n".join(bot.channel.screen_of(chat_of(bot, each))) for each in ("ann", "bob", "carl", "eve")}
    told = {each: text.count("% of a budget are used") for each, text in seen.items()}
    assert told["ann"] + told["eve"] == 1
    assert told["bob"] + told["carl"] == 1


async def test_a_code_said_on_the_page_in_anothers_chat_makes_that_nobodys_own_chat(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", channel=Platform())
    await bot.hears("hello", sender="bob")
    await bot.hears("/role memory:dora owner")
    code = await code_from(bot, "dora")
    made = bot.made
    page = PageCommands(
        made.events.admission, made.commands.table, made.events.chat_commands, made.base.audit, bot.clock
    )

    await page.run(Sender(id="memory:ann", name="Ann"), chat_of(bot, "bob"), f"/link {code} yes")

    [person] = [each for each in await made.base.store.people.all() if len(each.accounts) == 2]
    assert chat_of(bot, "bob") not in [each.chat for each in person.accounts]
