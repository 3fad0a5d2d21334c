"""A device whose page is closed is told of what waits for its person, and of what comes unasked, once each."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from channels.base import OutboundMessage
from channels.memory import user
from channels.web.adapter import CHAT
from gateway.security.secrets import Secrets
from gateway.store.job import Heartbeat
from gateway.store.rows import Post
from tests.clock import OffsetClock
from tests.entering import signed_in
from tests.gateway.approving import CHART, asked, questions, recorder
from tests.gateway.tasking import Cast, begins
from tests.page_server import say
from tests.plugins.push.telling import Told, told_world

SECRET = "sk-very-secret-0123456789"  # noqa: S105 - none
HOUR = 3600.0


class MovedClock(OffsetClock):
    """A clock that is moved on while others sleep by it."""

    async def sleep(self, seconds: float) -> None:
        until = self.time() + seconds
        while (left := until - self.time()) > 0:
            await super().sleep(min(left, 0.05))


async def reports(told: Told, words: str, number: int = 0) -> None:
    """Send the page's main conversation a message that nobody asked for."""
    post = Post(f"job-{number}:proactive:0", f"job-{number}", CHAT, OutboundMessage(markdown=words), CLEAN)
    store, delivery = told.world.bot.made.base.store, told.world.bot.made.base.delivery
    await store.outbox.add([post])
    await delivery.deliver(CHAT, [post])


async def owes(told: Told, count: int) -> None:
    """Wait until so much is owed."""
    store = told.world.bot.made.base.store
    async with asyncio.timeout(30):
        while len(await store.owed.left()) != count:  # noqa: ASYNC110 - nothing tells of rows
            await asyncio.sleep(0.02)


async def all_wait(told: Told, count: int) -> None:
    """Wait until so much is owed, all of it at the end of quiet hours."""
    store = told.world.bot.made.base.store
    async with asyncio.timeout(30):
        while [" after " in each.key for each in await store.owed.left()] != [True] * count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)


async def nothing_more(told: Told) -> None:
    """Wait until nothing is owed any more."""
    await owes(told, 0)


