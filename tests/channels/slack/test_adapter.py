"""The real adapter and the real SDK against an emulated Slack, over sockets."""

import pytest

from channels.base import (
    Addressed,
    Button,
    ButtonPressed,
    Channel,
    CommandInvoked,
    MessageDeleted,
    MessageEdited,
    MessageGone,
    OutboundMessage,
    Posted,
)
from channels.capabilities import (
    CatchesUp,
    Deletes,
    Downloads,
    FindsPrivateChats,
    FindsSent,
    LinksToMessages,
    ReadsHistory,
    ShowsTyping,
)
from channels.slack.adapter import SlackChannel, open_channel
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import Inbox, config_for, key_of

HELLO = OutboundMessage(markdown="hello")


async def test_it_is_a_channel_with_all_further_powers(channel: SlackChannel) -> None:
    plain: Channel = channel

    assert plain.name == "slack"
    for power in (ShowsTyping, Downloads, Deletes, FindsSent, ReadsHistory, CatchesUp, FindsPrivateChats):
        assert isinstance(channel, power)


async def test_a_private_chat_is_where_its_person_writes(slack: SlackEmulator, channel: SlackChannel) -> None:
    ann = slack.person("Ann")

    found = await channel.private_chat(ann.id)

    assert found == key_of(slack, slack.private(ann))
    assert not channel.is_group(found)


