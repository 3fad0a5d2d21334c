"""What is changed on one node holds on all: rights, rules, settings, strangers, jobs, and what was erased."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.models.scripted import Waits, calls
from agent_core.tools.tool import tool
from channels.base import Accepted, Addressed, CommandInvoked, MessageReceived, Sender
from channels.memory import user
from gateway.admin.desk import CommandRefused
from gateway.app.page_commands import PageCommands
from gateway.cluster import sweep
from gateway.permissions.groups import ACTIVATION
from gateway.permissions.membership import By, RoleRefused
from gateway.permissions.roles import Role
from gateway.store.budget import ALL
from gateway.store.pairing import Try
from gateway.store.person import Account, Person
from gateway.store.rows import InboxItem
from gateway.store.topics import Topic
from gateway.web.access import PageAccess
from gateway.web.links import LOCAL_PRINCIPAL
from tests.entering import page_server
from tests.gateway.approving import CHART, recorder
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.cluster.stores import opened_node
from tests.gateway.ruling import rule
from tests.page_server import PLAYED
from tests.postgres import UrlOf, rows
from tests.process import until


@tool()
async def look() -> str:
    """Look."""
    return "seen"


async def says(bot: Bot, text: str, nodes: Nodes, **how: object) -> str:
    """Say something by way of a node, and return the newest message of all chats."""
    await bot.channel.hears(text, **how)  # type: ignore[arg-type]
    await nodes.settled()
    return nodes.platform.screen[-1]


def role(bot: Bot, name: str) -> Role | None:
    return bot.made.people.access.role_of(f"memory:{name}")


async def test_a_role_that_is_given_or_taken_away_holds_on_all_nodes(nodes: Nodes) -> None:
    one, other = await nodes.start(), await nodes.start()

    await says(one, "/role memory:eve member", nodes)
    await until(lambda: role(other, "eve") is Role.MEMBER)
    await says(other, "/block memory:eve", nodes)
    await until(lambda: role(one, "eve") is None)

    assert await one.channel.hears("hello", sender="eve") is Accepted.REFUSED


async def test_a_block_ends_the_run_on_the_node_that_works_on_it(nodes: Nodes) -> None:
    said = asyncio.Event()
    one = await nodes.start(Waits(said, calls(("look", {}))), "never said", tools=(look,))
    await one.channel.hears("look around", sender="bob")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start()

    await other.made.people.membership.block(By(one.channel.chat(), user("ann")), Account("memory:bob"))
    await until(lambda: role(one, "bob") is None)
    said.set()
    await nodes.settled()

    assert len(one.llm.requests) == 1
    assert rows(nodes.url, "SELECT count(*) FROM runs WHERE state = 'running'") == [(0,)]


@pytest.mark.parametrize("event", [MessageReceived, CommandInvoked], ids=["message", "command"])
async def test_what_came_in_before_a_block_was_heard_of_is_not_done_after_it(
    nodes: Nodes, event: type[MessageReceived | CommandInvoked]
) -> None:
    one, other = await nodes.start("Hello.", "never said"), await nodes.start()
    assert await says(one, "hello", nodes, sender="bob") == "Hello."
    await one.made.people.membership.block(By(one.channel.chat(), user("ann")), Account("memory:bob"))
    words = {"text": "again"} if event is MessageReceived else {"name": "btw", "arguments": "why?"}
    about = {
        "event_id": "late",
        "message_id": "late",
        "chat": nodes.platform.chat("bob"),
        "sender": user("bob"),
        "at": 2,
    }
    late = event.model_validate({**about, **words})

    seq = await other.made.base.store.inbox.accept(late)  # by a node that has not heard of it yet
    assert seq is not None
    other.made.events.dispatcher.dispatch(InboxItem(seq, late), is_live=True)
    await nodes.settled()

    assert len(one.llm.requests) == 1
    assert nodes.platform.screen == ["Hello."]


async def test_a_button_does_nothing_for_somebody_who_was_blocked_though_the_news_has_not_come(nodes: Nodes) -> None:
    run, ran = recorder()
    one = await nodes.start(CHART, tools=(run,))
    await one.made.people.membership.give(By(one.channel.chat(), user("ann")), Account("memory:bob"), Role.MEMBER)
    await one.channel.hears("draw", sender="bob")
    await until(lambda: "May I do this?" in str(nodes.platform.screen))

    rows(nodes.url, "UPDATE people SET role = NULL, is_blocked = 1")
    await one.channel.presses("Allow once", sender="bob")
    await until(lambda: rows(nodes.url, "SELECT count(*) FROM inbox WHERE state = 'new'") == [(0,)])

    assert rows(nodes.url, "SELECT state FROM approvals") == [("pending",)]
    assert (ran, role(one, "bob")) == ([], None)


async def test_nodes_that_change_the_same_person_at_once_lose_neither_change(nodes: Nodes) -> None:
    one, other = await nodes.start(), await nodes.start()
    by = By(one.channel.chat(), user("ann"))
    eve, phone = Account("memory:eve", "Eve"), Account("memory:eve2", "Eve")
    for account in (eve, phone):
        await one.made.people.membership.give(by, account, Role.MEMBER)
    link = await one.made.people.membership.said(await one.made.people.membership.offer_link(eve), phone)
    assert link is not None
    await one.made.people.membership.link(link, phone, "event")
    await until(lambda: len(other.made.people.roles.linked(eve.principal)) == 2)

    await asyncio.gather(one.made.people.membership.unlink(phone), other.made.people.membership.block(by, eve))

    for bot in (one, other):
        await until(lambda bot=bot: role(bot, "eve") is None)  # type: ignore[misc]
        await until(lambda bot=bot: bot.made.people.roles.linked(eve.principal) == [eve.principal])  # type: ignore[misc]
        assert bot.made.people.roles.linked(phone.principal) == [phone.principal]
    assert rows(nodes.url, "SELECT count(*) FROM people") == [(2,)]


async def test_owners_who_block_each_other_at_once_on_two_nodes_are_not_both_blocked(nodes: Nodes) -> None:
    one, other = await nodes.start(), await nodes.start()
    ed, flo = Account("memory:ed"), Account("memory:flo")
    for account in (ed, flo):
        await one.made.people.membership.give(By(one.channel.chat(), user("ann")), account, Role.OWNER)
    await until(lambda: role(other, "ed") is role(other, "flo") is Role.OWNER)

    found = await asyncio.gather(
        one.made.people.membership.block(By(one.channel.chat("ed"), user("ed")), flo),
        other.made.people.membership.block(By(other.channel.chat("flo"), user("flo")), ed),
        return_exceptions=True,
    )

    assert len([each for each in found if isinstance(each, RoleRefused)]) == 1
    for bot in (one, other):
        await until(lambda bot=bot: {role(bot, "ed"), role(bot, "flo")} == {Role.OWNER, None})  # type: ignore[misc]


async def test_rules_of_groups_and_settings_hold_on_all_nodes(nodes: Nodes) -> None:
    one, other = await nodes.start("Yes?"), await nodes.start()

    await rule(one, ACTIVATION, "always")
    await says(one, "/config set ai_name Ida", nodes)
    await until(lambda: other.made.base.current.now.ai_name == "Ida")

    ambient = await other.channel.hears("hm", sender="bob", group="team", addressed=Addressed.AMBIENT)
    assert ambient is Accepted.NEW
    await says(one, "/config reset ai_name", nodes)
    await until(lambda: other.made.base.current.now.ai_name == "Ada")


async def test_a_budget_that_is_set_on_one_node_is_one_on_all(nodes: Nodes) -> None:
    one, other = await nodes.start(), await nodes.start()

    await says(one, "/budget all 7 USD a day", nodes)

    await until(lambda: other.made.guards.budgets.of(ALL) == one.made.guards.budgets.of(ALL) != [])


async def test_a_thread_in_which_another_node_has_spoken_is_listened_to(nodes: Nodes) -> None:
    one, other = await nodes.start("In the thread.", "Still here."), await nodes.start()

    await says(one, "hello", nodes, group="team", thread="7")
    await until(lambda: rows(nodes.url, "SELECT count(*) FROM chats WHERE spoke = 1") == [(1,)])
    await says(one, "/config set keep_days 60", nodes)
    await until(lambda: other.made.base.current.now.keep_days == 60)  # which was told later than that it has spoken

    how = {"group": "team", "thread": "7", "addressed": Addressed.AMBIENT}
    assert await other.channel.hears("hm", **how) is Accepted.NEW  # type: ignore[arg-type]


async def test_a_stranger_who_is_let_in_on_another_node_is_answered(nodes: Nodes) -> None:
    one, other = await nodes.start("Hello Eve."), await nodes.start("Hello Eve.")
    await one.channel.hears("hi", sender="eve")
    [stranger] = await one.made.people.strangers.waiting()

    await other.channel.hears(f"/stranger member {stranger.id}")

    await until(lambda: "Hello Eve." in nodes.platform.screen)


async def test_what_was_erased_is_in_the_memory_of_no_node(nodes: Nodes) -> None:
    one = await nodes.start("Noted.", "What secret?")
    await says(one, "the secret is marmalade", nodes, sender="bob")
    other = await nodes.start()
    await other.made.commands.forgetting.erase("memory:bob", "memory:ann")
    await until(lambda: one.made.chats.sessions.of(nodes.platform.chat("bob")).conversation.weight == 0)

    await says(one, "what did I say?", nodes, sender="bob")

    assert "marmalade" not in str(one.llm.requests[-1].messages)


async def test_what_was_erased_during_somebody_else_s_run_is_gone_with_the_end_of_that_run(nodes: Nodes) -> None:
    said = asyncio.Event()
    one = await nodes.start("Noted.", Waits(said, "Hello Carl."), "What secret?")
    await says(one, "the secret is marmalade", nodes, sender="bob", group="team")
    other = await nodes.start()
    heard = asyncio.Event()
    one.made.base.peers.signals.subscribe(Topic.ERASED, lambda chat: _set(heard, chat))
    await one.channel.hears("hello", sender="carl", group="team")
    await until(lambda: len(one.llm.requests) == 2)

    await other.made.commands.forgetting.erase("memory:bob", "memory:ann")
    await heard.wait()
    said.set()
    await nodes.settled()
    await says(one, "what did Bob say?", nodes, sender="carl", group="team")

    assert "marmalade" not in str(one.llm.requests[-1].messages)


async def _set(heard: asyncio.Event, chat: str) -> None:
    if chat:
        heard.set()


async def test_the_limit_of_a_platform_is_shared_out_among_the_nodes(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "SWEEP_EVERY", 3_600.0)  # nodes hear of each other at once
    one, other = await nodes.start(), await nodes.start()

    await until(lambda: one.made.base.peers.sending.processes == other.made.base.peers.sending.processes == 2)
    await other.stop()
    await until(lambda: one.made.base.peers.sending.processes == 1)


async def test_a_pairing_code_pairs_once_though_its_event_comes_to_two_nodes_at_once(tmp_path: Path, url: str) -> None:
    eve = Person("eve", "owner", accounts=(Account("memory:eve"),))
    async with opened_node(tmp_path, url) as one, opened_node(tmp_path, url) as other:
        for number in range(10):
            await one.store.pairing.current("12345678")

            tries = [
                each.store.pairing.attempt("12345678", "memory:eve", eve, f"event {number}") for each in (one, other)
            ]

            assert sorted(await asyncio.gather(*tries)) == [(Try.PAIRED, False), (Try.PAIRED, True)]


# Commands of a page


async def act(bot: Bot, line: str, sender: str = "memory:ann") -> str:
    """Give a command on the page of a node, in Bob's chat. Returns the answer, or why there is none."""
    made = bot.made
    page = PageCommands(
        made.events.admission, made.commands.table, made.events.chat_commands, made.base.audit, bot.clock
    )
    try:
        answer = await page.run(Sender(id=sender, name="Ann"), bot.channel.chat("bob"), line)
    except CommandRefused as refused:
        return str(refused)
    return answer.markdown if answer is not None else ""