async def test_a_question_in_another_chat_is_told_without_its_words(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with told_world(tmp_path, CHART, "Done.", tools=(tool,)) as told:
        phone = await told.phone()
        question = await asked(told.world.bot, sender=user("bob"))
        await told.service.until(1, phone)

        shown = {"title": "May I do this?", "body": "In Bob", "tag": f"inbox-{question}", "data": "/admin/inbox"}
        assert phone.got == [shown]
        assert phone.headers[0]["Urgency"] == "high"
        assert 0 < int(phone.headers[0]["TTL"]) <= 24 * HOUR


async def test_a_question_on_the_page_is_told_in_its_words_which_are_masked(tmp_path: Path) -> None:
    tool, _ = recorder()
    turn = calls(("run", {"command": ["echo", SECRET]}))
    async with told_world(tmp_path, turn, "Done.", tools=(tool,), secrets=Secrets([SECRET])) as told:
        phone = await told.phone()
        await say(told.client, "draw it", conversation="drawings-1")
        await told.service.until(1, phone)

        [shown] = phone.got
        assert (shown["title"], shown["tag"], shown["data"]) == ("May I do this?", "drawings-1", "drawings-1")
        assert shown["body"].startswith("echo ")
        assert SECRET not in str(shown)


async def test_an_answer_and_the_reply_to_a_command_are_not_told(tmp_path: Path) -> None:
    async with told_world(tmp_path, "Hello.") as told:
        await told.phone()
        await say(told.client, "hi")
        await told.world.bot.app.settled()
        await say(told.client, "/status")
        await told.world.bot.app.settled()
        await nothing_more(told)
        assert told.service.asked == 0


async def test_reports_of_a_conversation_replace_each_other_on_the_device(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        phone = await told.phone()
        for number in range(3):
            await reports(told, f"Sales: **{number}**", number)
        await told.service.until(3, phone)
        await nothing_more(told)

        [shown] = phone.shown.values()
        assert (shown["body"], shown["data"]) == ("Sales: 2", "main")
        assert len({each["Topic"] for each in phone.headers}) == 1
        assert told.service.refused == []


async def test_the_report_of_a_task_is_told(tmp_path: Path) -> None:
    cast = Cast(begins("count the files"), "I began.", reports="There are 12 files.", tasks={"count the files": ["12"]})
    async with told_world(tmp_path, *cast.turns) as told:
        phone = await told.phone()
        await say(told.client, "count the files in the background")
        await told.service.until(1, phone)
        assert phone.got[0]["body"].endswith("There are 12 files.")
        assert told.service.asked == 1


async def test_nothing_is_told_while_a_tab_is_looked_at(tmp_path: Path) -> None:
    clock = OffsetClock()
    async with told_world(tmp_path, clock=clock) as told:
        phone = await told.phone()
        await told.looks(looked=True)
        await told.looks(looked=True, tab="tab-2")
        await told.looks(looked=False, tab="tab-2")
        await reports(told, "seen", 1)
        await nothing_more(told)
        assert told.service.asked == 0

        await told.looks(looked=False)
        await reports(told, "not seen", 2)
        await told.service.until(1, phone)

        await told.looks(looked=True)
        clock.ahead += 60  # the tab was closed without a word
        await reports(told, "not seen either", 3)
        await told.service.until(2, phone)
        assert [each["body"] for each in phone.got] == ["not seen", "not seen either"]


async def test_a_question_in_quiet_hours_is_told_when_they_end_if_it_still_waits(tmp_path: Path) -> None:
    clock, (tool, _) = MovedClock(), recorder()
    async with told_world(tmp_path, CHART, CHART, "Done.", tools=(tool,), clock=clock, zone="UTC") as told:
        bot, phone = told.world.bot, await told.phone()
        minute = int(clock.time() % 86_400) // 60
        quiet = Heartbeat(CHAT, "local", "job-1", on=False, quiet_chosen=True)
        quiet = replace(quiet, quiet_from=(minute - 1) % 1440, quiet_to=(minute + 3) % 1440)
        await bot.made.base.store.heartbeats.save(quiet)
        first = await asked(bot, sender=user("bob"))
        await all_wait(told, 1)
        await bot.channel.hears("draw it", sender=user("carl"))
        await all_wait(told, 2)
        await bot.channel.presses(f"/deny {first}", sender="bob")
        await bot.channel.until(lambda: len(questions(bot)) == 1)
        assert told.service.asked == 0

        clock.ahead += 300
        await told.service.until(1, phone)
        await nothing_more(told)
        assert [each["body"] for each in phone.got] == ["In Carl"]


async def test_an_admin_is_told_only_of_what_they_may_answer(tmp_path: Path) -> None:
    tool, _ = recorder()
    async with told_world(tmp_path, CHART, CHART, tools=(tool,)) as told:
        bot, server = told.world.bot, told.world.server
        await bot.hears("/role memory:carl admin")
        link = server.link_of(server.access.links.give("memory:carl", "Carl"))
        async with signed_in(server, link) as client:
            phone = await replace(told, client=client).phone()
            await asked(bot, sender=user("ann"))
            await nothing_more(told)
            assert told.service.asked == 0
            await asked(bot, sender=user("bob"))
            await told.service.until(1, phone)
            assert phone.got[0]["body"] == "In Bob"


async def test_a_browser_that_was_signed_out_is_told_nothing(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        await told.phone()
        store = told.world.bot.made.base.store
        await store.browsers.delete([each.digest for each in await store.browsers.all()])
        await reports(told, "private")
        await nothing_more(told)
        assert told.service.asked == 0


async def test_who_switches_it_off_is_told_nothing(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        phone = await told.phone()
        assert await told.endpoint() == phone.endpoint
        async with told.client.delete("/push") as answer:
            assert answer.status == 204
        assert await told.endpoint() == ""
        await reports(told, "private")
        await nothing_more(told)
        assert told.service.asked == 0


async def test_a_device_that_the_service_does_not_know_any_more_is_forgotten(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        phone = await told.phone()
        phone.is_gone = True
        await reports(told, "one", 1)
        await nothing_more(told)
        assert await told.endpoint() == ""
        await reports(told, "two", 2)
        await nothing_more(told)
        assert told.service.asked == 1


@pytest.mark.parametrize("trouble", [(429, {"Retry-After": "1"}), (500, {}), (503, {})])
async def test_a_service_in_trouble_is_asked_again(tmp_path: Path, trouble: tuple[int, dict[str, str]]) -> None:
    async with told_world(tmp_path) as told:
        phone = await told.phone()
        told.service.troubles.append(trouble)
        await reports(told, "one")
        await told.service.until(1, phone)
        assert told.service.asked == 2


async def test_what_a_service_refuses_for_good_is_not_sent_again(tmp_path: Path) -> None:
    async with told_world(tmp_path) as told:
        phone = await told.phone()
        told.service.troubles.append((413, {}))
        await reports(told, "one", 1)
        await nothing_more(told)
        await reports(told, "two", 2)
        await told.service.until(1, phone)
        assert [each["body"] for each in phone.got] == ["two"]
