"""A message that was held during quiet hours is sent by the node of its chat, and recorded once it was."""

from agent_core.origin import CLEAN
from channels.base import ChannelError
from gateway.store.job import DeliveryState, Firing, FiringState, Report
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import Nodes
from tests.gateway.jobs.kit import a_job, moment
from tests.postgres import rows
from tests.process import until

DUE = moment("2026-11-24 02:00")
NOTES = a_job(Report(instructions="Tell what is new"), name="notes1", next_at=moment("2040-01-01 00:00"))
HELD = Firing(
    NOTES.id,
    "2026-11-24T01:00:00Z",
    "aaaaa1",
    NOTES.chat,
    DUE,
    CLEAN,
    FiringState.DONE,
    ended=DUE,
    text="**Notes**\n\nTwo.",
    delivery=DeliveryState.HELD,
)


async def holds_a_report(bot: Bot) -> None:
    store = bot.made.base.store
    assert await store.jobs.add(NOTES)
    await store.firings.begin(HELD)


def recorded(nodes: Nodes) -> list[tuple[object, ...]]:
    return rows(nodes.url, "SELECT delivery FROM firings")


async def test_the_node_that_works_on_the_chat_sends_it_and_records_it(nodes: Nodes) -> None:
    one = await nodes.start("Hi.")
    await one.channel.hears("hello")
    await nodes.settled()
    other = await nodes.start()
    await holds_a_report(other)

    await other.made.serving.scheduler.tick()

    await until(lambda: recorded(nodes) == [("sent",)] and rows(nodes.url, "SELECT kind FROM owed") == [])
    assert nodes.sent() == ["Hi.", "**Notes**\n\nTwo."]


async def test_it_is_not_recorded_as_sent_before_that_node_has_sent_it(nodes: Nodes) -> None:
    one = await nodes.start("Hi.")
    await one.channel.hears("hello")
    await nodes.settled()
    other = await nodes.start()
    await holds_a_report(other)
    nodes.platform.fails("send", ChannelError("overloaded", retry_after=3600.0))

    await other.made.serving.scheduler.tick()
    await other.made.serving.scheduler.settled()
    await until(lambda: len(nodes.sent()) == 2)
    assert recorded(nodes) == [("pending",)]
    await one.stop()

    await until(lambda: recorded(nodes) == [("sent",)] and rows(nodes.url, "SELECT kind FROM owed") == [])
    assert nodes.platform.screen == ["Hi.", "**Notes**\n\nTwo."]