async def test_a_command_of_the_page_reaches_the_node_that_works_on_the_chat(nodes: Nodes) -> None:
    never = asyncio.Event()
    one = await nodes.start(Waits(never, "never said"))
    await one.channel.hears("hello", sender="bob")
    await until(lambda: len(one.llm.requests) == 1)
    other = await nodes.start()

    assert "Model" in await act(other, "/status")
    assert await act(other, "/stop") == ""
    await nodes.settled()

    assert not one.made.chats.sessions.of(nodes.platform.chat("bob")).current.is_open
    assert "stopped" in nodes.platform.screen[-1].lower()
    assert rows(nodes.url, "SELECT count(*) FROM page_commands") == [(0,)]


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_command_of_the_page_comes_after_a_message_that_waits_for_the_news_of_an_older_one(
    nodes: Nodes, *, elsewhere: bool
) -> None:
    one = await nodes.start("Hello.", Waits(asyncio.Event(), "never said"))
    await says(one, "hello", nodes, sender="bob")
    other = await nodes.start()
    await until(lambda: one.made.base.peers.sending.processes == 2)
    chat = nodes.platform.chat("bob")
    bob = Sender(id="bob", name="Bob")
    older = MessageReceived(event_id="older", chat=chat, sender=bob, at=2, text="wait", message_id="older")
    await other.made.base.store.inbox.accept(older)  # the news of it does not come
    await one.channel.hears("count to a million", sender="bob")

    await act(other if elsewhere else one, "/stop")
    await nodes.settled()

    assert not one.made.chats.sessions.of(chat).current.is_open
    assert len(nodes.platform.screen) > 1


