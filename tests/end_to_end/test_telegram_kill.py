"""Restarts specific to Telegram: with an unconfirmed offset, in a topic, and with a webhook."""

import asyncio

import pytest

from parley.testing.emulators.telegram import TelegramEmulator
from tests.emulators.model_script import Answer, ModelRequest, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.inbox import acknowledged
from tests.end_to_end.stage import Stage, shows

pytestmark = [only("telegram"), pytest.mark.timeout(120)]


def echo(asked: ModelRequest) -> Answer:
    return says(f"You said {asked.last_text.rpartition(chr(10))[2]}.")


async def test_killed_before_telegram_was_told_that_the_message_arrived(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    """The message was accepted but not confirmed, so Telegram sends it again."""
    stage = own_stage
    stage.script.respond = lambda _: says("never said", hold=asyncio.Event())
    await stage.start()
    ann = own_telegram.person("Ann")
    chat = own_telegram.private(ann)

    confirmed = own_telegram.faults.hold("getUpdates")
    own_telegram.kill_connections()
    await own_telegram.wait_for(lambda: own_telegram.faults.pending == 0)
    await chat.says(ann, "hello")
    confirmed.set()
    lost = own_telegram.faults.hold("getUpdates", times=None)
    await stage.asked(1)
    await stage.program.kill()
    lost.set()
    own_telegram.faults.clear()
    stage.script.respond = echo
    await stage.start()
    await chat.until(shows("You said hello."))
    await stage.heard()
    await chat.says(ann, "thanks")

    await chat.until(shows("You said hello.", "You said thanks."))


async def test_a_topic_in_which_parley_spoke_is_remembered(own_stage: Stage, own_telegram: TelegramEmulator) -> None:
    stage = own_stage
    stage.script.respond = echo
    await stage.start()
    ann = own_telegram.person("Ann")
    topic = own_telegram.group("Forum", [ann], forum=True).topic("Travel")

    await topic.says(ann, "@parley_bot Oslo")
    await topic.until(shows("You said Ann: Oslo."))
    await stage.heard()
    await acknowledged(stage.program.home)
    await stage.program.terminate()
    await stage.start()
    await topic.says(ann, "Bergen")

    await topic.until(lambda c: c.screen[1:] == ["You said Ann: Bergen."])


async def test_a_webhook_that_somebody_set_is_removed_and_nothing_lost(
    own_stage: Stage, own_telegram: TelegramEmulator
) -> None:
    own_stage.script.then(says("Hello Ann."))
    ann = own_telegram.person("Ann")
    chat = own_telegram.private(ann)
    own_telegram.webhook = "https://example.org/hook"
    await chat.says(ann, "hello")

    await own_stage.start()

    await chat.until(shows("Hello Ann."))
    assert own_telegram.webhook == ""
