"""Slack channels: answers in threads, messages that only one user sees, and archived channels."""

import asyncio

import pytest

from parley.testing.emulators.slack import SlackEmulator
from tests.emulators.model_script import says
from tests.end_to_end.platforms.catalogue import only
from tests.end_to_end.platforms.platform import within
from tests.end_to_end.stage import Stage, shows
from tests.process import until

pytestmark = [only("slack"), pytest.mark.asyncio(loop_scope="module")]


async def test_a_mention_in_a_channel_is_answered_in_its_thread(stage: Stage, slack: SlackEmulator) -> None:
    ann, bob = slack.person("Ann"), slack.person("Bob")
    channel = slack.group("General", [ann, bob])
    stage.script.respond = lambda asked: says(f"heard {len(asked.texts('user'))}")

    from_ann = await channel.says(ann, "@parley_bot when is lunch?")
    from_bob = await channel.says(bob, "@parley_bot and where?")

    await channel.thread(from_ann).until(shows("heard 1"))
    await channel.thread(from_bob).until(shows("heard 1"))
    assert [message.reply_to for message in channel.bot_messages if not message.reply_to] == []


async def test_in_a_thread_where_parley_spoke_it_needs_no_mention(stage: Stage, slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    channel = slack.group("General", [ann])
    stage.script.then(says("At noon."), says("In the canteen."))

    question = await channel.says(ann, "@parley_bot when is lunch?")
    thread = channel.thread(question)
    await thread.until(shows("At noon."))
    await channel.says(ann, "thanks, all")
    await thread.says(ann, "and where?")

    await thread.until(shows("At noon.", "In the canteen."))
    assert stage.said == ["Ann: when is lunch?", "Ann: and where?"]


async def test_a_thread_goes_on_in_a_channel_that_got_another_id(stage: Stage, slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    channel = slack.group("General", [ann])
    stage.script.then(says("At noon."), says("In the canteen."))
    question = await channel.says(ann, "@parley_bot when is lunch?")
    thread = channel.thread(question)
    await thread.until(shows("At noon."))
    await stage.heard()

    await channel.changes_id("C0SHARED01")
    await until(lambda: "a chat was moved to its new id" in stage.program.console)
    await thread.says(ann, "and where?")

    await thread.until(shows("At noon.", "In the canteen."))
    assert stage.said == ["Ann: when is lunch?", "Ann: and where?"]


async def test_what_answers_a_command_in_a_channel_is_seen_by_one_person(stage: Stage, slack: SlackEmulator) -> None:
    ann = slack.person("Ann")
    channel = slack.group("General", [ann])

    await channel.says(ann, "/status")

    await channel.until(lambda c: "Model: test-model" in c.screen[-1])
    assert channel.bot_messages[-1].ephemeral_to == ann.id


async def test_an_answer_to_a_channel_that_was_archived_is_given_up_and_others_are_answered(
    stage: Stage, slack: SlackEmulator
) -> None:
    ann, bob = slack.person("Ann"), slack.person("Bob")
    channel, with_bob = slack.group("General", [ann]), slack.private(bob)
    writing = asyncio.Event()
    stage.script.then(says("For nobody.", hold=writing), says("Hello Bob."))

    await channel.says(ann, "@parley_bot write something")
    await stage.asked(1)
    await channel.archive()
    writing.set()
    await slack.wait_for(lambda: any("For nobody." in str(call.params) for call in slack.calls))
    await with_bob.says(bob, "hello")

    await with_bob.until(shows("Hello Bob."))
    await within(30, lambda: "the channel is archived" in stage.log, lambda: stage.log)
    assert channel.screen == []
    assert sum("For nobody." in str(call.params) for call in slack.calls) == 1
