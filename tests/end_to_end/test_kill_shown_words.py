"""Killed while the words of an answer are shown, and just before and after it is whole: one answer is left.

On Slack, where the words are streamed, see `test_slack_streams`.
"""

import asyncio
from collections.abc import Mapping

import pytest

from parley.testing.emulators.control import Effect, Fault
from parley.testing.emulators.discord_chat import Chat as DiscordChat
from parley.testing.emulators.telegram_chat import Chat as TelegramChat
from tests.emulators.model_script import Pause, Turn, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, ends_with, is_finished

pytestmark = [only("telegram", "discord"), pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

FIRST, REST = "The capital is", " Oslo."
AT_THE_END: Mapping[str, Effect] = {
    "before": Effect(hold=asyncio.Event()),
    "after": Effect(answer_late=asyncio.Event()),
}


def shows_the_beginning(chat: Chat) -> bool:
    """Return True while the first words are on the screen: in a draft on Telegram, in a message on Discord."""
    if isinstance(chat, TelegramChat):
        return chat.draft is not None and chat.draft.text == FIRST
    assert isinstance(chat, DiscordChat)
    return chat.screen == [FIRST]


@only("discord")  # on Telegram no message shows the first words: test_telegram_drafts
@pytest.mark.parametrize("moment", ["begun", "shown"])
async def test_killed_in_the_middle_of_the_words_the_answer_comes_whole_and_once(stage: Stage, moment: str) -> None:
    stage.net.lift_limits()
    stage.script.then(Turn(deltas=(FIRST, REST), pause=Pause(after=1, until=asyncio.Event())), says(FIRST + REST))
    ann, chat = stage.private("Ann")
    if moment == "begun":  # Parley has not heard that the message with the first words is there
        late = Effect(answer_late=asyncio.Event())
        stage.net.faults.add(Fault(stage.net.send, late, 1, lambda call: FIRST in str(call.params)))
    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(shows_the_beginning)
    await stage.program.kill()
    stage.net.faults.clear()
    await stage.start()

    await chat.until(lambda c: c.screen == [FIRST + REST] and c.bot_messages[0].button("Stop") is None)


@pytest.mark.parametrize("moment", AT_THE_END)
async def test_killed_at_the_end_of_the_words_the_answer_is_there(stage: Stage, moment: str) -> None:
    stage.net.lift_limits()
    rest = asyncio.Event()
    stage.script.then(Turn(deltas=(FIRST, REST), pause=Pause(after=1, until=rest)), says("Still here."))
    ann, chat = stage.private("Ann")
    await chat.says(ann, "what is the capital of Norway?")
    await chat.until(shows_the_beginning)
    stage.net.faults.add(Fault("*", AT_THE_END[moment], 1, stage.net.finishes(REST.strip())))
    rest.set()
    await stage.net.emulator.wait_for(lambda: stage.net.faults.pending == 0)
    await stage.program.kill()
    stage.net.faults.clear()
    await stage.start()
    await chat.until(lambda c: {*c.screen} == {FIRST + REST} and is_finished(c))
    await chat.says(ann, "are you there?")
    await chat.until(ends_with("Still here."))

    may_come_twice = moment == "after" and isinstance(chat, TelegramChat)  # Telegram keeps no keys of messages
    answers = chat.screen.count(FIRST + REST)
    assert 1 <= answers <= 1 + may_come_twice
    assert len(stage.model.requests) == 2
    assert [message.button("Stop") for message in chat.bot_messages] == [None] * (answers + 1)
