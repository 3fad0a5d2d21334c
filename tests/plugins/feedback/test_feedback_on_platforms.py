"""Answers are praised and blamed by the means of each platform."""

from functools import partial
from typing import cast

import pytest

from parley.testing.emulators.discord_chat import Chat as DiscordChat
from parley.testing.emulators.slack import SlackEmulator
from parley.testing.emulators.telegram_chat import Chat as TelegramChat
from tests.emulators.model_script import Turn, says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.stage import Stage, shows
from tests.end_to_end.tables import stored
from tests.process import until

pytestmark = pytest.mark.timeout(120)


def is_kept(stage: Stage, person: str, *, is_good: bool) -> bool:
    """Return True if this is all that anybody has said."""
    return stored(stage.program.home, "SELECT person, is_good FROM feedback") == [(person, int(is_good))]


@only("slack")
@pytest.mark.parametrize("is_streamed", [True, False], ids=["streamed", "sent"])
async def test_slacks_own_buttons_stand_below_an_answer(own_stage: Stage, *, is_streamed: bool) -> None:
    slack = cast("SlackEmulator", own_stage.net.emulator)
    if not is_streamed:
        own_stage.slow_down()  # after 1.5 s progress is shown, which becomes the answer by an edit
    await own_stage.start()
    ann = slack.person("Ann")
    chat = slack.private(ann)
    if is_streamed:
        chat = await chat.opens_assistant(ann)
    own_stage.script.then(Turn("It is Oslo, as everybody knows.", per_chunk=0.3) if is_streamed else says("Oslo."))
    await chat.says(ann, "the capital of Norway?")
    await chat.until(lambda c: bool(c.bot_messages) and len(c.bot_messages[-1].ratings) == 2)
    assert (len(slack.calls_of("chat.startStream")), len(slack.calls_of("chat.update"))) == (is_streamed, 0)
    [answer] = chat.bot_messages
    calls, edits = len(slack.calls), len(answer.edits)

    for is_good in (False, True):
        await chat.rates(ann, answer, good=is_good)
        await until(partial(is_kept, own_stage, ann.id, is_good=is_good))

    await own_stage.heard()
    assert (len(chat.bot_messages), len(answer.edits)) == (1, edits)
    assert [call.method for call in slack.calls[calls:] if call.method.startswith("chat.")] == []


@only("slack")
async def test_where_slack_has_no_such_buttons_the_answer_is_there_without(
    own_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.testing.emulators.slack_blocks.KNOWN", {"markdown", "actions"})
    slack = cast("SlackEmulator", own_stage.net.emulator)
    await own_stage.start()
    ann = slack.person("Ann")
    chat = slack.private(ann)
    own_stage.script.then(says("**Oslo.**"))
    await chat.says(ann, "the capital of Norway?")

    await chat.until(shows("Oslo."))
    assert [block["type"] for block in chat.bot_messages[0].blocks] == ["markdown"]


@only("telegram", "discord")
async def test_a_reaction_says_if_an_answer_is_good(own_stage: Stage) -> None:
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    own_stage.script.then(says("Oslo."))
    await chat.says(ann, "the capital of Norway?")
    await chat.until(shows("Oslo."))
    await until(lambda: not stored(own_stage.program.home, "SELECT 1 FROM outbox WHERE state != 'sent'"))

    where = cast("TelegramChat | DiscordChat", chat)
    await where.reacts(ann, where.bot_messages[0], "👎")  # type: ignore[arg-type]

    await until(partial(is_kept, own_stage, str(ann.id), is_good=False))
    if isinstance(where, TelegramChat):
        await where.reacts(ann, where.bot_messages[0], before=["👎"])  # type: ignore[arg-type]
    else:
        await where.takes_back(ann, where.bot_messages[0], "👎")  # type: ignore[arg-type]
    await until(lambda: not stored(own_stage.program.home, "SELECT 1 FROM feedback"))
    assert len(chat.bot_messages) == 1
