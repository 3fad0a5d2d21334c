"""The real adapter and the real SDK against an emulated Slack, over sockets."""

from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from channels.base import (
    Addressed,
    Attachment,
    Button,
    ButtonPressed,
    CatchesUp,
    Channel,
    ChannelError,
    ChatKey,
    CommandInvoked,
    Deletes,
    Downloads,
    FindsSent,
    MessageDeleted,
    MessageEdited,
    MessageGone,
    OutboundMessage,
    Posted,
    ReadsHistory,
    ShowsTyping,
)
from channels.slack.adapter import SlackChannel, open_channel
from channels.slack.config import Config
from channels.slack.errors import MissingScope
from tests.channels.slack.conftest import Inbox, config_for, key_of
from tests.emulators.slack import SlackEmulator

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"
HELLO = OutboundMessage(markdown="hello")


async def test_it_is_a_channel_with_all_further_powers(channel: SlackChannel) -> None:
    plain: Channel = channel

    assert plain.name == "slack"
    for power in (ShowsTyping, Downloads, Deletes, FindsSent, ReadsHistory, CatchesUp):
        assert isinstance(channel, power)


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

    assert (await inbox.next()).chat == event.chat


async def test_our_own_edits_and_other_bots_are_not_heard(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, robot = slack.person("Ann"), slack.person("Deploys", is_bot=True)
    chat = slack.group("plans", [ann])
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    for step in range(10):
        await channel.edit(posted, OutboundMessage(markdown=f"step {step}"))
    await chat.posts(robot, "<@U0PARLEY> deployed")
    await chat.hooks(robot, "hooked")
    said = await chat.says(ann, "look at https://a.example")
    for _ in range(20):
        await chat.unfurls(said, {"title": "A page", "from_url": "https://a.example"})
    await slack.wait_for(lambda: slack.unheard == 0)

    assert [event.sender.id for event in inbox.events] == [ann.id]


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
    assert pane.status == ""
    await slack.wait_for(lambda: slack.unheard == 0)


async def test_eyes_where_there_is_no_thread_for_a_status(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    await chat.says(ann, "hello")
    event = await inbox.message()
    for _ in range(3):
        await channel.typing(event.chat)
    await channel.send(event.chat, HELLO, "k")
    await channel.typing(event.chat)

    assert [(action.action, action.text) for action in chat.actions] == [
        ("reaction", "eyes"),
        ("reaction removed", "eyes"),
    ]


async def test_an_app_without_these_scopes_shows_nothing_and_asks_once(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    slack.scopes.discard("reactions:write")
    slack.assistant_allowed = False
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    for text in ("@parley_bot one", "@parley_bot two"):
        await chat.says(ann, text)
        await channel.typing((await inbox.message()).chat)
    assert [len(slack.calls_of(method)) for method in ("assistant.threads.setStatus", "reactions.add")] == [1, 1]


async def test_files_come_in_and_a_page_to_sign_in_is_none(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    await slack.private(ann).says(ann, photo=PNG, caption="look")
    event = await inbox.message()
    photo = event.attachments[0]

    assert (event.text, photo.is_image, await channel.download(photo)) == ("look", True, PNG)
    slack.scopes.discard("files:read")
    with pytest.raises(ChannelError, match="files:read") as refused:
        await channel.download(photo)
    assert refused.value.permanent


@pytest.mark.parametrize(
    ("attachment", "words"),
    [
        (Attachment(name="a", reference="https://files.slack.com.evil.example/x"), "not kept by Slack"),
        (Attachment(name="a", reference="http://files.slack.com/x"), "not kept by Slack"),
        (Attachment(name="a", size=60 * 1024 * 1024, reference="https://files.slack.com/x"), "too large"),
    ],
)
async def test_the_token_goes_to_slack_only(channel: SlackChannel, attachment: Attachment, words: str) -> None:
    with pytest.raises(ChannelError, match=words) as refused:
        await channel.download(attachment)
    assert refused.value.permanent


async def test_files_go_out_as_messages_of_their_thread(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox, tmp_path: Path
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    asked = await chat.says(ann, "@parley_bot a chart")
    event = await inbox.message()
    (tmp_path / "chart.png").write_bytes(PNG)
    file = Attachment(name="chart.png", mime_type="image/png", path=str(tmp_path / "chart.png"))
    posted = await channel.send(event.chat, OutboundMessage(markdown="The *chart*", attachments=(file,)), "k")

    shared = chat.thread(asked).bot_messages[-1]
    assert shared.document is not None
    assert (shared.document.content, shared.shown, posted.message_id) == (PNG, "[chart.png] The chart", shared.ts)


async def test_an_upload_whose_answer_was_lost_is_found(
    slack: SlackEmulator, channel: SlackChannel, tmp_path: Path
) -> None:
    chat = slack.private(slack.person("Ann"))
    (tmp_path / "a.csv").write_bytes(b"a,b")
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.csv", path=str(tmp_path / "a.csv")),))
    slack.faults.lose_answer("files.completeUploadExternal")
    with pytest.raises(ChannelError) as lost:
        await channel.send(key_of(slack, chat), message, "k")
    found = await channel.find_sent(key_of(slack, chat), message, "k")

    assert lost.value.ambiguous
    assert found == Posted(chat=key_of(slack, chat), message_id=chat.bot_messages[-1].ts)


async def test_a_file_that_is_gone_is_said_so(slack: SlackEmulator, channel: SlackChannel) -> None:
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.txt", path="/nowhere/a.txt"),))
    with pytest.raises(ChannelError, match=r"a\.txt cannot be read") as failure:
        await channel.send(key_of(slack, slack.private(slack.person("Ann"))), message, "k")
    assert failure.value.permanent


async def test_blocks_that_slack_does_not_take_go_as_plain_text(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = slack.private(slack.person("Ann"))
    key = key_of(slack, chat)
    posted = await channel.send(key, HELLO, "k")
    buttons = ((Button(label="Go", action="x" * 2_001),),)
    await channel.send(key, OutboundMessage(markdown="**one**", buttons=buttons), "k2")
    await channel.edit(posted, OutboundMessage(markdown="**two**", buttons=buttons))

    assert chat.screen == ["two", "one"]


async def test_a_message_that_is_gone_or_not_ours_cannot_be_edited(slack: SlackEmulator, channel: SlackChannel) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    theirs = await chat.says(ann, "mine")
    await channel.delete(posted)

    for message_id in (posted.message_id, theirs.ts):
        with pytest.raises(MessageGone):
            await channel.edit(Posted(chat=key_of(slack, chat), message_id=message_id), HELLO)
    with pytest.raises(MessageGone):
        await channel.delete(posted)


async def test_an_edit_that_changes_nothing_is_a_success(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = slack.private(slack.person("Ann"))
    posted = await channel.send(key_of(slack, chat), HELLO, "k")
    await channel.edit(posted, HELLO)

    assert chat.screen == ["hello"]


@pytest.mark.parametrize("where", ["direct", "channel", "thread"])
async def test_a_post_whose_answer_was_lost_is_found_by_its_key(
    slack: SlackEmulator, channel: SlackChannel, where: str
) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann) if where == "direct" else slack.group("plans", [ann])
    root = (await chat.says(ann, "so")).ts if where == "thread" else None
    key = key_of(slack, chat, root)
    slack.faults.lose_answer("chat.postMessage")
    with pytest.raises(ChannelError) as lost:
        await channel.send(key, HELLO, "run:1:0")

    assert lost.value.ambiguous
    assert await channel.find_sent(key, HELLO, "run:1:1") is None
    found = await channel.find_sent(key, HELLO, "run:1:0")
    assert found == Posted(chat=key, message_id=chat.bot_messages[-1].ts)


async def test_what_others_said_is_read_with_the_ids_it_came_with(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, robot = slack.person("Ann"), slack.person("Deploys", is_bot=True)
    chat = slack.group("plans", [ann])
    said = [await chat.says(ann, f"m{number}") for number in range(6)]
    await chat.posts(robot, "deployed")
    root = await chat.says(ann, "@parley_bot look")
    await chat.says(ann, "in the thread", reply_to=root)
    await chat.says(ann, "!help", reply_to=root)
    await inbox.until(lambda events: len(events) == 9)
    thread = key_of(slack, chat, root.ts)
    await channel.send(thread, OutboundMessage(markdown="mine"), "k")
    outside = await channel.history(key_of(slack, chat), after=said[1].ts, before=root.ts, most=4)
    inside = await channel.history(thread, after=root.ts)

    texts = [getattr(event, "text", "") for event in outside]
    assert texts == ["m3", "m4", "m5", "deployed"]
    assert [event.sender.is_bot for event in outside] == [False, False, False, True]
    heard = [event.event_id for event in inbox.events if event.chat == thread]
    assert [event.event_id for event in inside] == heard[-2:]
    assert isinstance(inside[1], CommandInvoked)
    assert await channel.history(key_of(slack, chat), before="V123", most=1) != []


@pytest.mark.parametrize(
    ("scope", "call"),
    [("chat:write", "send"), ("channels:history", "history")],
)
async def test_a_missing_scope_is_named_with_the_fix(
    slack: SlackEmulator, channel: SlackChannel, scope: str, call: str
) -> None:
    chat = key_of(slack, slack.group("plans", [slack.person("Ann")]))
    slack.scopes.discard(scope)
    with pytest.raises(MissingScope, match=f"lacks the scope {scope}.*reinstall") as refused:
        await (channel.send(chat, HELLO, "k") if call == "send" else channel.history(chat))
    assert refused.value.permanent


async def test_archived_and_left_channels_are_permanent(slack: SlackEmulator, channel: SlackChannel) -> None:
    archived, left = (slack.group(title, [slack.person("Ann")]) for title in ("old", "left"))
    await archived.archive()
    await left.kick_bot()

    for chat, words in ((archived, "archived"), (left, "invite")):
        with pytest.raises(ChannelError, match=words) as refused:
            await channel.send(key_of(slack, chat), HELLO, "k")
        assert refused.value.permanent


async def test_429_and_trouble_in_between(slack: SlackEmulator, channel: SlackChannel) -> None:
    chat = key_of(slack, slack.private(slack.person("Ann")))
    slack.faults.rate_limit("chat.postMessage", retry_after=7)
    with pytest.raises(ChannelError) as limited:
        await channel.send(chat, HELLO, "k")
    slack.faults.fail("chat.update")
    with pytest.raises(ChannelError) as failed:
        await channel.edit(Posted(chat=chat, message_id="1.1"), HELLO)
    slack.faults.fail("chat.delete", status=429)
    with pytest.raises(ChannelError) as proxied:
        await channel.delete(Posted(chat=chat, message_id="1.1"))

    assert (limited.value.retry_after, limited.value.permanent, limited.value.ambiguous) == (7, False, False)
    assert (failed.value.ambiguous, failed.value.permanent) == (True, False)
    assert proxied.value.retry_after is not None


async def test_nobody_there_is_not_ambiguous(slack: SlackEmulator, unused_tcp_port: int) -> None:
    config = config_for(slack).model_copy(update={"base_url": f"http://127.0.0.1:{unused_tcp_port}/api/"})
    channel = open_channel(config)
    with pytest.raises(ChannelError) as failed:
        await channel.send(key_of(slack, slack.private(slack.person("Ann"))), HELLO, "k")
    await channel.close()

    assert (failed.value.ambiguous, failed.value.permanent) == (False, False)


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("<html>Too many requests</html>", "text/html", 429),
        ("busy", "text/plain", 503),
        ("[]", "application/json", 200),
        ("words", "text/plain", 200),
        ("{", "application/json", 200),
        ("", "application/json", 200),
    ],
)
async def test_whatever_answers_in_slacks_place_is_survived(body: str, content_type: str, status: int) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type=content_type, status=status)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    config = Config(
        bot_token=SecretStr("xoxb-1-2-abc"),
        app_token=SecretStr("xapp-1-A1-abc"),
        base_url=f"http://127.0.0.1:{runner.addresses[0][1]}/api/",
    )
    channel = open_channel(config)
    with pytest.raises(ChannelError) as failed:
        await channel.delete(Posted(chat=ChatKey(platform="slack", account="T1", chat="D1"), message_id="1.1"))
    await channel.close()
    await runner.cleanup()

    assert not failed.value.permanent
