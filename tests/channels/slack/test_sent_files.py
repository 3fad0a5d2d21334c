"""Files that Parley sends together on Slack: one message, which is found again and never doubled."""

from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError, OutboundMessage
from channels.files import MIB
from channels.slack.adapter import SlackChannel
from channels.slack.attachments import MAX_FILES
from channels.values import Known
from parley.testing.emulators.slack import SlackEmulator
from tests.channels.slack.conftest import Inbox, key_of


def stored(folder: Path, contents: dict[str, bytes]) -> tuple[Attachment, ...]:
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return tuple(
        Attachment(name=name, mime_type="text/plain", size=len(content), path=str(folder / name))
        for name, content in contents.items()
    )


TWO = {"a.csv": b"a,b", "b.csv": b"1,2"}


async def test_files_that_go_together_are_one_message_with_its_words(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox, tmp_path: Path
) -> None:
    ann = slack.person("Ann")
    chat = slack.group("plans", [ann])
    asked = await chat.says(ann, "@parley_bot both tables")
    event = await inbox.message()
    (part,) = channel.split(OutboundMessage(markdown="*Both* tables", attachments=stored(tmp_path, TWO)))
    posted = await channel.send(event.chat, part, "k")

    (shared,) = chat.thread(asked).bot_messages
    assert (shared.shown, shared.ts) == ("[a.csv] [b.csv] Both tables", posted.message_id)
    assert [file.content for file in shared.files] == [*TWO.values()]
    assert len(slack.calls_of("files.completeUploadExternal")) == 1


async def test_files_with_a_text_that_is_too_long_for_a_caption_follow_it_in_one_message(
    slack: SlackEmulator, channel: SlackChannel, tmp_path: Path
) -> None:
    text, files = channel.split(OutboundMessage(markdown="word " * 1_000, attachments=stored(tmp_path, TWO)))
    assert (text.attachments, len(files.attachments), files.markdown) == ((), 2, "")


async def test_more_files_than_one_message_takes_are_two_messages(
    slack: SlackEmulator, channel: SlackChannel, tmp_path: Path
) -> None:
    chat = slack.private(slack.person("Ann"))
    files = stored(tmp_path, {f"{number}.txt": b"x" for number in range(MAX_FILES + 1)})
    parts = channel.split(OutboundMessage(markdown="All of them", attachments=files))
    for number, part in enumerate(parts):
        await channel.send(key_of(slack, chat), part, f"k{number}")

    assert [len(message.files) for message in chat.bot_messages] == [MAX_FILES, 1]


@pytest.mark.parametrize(
    "odd",
    [
        Attachment(name="large", mime_type="text/plain", size=51 * MIB, path="/nowhere/large"),
        Attachment(name="untold", mime_type="text/plain", path="/nowhere/untold"),
        Attachment(name="spoken.ogg", mime_type="audio/ogg", size=3, is_voice=True, path="/nowhere/spoken.ogg"),
    ],
)
def test_a_file_that_may_be_refused_or_is_spoken_stays_a_message_of_its_own(
    channel: SlackChannel, tmp_path: Path, odd: Attachment
) -> None:
    one, two = stored(tmp_path, TWO)
    parts = channel.split(OutboundMessage(markdown="All", attachments=(one, odd, two)))
    assert [[file.name for file in part.attachments] for part in parts] == [["a.csv"], [odd.name], ["b.csv"]]


@pytest.mark.parametrize("at", ["once", "the next start"])
async def test_files_whose_arrival_was_not_confirmed_are_found_as_one_message(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path, at: str
) -> None:
    chat = slack.private(slack.person("Ann"))
    (part,) = channel.split(OutboundMessage(markdown="Both", attachments=stored(tmp_path, TWO)))
    slack.faults.lose_answer("files.completeUploadExternal")
    with pytest.raises(ChannelError) as unsure:
        await channel.send(key_of(slack, chat), part, "k")
    found = await (channel if at == "once" else another).find_sent(key_of(slack, chat), part, "k", Known())

    assert unsure.value.ambiguous
    assert found is not None
    assert [each.ts for each in chat.bot_messages] == [found.message_id]


@pytest.mark.parametrize(
    "shared",
    [{"a.csv": b"a,b"}, {"b.csv": b"1,2"}, {"a.csv": b"a,b", "b.csv": b"3,4"}, {**TWO, "c.csv": b"5"}],
)
async def test_after_a_restart_a_message_with_only_some_of_the_files_or_others_is_not_taken_for_theirs(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path, shared: dict[str, bytes]
) -> None:
    chat = slack.private(slack.person("Ann"))
    (part,) = channel.split(OutboundMessage(markdown="", attachments=stored(tmp_path, shared)))
    await channel.send(key_of(slack, chat), part, "other")
    (wanted,) = channel.split(OutboundMessage(markdown="", attachments=stored(tmp_path, TWO)))

    assert await another.find_sent(key_of(slack, chat), wanted, "k", Known()) is None


async def test_files_that_were_uploaded_but_not_shared_before_a_restart_are_sent_once(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path
) -> None:
    chat = slack.private(slack.person("Ann"))
    (part,) = channel.split(OutboundMessage(markdown="Both", attachments=stored(tmp_path, TWO)))
    slack.faults.fail("files.completeUploadExternal")
    with pytest.raises(ChannelError):
        await channel.send(key_of(slack, chat), part, "k")

    assert await another.find_sent(key_of(slack, chat), part, "k", Known()) is None
    await another.send(key_of(slack, chat), part, "k")
    assert chat.screen == ["[a.csv] [b.csv] Both"]


async def test_two_files_of_one_name_and_content_are_two_files(
    slack: SlackEmulator, channel: SlackChannel, another: SlackChannel, tmp_path: Path
) -> None:
    chat = slack.private(slack.person("Ann"))
    (file,) = stored(tmp_path, {"a.csv": b"a,b"})
    (twice,) = channel.split(OutboundMessage(markdown="", attachments=(file, file)))
    sent = await channel.send(key_of(slack, chat), twice, "k")
    (with_other,) = channel.split(
        OutboundMessage(markdown="", attachments=(file, *stored(tmp_path, {"b.csv": b"1,2"})))
    )

    assert await another.find_sent(key_of(slack, chat), twice, "k", Known()) == sent
    assert await another.find_sent(key_of(slack, chat), with_other, "k", Known()) is None


@pytest.mark.parametrize(("status", "is_final"), [(413, True), (403, True), (429, False), (408, False), (503, False)])
async def test_a_file_whose_content_is_refused_is_refused_for_good_unless_slack_only_has_no_time(
    slack: SlackEmulator, channel: SlackChannel, tmp_path: Path, status: int, *, is_final: bool
) -> None:
    chat = slack.private(slack.person("Ann"))
    (part,) = channel.split(OutboundMessage(markdown="Both", attachments=stored(tmp_path, TWO)))
    slack.faults.fail("upload", status=status)

    with pytest.raises(ChannelError, match=f"a.csv was not accepted: HTTP {status}") as refused:
        await channel.send(key_of(slack, chat), part, "k")

    assert (refused.value.permanent, refused.value.ambiguous) == (is_final, False)
    assert chat.screen == []