async def test_a_message_comes_in_and_an_answer_goes_out(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann", language="de-DE")
    chat = slack.private(ann)
    await chat.says(ann, "hello")

    event = await inbox.message()
    assert (event.text, event.sender.id, event.sender.language) == ("hello", ann.id, "de-DE")
    posted = await channel.send(event.chat, OutboundMessage(markdown="**Hi** `Ann`"), "k1")
    await channel.edit(posted, OutboundMessage(markdown="Bye"))

    assert chat.bot_messages[-1].history == ["Hi Ann", "Bye"]
    assert not channel.is_group(event.chat)
    await slack.wait_for(lambda: slack.unheard == 0)


async def test_a_mention_in_a_channel_is_answered_in_its_thread(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, ben = slack.person("Ann"), slack.person("Ben")
    chat = slack.group("plans", [ann, ben])
    asked = await chat.says(ann, "@parley_bot when do we meet?")

    event = await inbox.message()
    assert (event.text, event.addressed, event.chat.thread) == ("when do we meet?", Addressed.MENTION, asked.ts)
    assert channel.is_group(event.chat)
    await channel.send(event.chat, OutboundMessage(markdown="At ten."), "k")
    assert chat.thread(asked).screen == ["At ten."]
    await chat.says(ben, "thanks", reply_to=asked)
    reply = await inbox.message()
    assert (reply.chat, reply.addressed) == (event.chat, Addressed.AMBIENT)


async def test_both_events_of_a_mention_have_one_id(slack: SlackEmulator, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    await slack.group("plans", [ann]).says(ann, "@parley_bot hi")
    await slack.wait_for(lambda: inbox.offered == 2 and slack.unheard == 0)

    assert len(inbox.events) == 1


async def test_a_reply_to_what_we_began_is_addressed_to_us(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann], kind="group")
    await channel.send(key_of(slack, chat), OutboundMessage(markdown="Daily report"), "k")
    await chat.says(ann, "thanks", reply_to=chat.bot_messages[0])

    assert (await inbox.message()).addressed is Addressed.REPLY


async def test_edits_deletions_and_buttons(slack: SlackEmulator, channel: SlackChannel, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    said = await chat.says(ann, "helo")
    await inbox.message()
    await chat.edits(said, "hello")
    edit = await inbox.next()
    await chat.deletes(said)
    deletion = await inbox.next()
    buttons = ((Button(label="Stop", action="stop:1"),),)
    await channel.send(key_of(slack, chat), OutboundMessage(markdown="Working", buttons=buttons), "k")
    press = await chat.presses(ann, "Stop")
    button = await inbox.next()

    assert isinstance(edit, MessageEdited)
    assert (edit.text, edit.message_id) == ("hello", said.ts)
    assert isinstance(deletion, MessageDeleted)
    assert deletion.message_id == said.ts
    assert isinstance(button, ButtonPressed)
    assert (button.action, button.message_id, button.chat) == (
        "stop:1",
        chat.bot_messages[-1].ts,
        key_of(slack, chat),
    )
    await slack.wait_for(lambda: press.answered)


async def test_a_button_in_a_thread_belongs_to_the_chat_of_the_thread(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    await chat.says(ann, "@parley_bot go")
    event = await inbox.message()
    buttons = ((Button(label="Stop", action="stop:1"),),)
    await channel.send(event.chat, OutboundMessage(markdown="Working", buttons=buttons), "k")
    await inbox.until(lambda _: inbox.offered == 2)
    await chat.presses(ann, "Stop")

    press = await inbox.next()
    assert (press.chat, press.group) == (event.chat, "#plans")


async def test_our_own_edits_and_other_bots_are_not_heard(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, robot = slack.person("Ann"), slack.person("Deploys", is_bot=True)
    chat = slack.group("plans", [ann])
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    for step in range(3):
        await channel.edit(posted, OutboundMessage(markdown=f"step {step}"))
    await chat.posts(robot, "<@U0PARLEY> deployed")
    await chat.hooks(robot, "hooked")
    said = await chat.says(ann, "look at https://a.example")
    for _ in range(20):
        await chat.unfurls(said, {"title": "A page", "from_url": "https://a.example"})
    await slack.wait_for(lambda: slack.unheard == 0)

    assert [event.sender.id for event in inbox.events] == [ann.id]


async def test_a_storm_of_changes_reaches_nobody(slack: SlackEmulator, channel: SlackChannel, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    slack.pace.on = False
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    said = await chat.says(ann, "look at https://a.example")
    await inbox.message()
    for step in range(250):
        await channel.edit(posted, OutboundMessage(markdown=f"step {step}"))
        await chat.unfurls(said, {"title": f"Page {step}", "from_url": "https://a.example"})
    await slack.wait_for(lambda: slack.unheard == 0)

    assert inbox.offered == 1
    asked = {call.method for call in slack.calls}
    assert asked == {"auth.test", "apps.connections.open", "chat.postMessage", "chat.update", "users.info"}
    assert len(slack.calls_of("users.info")) == 1


async def test_a_button_of_an_earlier_life_works(slack: SlackEmulator, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    earlier = open_channel(config_for(slack))
    buttons = ((Button(label="Stop", action="/stop"),),)
    await earlier.send(key_of(slack, chat), OutboundMessage(markdown="Working", buttons=buttons), "k")
    await earlier.close()
    press = await chat.presses(ann, "Stop")

    pressed = await inbox.next()
    assert isinstance(pressed, ButtonPressed)
    assert (pressed.action, pressed.message_id) == ("/stop", chat.bot_messages[0].ts)
    await slack.wait_for(lambda: press.answered)


async def test_a_command_where_we_are_not_is_answered_all_the_same(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("elsewhere", [ann])
    await chat.kick_bot()
    await chat.says(ann, "/help")
    command = await inbox.next()
    assert isinstance(command, CommandInvoked)
    await channel.send(command.chat, OutboundMessage(markdown="Commands", respond=command.respond), "k")

    assert (chat.screen, chat.notices) == (["Commands"], [])


async def test_a_slash_command_in_a_channel_is_answered_to_who_asked(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    await chat.says(ann, "/help me")

    command = await inbox.next()
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments, command.addressed) == ("help", "me", Addressed.MENTION)
    answer = OutboundMessage(markdown="**Commands**", respond=command.respond)
    posted = await channel.send(command.chat, answer, "k")

    assert (chat.screen, chat.bot_messages[0].ephemeral_to, chat.notices) == (["Commands"], ann.id, [])
    with pytest.raises(MessageGone):
        await channel.edit(posted, HELLO)


async def test_what_only_one_person_sees_is_rewritten_by_the_press_of_its_button(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    await chat.says(ann, "/help")
    command = await inbox.next()
    assert isinstance(command, CommandInvoked)
    asked = OutboundMessage(
        markdown="Shall I?", buttons=((Button(label="Yes", action="/yes"),),), respond=command.respond
    )
    await channel.send(command.chat, asked, "k")
    await chat.presses(ann, "Yes")
    press = await inbox.next()
    assert isinstance(press, ButtonPressed)
    pressed = Posted(chat=press.chat, message_id=press.message_id)

    await channel.edit(pressed, OutboundMessage(markdown="✓ Done", respond=press.respond))
    assert (chat.screen, chat.bot_messages[0].buttons) == (["✓ Done"], [])
    assert chat.bot_messages[0].ephemeral_to == ann.id
    with pytest.raises(MessageGone):
        await channel.edit(pressed, OutboundMessage(markdown="late", respond=f"{slack.url}/actions/gone"))


async def test_an_answer_that_comes_too_late_for_a_command_is_a_message(
    slack: SlackEmulator, channel: SlackChannel
) -> None:
    chat = slack.group("plans", [slack.person("Ann")])
    await channel.send(key_of(slack, chat), OutboundMessage(markdown="late", respond=f"{slack.url}/actions/gone"), "k")

    assert (chat.screen, chat.bot_messages[0].ephemeral_to) == (["late"], None)


async def test_a_command_in_a_direct_message_and_in_a_thread(slack: SlackEmulator, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    await chat.says(ann, "/parley")
    direct = await inbox.next()
    root = await chat.says(ann, "so")
    await inbox.message()
    await chat.says(ann, "/stop now", reply_to=root)
    threaded = await inbox.next()

    assert isinstance(direct, CommandInvoked)
    assert (direct.name, direct.respond, direct.addressed) == ("help", None, Addressed.DIRECT)
    assert isinstance(threaded, CommandInvoked)
    assert (threaded.name, threaded.arguments, threaded.chat.thread) == ("stop", "now", root.ts)


async def test_ask_parley_opens_a_window_and_asks_in_the_thread(slack: SlackEmulator, inbox: Inbox) -> None:
    ann, ben = slack.person("Ann", language="zh-CN"), slack.person("Ben")
    chat = slack.group("plans", [ann, ben])
    said = await chat.says(ben, "Ship it on friday")
    await inbox.message()
    await chat.says(ann, "let us see")
    await inbox.message()
    await chat.shortcut(ann, said, "ask_parley")
    await slack.wait_for(lambda: bool(slack.views))
    assert slack.views[0].about["title"] == {"type": "plain_text", "text": "问问 Parley"}
    submission = await slack.submits(ann, slack.views[0], {"question": "is that wise?"})

    asked = await inbox.message()
    assert (asked.text, asked.quoted, asked.sender.id) == ("is that wise?", "Ben: Ship it on friday", ann.id)
    assert (asked.chat.thread, asked.addressed) == (said.ts, Addressed.MENTION)
    await slack.wait_for(lambda: submission.answered)
    assert slack.views == []


async def test_the_assistants_pane_is_a_thread_with_first_questions(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann", language="en-GB")
    pane = await slack.private(ann).opens_assistant(ann)
    await pane.until(lambda chat: chat.actions[-1].action == "prompts")
    await pane.looks_at(ann, slack.group("plans", [ann]))
    slack.opens_home(ann)
    await pane.says(ann, "hello")
    event = await inbox.message()
    await channel.typing(event.chat)

    assert (event.addressed, event.chat.thread is not None) == (Addressed.DIRECT, True)
    assert pane.status == "is thinking..."
    posted = await channel.send(event.chat, HELLO, "k")
    assert pane.status == ""
    await channel.typing(event.chat)
    await channel.edit(posted, OutboundMessage(markdown="done"))
    await pane.until(lambda _: pane.status == "")
    await slack.wait_for(lambda: slack.unheard == 0)


async def test_a_thread_of_the_pane_is_named_after_its_first_message(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    pane = await slack.private(ann).opens_assistant(ann)
    await pane.until(lambda chat: chat.actions[-1].action == "prompts")
    await pane.says(ann, f"Tell <!channel>\nof the {'very ' * 20}long way")
    await pane.until(lambda chat: chat.actions[-1].action == "title")
    await pane.says(ann, "Go on")
    await inbox.until(lambda events: len(events) == 2)

    (title,) = (each.text for each in pane.actions if each.action == "title")
    assert title.startswith("Tell @channel of the very very")
    assert title.endswith("…")
    assert len(title) == 80


async def test_a_message_in_a_thread_has_an_address_in_its_workspace(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    chat = slack.group("plans", [slack.person("Ann")])
    asked = await chat.says(slack.person("Ann"), "@parley_bot when do we meet?")
    event = await inbox.message()

    assert isinstance(channel, LinksToMessages)
    place = f"https://emulated.slack.com/archives/{event.chat.chat}"
    assert channel.link(event.chat, "1763888000.000100") == (
        f"{place}/p1763888000000100?thread_ts={asked.ts}&cid={event.chat.chat}"
    )
    private = event.chat.model_copy(update={"thread": None})
    assert channel.link(private, "1763888000.000100") == f"{place}/p1763888000000100"