async def test_what_is_refused_on_the_other_node_is_refused_on_the_page(nodes: Nodes) -> None:
    one = await nodes.start("Hello.")
    await says(one, "hello", nodes, sender="bob")
    other = await nodes.start()

    assert await act(other, "/retry") == "page_say_in_chat"
    assert await act(other, "/stop", "memory:eve") == "page_not_your_chat"


async def test_a_command_for_a_chat_whose_node_is_gone_is_run_here(nodes: Nodes) -> None:
    one = await nodes.start("Hello.")
    await says(one, "hello", nodes, sender="bob")
    other = await nodes.start()
    await one.stop()
    nodes.bots.remove(one)

    assert "Model" in await act(other, "/status")
    assert nodes.owner(nodes.platform.chat("bob")) is not None


# Signing in


@pytest.fixture
async def pages(tmp_path: Path, url_of: UrlOf) -> AsyncIterator[list[PageAccess]]:
    """The ways into the pages of two nodes."""
    url, found = url_of(tmp_path), list[PageAccess]()
    async with opened_node(tmp_path, url) as one, opened_node(tmp_path, url) as other:
        for node in (one, other):
            access = page_server(node.store, [], about=lambda: PLAYED).access

            async def reload(_: str, access: PageAccess = access) -> None:
                await access.sessions.reload()
                await access.links.reload()

            for topic in (Topic.LINKS, Topic.BROWSERS):
                node.signals.subscribe(topic, reload)
            found.append(access)
        yield found
        for access in found:
            await access.links.close()


async def test_a_link_signs_a_browser_in_once_on_whichever_node_it_is_opened(pages: list[PageAccess]) -> None:
    one, other = pages
    token = one.links.give("memory:ann", "Ann").token
    await until(lambda: other.links.find(token))

    used = await asyncio.gather(one.links.use(token), other.links.use(token))

    assert len([each for each in used if each is not None]) == 1
    await until(lambda: one.links.find(token) is None and other.links.find(token) is None)
    local = one.links.give(LOCAL_PRINCIPAL, "").token
    assert await other.links.use(local) is None
    assert await one.links.use(local) is not None


async def test_a_browser_that_signs_in_or_out_on_one_node_does_so_on_all(pages: list[PageAccess]) -> None:
    one, other = pages
    keys = await one.sessions.sign_in("memory:ann", "Ann", agent="Firefox/1", place="127.0.0.1")
    await until(lambda: other.sessions.find(keys.cookie))
    found = other.sessions.find(keys.cookie)
    assert found is not None
    assert other.sessions.brings_token(found, keys.token)

    await other.sessions.sign_out(lambda _: True)

    await until(lambda: one.sessions.find(keys.cookie) is None)
