"""Limits of a platform for each kind of call, which hold for all nodes together."""

from pathlib import Path

from channels.capabilities import Part
from tests.gateway.bot import Bot
from tests.gateway.cluster.nodes import READING, Nodes
from tests.gateway.remembering import RememberingChannel
from tests.postgres import UrlOf
from tests.process import until


class LimitedChannel(RememberingChannel):
    """Also implements SharesLimits."""

    def __init__(self) -> None:
        super().__init__()
        self.part: Part = lambda: 0.0
        self.part_of_reading: Part = lambda: 0.0

    def keep_to(self, calls: Part, reading: Part) -> None:
        self.part, self.part_of_reading = calls, reading


def parts(bot: Bot) -> tuple[float, float]:
    """Return the parts of the limits that a node may use: of calls in general, and for reading histories."""
    channel = bot.channel
    assert isinstance(channel, LimitedChannel)
    return channel.part(), channel.part_of_reading()


async def test_nodes_share_the_limits_and_the_one_that_reads_what_was_missed_has_half_for_it(
    tmp_path: Path, url_of: UrlOf
) -> None:
    nodes = Nodes(tmp_path, url_of(tmp_path))
    nodes.platform = LimitedChannel()
    async with nodes.life:
        one = await nodes.start()
        await until(lambda: one.made.leases.holds(READING) and parts(one) == (1.0, 1.0))
        others = [await nodes.start(), await nodes.start()]
        await until(lambda: parts(one) == (1 / 3, 1 / 2))
        await until(lambda: all(parts(other) == (1 / 3, 1 / 4) for other in others))

        await one.stop()

        await until(lambda: sorted(map(parts, others)) == [(1 / 2, 1 / 2), (1 / 2, 1 / 2)])
