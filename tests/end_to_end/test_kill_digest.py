"""The program is killed while the message with all that was held at night is owed: it comes and is recorded once."""

import asyncio

import pytest

from parley.testing.emulators.control import Effect, Fault
from tests.emulators.model_script import says
from tests.end_to_end.jobs import PROPOSED, SECONDS, agreed, proposes, tells
from tests.end_to_end.platforms.catalogue import where
from tests.end_to_end.platforms.platform import Chat, within
from tests.end_to_end.stage import Stage
from tests.end_to_end.tables import stored
from tests.end_to_end.test_heartbeat import NOTHING, looked_after

pytestmark = [where(lambda facts: facts.emulated), pytest.mark.timeout(120)]

DELIVERY = "SELECT delivery FROM firings WHERE delivery != 'none'"
OWED = "SELECT kind FROM owed"


async def held(stage: Stage, count: int) -> None:
    """Wait until so many messages are held."""
    home = stage.program.home
    await within(SECONDS, lambda: stored(home, DELIVERY) == [("held",)] * count, lambda: f"{stored(home, DELIVERY)}")


async def killed_in_the_morning(stage: Stage, effect: Effect) -> Chat:
    """Let two reports be held, kill the program at the first call that sends them, and start it again."""
    home = stage.program.home
    proposed = (proposes("0 22 * * *"), says(PROPOSED), proposes("0 23 * * *"), says(PROPOSED))
    _, ann, chat = await looked_after(stage, says("Sales: 42."), says("Costs: 7."), NOTHING, then=proposed)
    await agreed(stage, ann, chat, "report the sales each night at ten")
    await agreed(stage, ann, chat, "report the costs each night at eleven")
    for count, hour in enumerate((22, 23), start=1):
        stage.clock.move_to(f"2026-11-23 {hour}:00:01")
        await held(stage, count)

    stage.net.faults.add(Fault(stage.net.send, effect, 1))
    stage.clock.move_to("2026-11-24 08:00:10")
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    await stage.program.kill()
    owed = len(stored(home, OWED))  # one if it looked what is held before the second, and at the clock after its move
    assert owed in {1, 2}
    assert stored(home, DELIVERY).count(("pending",)) == owed
    await stage.start()
    return chat


async def is_sent_once(stage: Stage, chat: Chat) -> None:
    """Wait until nothing is owed and the message is recorded as sent, and check that it came once."""
    home, sent = stage.program.home, [("sent",), ("sent",)]
    await within(SECONDS, lambda: stored(home, OWED) == [], lambda: f"still owed: {stored(home, OWED)}")
    await within(SECONDS, lambda: stored(home, DELIVERY) == sent, lambda: f"{stored(home, DELIVERY)}")
    assert tells("Sales: 42.")(chat), chat.screen
    assert tells("Costs: 7.")(chat), chat.screen


async def test_killed_before_the_platform_got_it_it_comes_after_the_start(own_stage: Stage) -> None:
    chat = await killed_in_the_morning(own_stage, Effect(hold=asyncio.Event()))

    await is_sent_once(own_stage, chat)


@where(lambda facts: facts.knows_resends)
async def test_killed_before_the_platform_said_that_it_got_it_it_does_not_come_again(own_stage: Stage) -> None:
    chat = await killed_in_the_morning(own_stage, Effect(answer_late=asyncio.Event()))

    await is_sent_once(own_stage, chat)
