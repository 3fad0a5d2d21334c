"""On a platform without keys but with a search for sent messages, each message still appears once."""

from pathlib import Path

import pytest

from agent_core.clock import SystemClock, new_id
from agent_core.origin import CLEAN
from channels.base import ChannelError, ChatKey, CommandInvoked, OutboundMessage, Posted, Sender
from channels.memory import LOST, MemoryChannel
from channels.values import Known
from gateway.store.rows import Post
from gateway.store.store import Store
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows

pytestmark = pytest.mark.usefixtures("no_progress")

ANN = ChatKey(platform="memory", account="here", chat="ann")


class SearchableChannel(MemoryChannel):
    """Ignores keys, as Slack does, but can find what was sent."""

    def __init__(self) -> None:
        super().__init__(keeps_keys=False)
        self.looked_for: list[str] = []
        self.refusals: list[ChannelError] = []

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Posted | None:
        self.looked_for.append(key)
        if self.refusals:
            raise self.refusals.pop(0)
        sent = [call.key for call in self.calls if call.kind == "send"]
        arrived = key in sent and any(posted.chat == chat for posted, _ in self.posts)
        return self.posts[-1][0] if arrived else None


async def test_a_message_whose_answers_were_lost_is_seen_once(start_bot: StartBot) -> None:
    channel = SearchableChannel()
    bot = await start_bot("Hi.", channel=channel)
    channel.fails("send", LOST, lost=True)

    await bot.hears("hello")

    assert bot.screen == ["Hi."]
    assert len(channel.looked_for) == 1


async def test_a_message_that_never_arrived_is_sent_as_often_as_it_takes(start_bot: StartBot) -> None:
    channel = SearchableChannel()
    bot = await start_bot("Hi.", channel=channel)
    channel.fails("send", LOST, times=3)
    channel.refusals = [ChannelError("busy")]

    await channel.hears("hello")
    await channel.until(lambda: bot.screen == ["Hi."])


async def test_what_a_crash_left_in_the_middle_is_looked_for_first(start_bot: StartBot, tmp_path: Path) -> None:
    channel = SearchableChannel()
    answer = Post("run-1:answer:0", "run-1", ANN, OutboundMessage(markdown="Hi."), origin=CLEAN)
    async with Store.open(tmp_path, SystemClock(), new_id) as store:
        await store.outbox.add([answer])
        await store.outbox.tried(answer.key, 1)
        await channel.send(ANN, answer.message, answer.key)

    bot = await start_bot(channel=channel)
    await bot.app.settled()

    assert bot.screen == ["Hi."]
    assert channel.looked_for == [answer.key]


async def test_where_one_may_not_look_it_is_sent_all_the_same(start_bot: StartBot) -> None:
    channel = SearchableChannel()
    bot = await start_bot("Hi.", channel=channel)
    channel.fails("send", LOST)
    channel.refusals = [ChannelError("no scope for the history", permanent=True)]

    await bot.hears("hello")

    assert bot.screen == ["Hi."]


async def test_what_was_never_begun_is_sent_without_looking(start_bot: StartBot) -> None:
    channel = SearchableChannel()
    bot = await start_bot("Hi.", channel=channel)

    await bot.hears("hello")

    assert channel.looked_for == []


@pytest.mark.parametrize(
    ("errors", "tries"), [((), 1), ((LOST,), 2), ((ChannelError("busy"),), 2), ((LOST, LOST, ChannelError("busy")), 4)]
)
async def test_each_try_is_counted(start_bot: StartBot, errors: tuple[ChannelError, ...], tries: int) -> None:
    channel = SearchableChannel()
    bot = await start_bot("Hi.", channel=channel)
    for error in errors:
        channel.fails("send", error)

    await bot.hears("hello")
    await bot.app.settled()

    assert rows(bot.home, "SELECT state, attempts FROM outbox") == [("sent", tries)]


async def test_a_command_that_wants_its_answer_elsewhere_gets_it_there(start_bot: StartBot) -> None:
    channel = MemoryChannel()
    bot = await start_bot(channel=channel)
    stop = CommandInvoked(
        event_id="e",
        chat=ANN,
        sender=Sender(id="ann", name="Ann"),
        at=1.0,
        message_id="m",
        name="stop",
        respond="there",
    )

    await channel.deliver(stop)
    await bot.app.settled()

    assert [message.respond for _, message in channel.posts] == ["there"]
