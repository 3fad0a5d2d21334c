"""The Slack channel beyond messages: typing signs, files, history, and finding what it sent."""

import asyncio
import time
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError, CommandInvoked, MessageReceived, OutboundMessage
from channels.slack.adapter import SlackChannel
from channels.slack.users import MOST_MENTIONED
from channels.values import Known
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import Inbox, key_of

PNG = bytes.fromhex("89504e470d0a1a0a") + b"picture"
HELLO = OutboundMessage(markdown="hello")


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

    eyes = [("reaction", "eyes"), ("reaction removed", "eyes")]
    await chat.until(lambda _: [(action.action, action.text) for action in chat.actions] == eyes)


async def test_eyes_on_a_message_that_another_process_has_received(
    slack: SlackEmulator, another: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    await chat.says(ann, "hello")
    event = await inbox.message()

    another.noted(event)
    await another.typing(event.chat)
    await another.send(event.chat, OutboundMessage(markdown="Hello, Ann."), "a")

    eyes = [("reaction", "eyes"), ("reaction removed", "eyes")]
    await chat.until(lambda _: [(action.action, action.text) for action in chat.actions] == eyes)


async def test_eyes_are_left_on_no_message(slack: SlackEmulator, channel: SlackChannel, inbox: Inbox) -> None:
    ann = slack.person("Ann")
    chat = slack.private(ann)
    for text in ("hello", "and another thing"):
        await chat.says(ann, text)
        await channel.typing((await inbox.message()).chat)
    await channel.send(key_of(slack, chat), HELLO, "k")

    await chat.until(lambda _: [action.action for action in chat.actions] == ["reaction", "reaction removed"])


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
    await slack.private(ann).says(ann, "look", photo=PNG)
    event = await inbox.message()
    photo = event.attachments[0]

    assert (event.text, photo.is_image, await channel.download(photo)) == ("look", True, PNG)
    slack.scopes.discard("files:read")
    with pytest.raises(ChannelError, match="files:read") as refused:
        await channel.download(photo)
    assert refused.value.permanent


async def test_the_owner_of_a_file_has_a_name_though_this_process_has_never_heard_from_them(
    slack: SlackEmulator, inbox: Inbox
) -> None:
    ann, eve = slack.person("Ann"), slack.person("Eve")
    elsewhere = slack.group("others", [ann, eve])
    await elsewhere.kick_bot()
    document = await elsewhere.says(eve, document=("report.md", b"# Report", "text/markdown"))
    await slack.private(ann).shares_file(ann, document, "sum this up")

    [report] = (await inbox.message()).attachments
    assert report.by == "Eve"


async def test_a_message_that_mentions_many_has_them_looked_up_by_few_calls(slack: SlackEmulator, inbox: Inbox) -> None:
    ann, crowd = slack.person("Ann"), [slack.person(f"Person {number}") for number in range(60)]
    list_of_all = " ".join(f"<@{person.id}>" for person in crowd)
    posted = await slack.group("others", [ann]).posts(slack.person("Robot", is_bot=True), list_of_all)
    await slack.private(ann).shares(ann, posted, "who are they?")

    message = await inbox.message()
    assert message.sender.name == "Ann"
    assert "@Person 0 " in message.shared
    assert len(slack.calls_of("users.info")) <= 1 + MOST_MENTIONED


@pytest.mark.parametrize(
    ("attachment", "words"),
    [
        (Attachment(name="a", reference="https://files.slack.com.evil.example/x"), "not stored at Slack"),
        (Attachment(name="a", reference="http://files.slack.com/x"), "not stored at Slack"),
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
    found = await channel.find_sent(key_of(slack, chat), message, "k", Known())

    assert lost.value.ambiguous
    assert found is not None
    assert found.message_id == chat.bot_messages[-1].ts


@pytest.mark.parametrize("shared", [b"1,2", b"a,b,c"])
async def test_after_a_restart_another_file_of_the_same_name_is_not_taken_for_the_one_that_was_sent(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path, shared: bytes
) -> None:
    chat = slack.private(slack.person("Ann"))
    file = tmp_path / "a.csv"
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.csv", path=str(file)),))
    file.write_bytes(shared)
    await channel.send(key_of(slack, chat), message, "another")
    file.write_bytes(b"a,b")
    assert await another.find_sent(key_of(slack, chat), message, "k", Known()) is None

    slack.faults.lose_answer("files.completeUploadExternal")
    with pytest.raises(ChannelError):
        await channel.send(key_of(slack, chat), message, "k")
    found = await another.find_sent(key_of(slack, chat), message, "k", Known())

    assert found is not None
    assert found.message_id == chat.bot_messages[-1].ts


async def test_after_a_restart_a_file_that_may_not_be_read_is_known_by_its_size(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path
) -> None:
    chat = slack.private(slack.person("Ann"))
    file = tmp_path / "a.csv"
    file.write_bytes(b"a,b")
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.csv", path=str(file)),))
    await channel.send(key_of(slack, chat), message, "k")
    slack.scopes.discard("files:read")

    assert await another.find_sent(key_of(slack, chat), message, "k", Known()) is not None
    file.write_bytes(b"a,b,c")
    assert await another.find_sent(key_of(slack, chat), message, "k", Known()) is None
    file.unlink()
    assert await another.find_sent(key_of(slack, chat), message, "k", Known()) is not None


async def test_after_a_restart_a_file_that_was_sent_hours_ago_is_found(
    slack: SlackEmulator,
    channel: SlackChannel,
    another: SlackChannel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chat = slack.private(slack.person("Ann"))
    (tmp_path / "a.csv").write_bytes(b"a,b")
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.csv", path=str(tmp_path / "a.csv")),))
    began = time.time()
    sent = await channel.send(key_of(slack, chat), message, "k")
    monkeypatch.setattr(time, "time", lambda: began + 3 * 3_600.0)

    assert await another.find_sent(key_of(slack, chat), message, "k", Known(since=began)) == sent


async def test_a_file_that_is_gone_is_said_so(slack: SlackEmulator, channel: SlackChannel) -> None:
    message = OutboundMessage(markdown="", attachments=(Attachment(name="a.txt", path="/nowhere/a.txt"),))
    with pytest.raises(ChannelError, match=r"a\.txt cannot be read") as failure:
        await channel.send(key_of(slack, slack.private(slack.person("Ann"))), message, "k")
    assert failure.value.permanent


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
    assert await channel.find_sent(key, HELLO, "run:1:1", Known()) is None
    found = await channel.find_sent(key, HELLO, "run:1:0", Known())
    assert found is not None
    assert found.message_id == chat.bot_messages[-1].ts


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


async def test_files_of_other_workspaces_are_looked_up_side_by_side(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    for number in range(3):
        await chat.connects(ann, f"m{number}", (f"f{number}.txt", b"words", "text/plain"))
    await inbox.until(lambda events: len(events) == 3)
    before = len(slack.calls_of("files.info"))
    gate = slack.faults.hold("files.info", times=3)
    reading = asyncio.create_task(channel.history(key_of(slack, chat), most=3))
    await slack.wait_for(lambda: len(slack.calls_of("files.info")) == before + 3)
    gate.set()

    names = [file.name for event in await reading for file in event.attachments]
    assert names == ["f0.txt", "f1.txt", "f2.txt"]


async def test_a_file_of_another_workspace_is_its_uploaders_and_somebodys_if_none_is_told(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann, eve = slack.person("Ann"), slack.person("Eve")
    chat = slack.group("plans", [ann, eve])
    for name, how in {"own.txt": {}, "passed-on.txt": {"uploader": eve}, "lost.txt": {"is_kept_back": True}}.items():
        await chat.connects(ann, "look", (name, b"words", "text/plain"), **how)  # type: ignore[arg-type]
    await inbox.until(lambda events: len(events) == 3)

    files = [file for event in inbox.events if isinstance(event, MessageReceived) for file in event.attachments]
    assert sorted(file.by for file in files) == sorted(["", eve.id, "somebody"])


async def test_a_threads_root_is_no_news_on_a_later_look(slack: SlackEmulator, channel: SlackChannel) -> None:
    ann, ben = slack.person("Ann"), slack.person("Ben")
    chat = slack.group("plans", [ann, ben])
    root = await chat.says(ben, "lunch?")
    named = await chat.says(ann, "@parley_bot when?", reply_to=root)
    await chat.says(ben, "I would like soup", reply_to=root)
    again = await chat.says(ann, "@parley_bot and where?", reply_to=root)
    thread = key_of(slack, chat, root.ts)
    first = await channel.history(thread, before=named.ts)
    later = await channel.history(thread, after=named.ts, before=again.ts)

    told = [
        [(event.sender.name, event.text) for event in said if isinstance(event, MessageReceived)]
        for said in (first, later)
    ]
    assert told == [[("Ben", "lunch?")], [("Ben", "I would like soup")]]
