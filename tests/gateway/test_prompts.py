"""Prompts made from user messages: text, pictures, files and context."""

import asyncio
import os
import sys
from base64 import b64encode
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent_core.messages import ImageContent, UserMessage, text_of
from agent_core.workspace.provenance import FileSources
from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, MessageReceived, Sender
from channels.memory import MemoryChannel
from gateway.chat.attachments import LARGEST_IMAGE, MOST_FILES, Attachments
from gateway.chat.earlier_talk import EarlierTalk
from gateway.chat.prompts import LONGEST_START, LONGEST_TEXT, PromptMaker
from gateway.delivery.delivery import Delivery
from gateway.runs.samples import lay_out
from gateway.store.rows import InboxItem, inbox_seqs, message_id
from tests.clock import FakeClock
from tests.gateway.conftest import StartBot
from tests.gateway.spending_sequences import budgets_in
from tests.process import REPOSITORY

ANN = ChatKey(platform="memory", account="here", chat="ann")
TEAM = ChatKey(platform="memory", account="here", chat="#team")
SAMPLES = {"sales.csv": "month,north\nMay,171\n", "notes/garden.md": "# The garden\n"}


class Cupboard(MemoryChannel):
    """Serves the files that a test puts into it."""

    def __init__(self, **files: bytes) -> None:
        super().__init__()
        self.files = files

    async def download(self, attachment: Attachment) -> bytes:
        if attachment.reference not in self.files:
            raise ChannelError("too large", permanent=True)
        return self.files[attachment.reference]


def item(text: str = "", *files: Attachment, chat: ChatKey = ANN, quoted: str | None = None, seq: int = 7) -> InboxItem:
    who = Sender(id="ann", name="Ann")
    return InboxItem(
        seq,
        MessageReceived(
            event_id="e", chat=chat, sender=who, at=5.0, text=text, message_id="m", attachments=files, quoted=quoted
        ),
    )


PNG = b"\x89PNG\r\n\x1a\nIEND\xaeB`\x82"


def file(name: str, reference: str = "f", mime_type: str = "text/plain") -> Attachment:
    return Attachment(name=name, reference=reference, mime_type=mime_type)


def picture(reference: str = "f") -> Attachment:
    return file("cat.png", reference, "image/png")


async def nobody_listens(*_: object) -> None:
    """Hear and read nothing."""


async def made(
    home: Path, given: InboxItem, channel: MemoryChannel | None = None, *, vision: bool = True
) -> UserMessage:
    clock, channel = FakeClock(), channel or Cupboard(f=b"content")
    async with budgets_in(home / "home", clock, count(1)) as (_, store, _):
        delivery = Delivery([channel], store, clock)
        talk = EarlierTalk(channel, store, lambda _, sender: sender.id != "eve", delivery.caught_up)

        async def attachments() -> Attachments:
            return Attachments(channel, home / "w", vision, FileSources(home / "w"), samples=SAMPLES)

        paris = ZoneInfo("Europe/Paris")
        maker = PromptMaker(
            channel, attachments, clock, paris, talk, store.secrets, nobody_listens, nobody_listens, None
        )
        return await maker.make(given)


def images(message: UserMessage) -> list[ImageContent]:
    return [part for part in message.content if isinstance(part, ImageContent)]


def told(message: UserMessage) -> list[str]:
    """Return the lines of the message's context after the time."""
    assert message.context is not None
    return message.context.splitlines()[1:]


def kept(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (home / "w").iterdir()}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_words_come_as_they_are_with_the_time_of_day(tmp_path: Path) -> None:
    message = await made(tmp_path, item("hello"))

    assert text_of(message.content) == "hello"
    assert message.context == "Now: Thursday 1970-01-01 01:16 (Europe/Paris)"
    assert message.created_at == 5.0
    assert message.source is None
    assert not message.origin.is_data, "no one else wrote any of it"


@pytest.mark.parametrize(
    "given", [item("why?", quoted="Bob: run this"), item("", file("run this.txt")), item("", picture())]
)
async def test_quoted_words_and_files_are_those_of_others(tmp_path: Path, given: InboxItem) -> None:
    message = await made(tmp_path, given)

    assert message.origin.is_data
    assert "run this" not in text_of(message.content)


async def test_the_same_item_is_the_same_message(tmp_path: Path) -> None:
    first, again = await made(tmp_path, item("hello")), await made(tmp_path, item("hello"))

    assert first.id == again.id == message_id(item()) == "inbox-7"
    assert inbox_seqs([first.id, "some other id"]) == [7]


async def test_in_a_group_the_model_hears_who_speaks(tmp_path: Path) -> None:  # S2-44
    assert (await made(tmp_path, item("hello", chat=TEAM))).source == "Ann"


async def test_a_quote_is_context_and_no_longer_than_needed(tmp_path: Path) -> None:
    message = await made(tmp_path, item("why?", quoted="Bob: " + "x" * 5_000))

    assert message.context is not None
    assert "In reply to: Bob: xxx" in message.context
    assert len(message.context) < LONGEST_START + 200
    assert text_of(message.content) == "why?"


async def test_what_a_message_passes_on_is_not_what_the_person_says(tmp_path: Path) -> None:
    given = item("what is this?")
    passed_on = given.event.model_copy(update={"shared": "Forwarded from Eve:\nrun this"})

    message = await made(tmp_path, InboxItem(given.seq, passed_on))

    assert text_of(message.content) == "what is this?"
    assert told(message) == ["Brought along by the message: Forwarded from Eve:", "run this"]
    assert message.origin.is_data


async def test_a_file_goes_into_the_workspace_and_the_model_hears_its_name(tmp_path: Path) -> None:
    message = await made(tmp_path, item("read this", file("report.txt")))

    assert text_of(message.content) == "read this"
    assert told(message) == ["[file: report.txt, 7 bytes, in the workspace]"]
    assert kept(tmp_path) == {"report.txt": b"content"}


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../.env", "env"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/passwd", "passwd"),
        ("a\0b\nc.txt", "abc.txt"),
        ("\u202etxt.exe", "txt.exe"),
        ("..", "file"),
        ("", "file"),
        ("x" * 300 + ".txt", "x" * 116 + ".txt"),
    ],
)
async def test_a_name_leads_nowhere_but_into_the_workspace(tmp_path: Path, name: str, safe: str) -> None:
    await made(tmp_path, item("", file(name)))

    assert kept(tmp_path) == {safe: b"content"}
    assert sorted(names_in(tmp_path)) == ["home", "w"]


async def test_files_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    channel = Cupboard(a=b"one", b=b"two", c=b"three")
    message = await made(tmp_path, item("", file("a.txt", "a"), file("a.txt", "b"), file("a.txt", "c")), channel)

    assert kept(tmp_path) == {"a.txt": b"one", "a-2.txt": b"two", "a-3.txt": b"three"}
    assert "a-3.txt" in told(message)[-1]


async def test_a_message_that_is_made_again_leaves_no_copies(tmp_path: Path) -> None:
    channel = Cupboard(a=b"one", b=b"two", c=b"png")
    given = item("x" * 30_000, file("a.txt", "a"), file("a.txt", "b"), picture("c"))

    first, again = await made(tmp_path, given, channel), await made(tmp_path, given, channel)

    assert text_of(first.content) == text_of(again.content)
    assert told(first) == told(again)
    assert sorted(kept(tmp_path)) == ["a-2.txt", "a.txt", "cat.png", "message-7.txt"]


async def test_a_model_that_sees_gets_the_picture(tmp_path: Path) -> None:  # C-22
    message = await made(tmp_path, item("what is it?", picture()), Cupboard(f=PNG))

    [image] = images(message)
    assert (image.mime_type, image.data) == ("image/png", b64encode(PNG).decode())
    assert text_of(message.content) == "what is it?"
    assert told(message) == ["[picture: cat.png]"]
    assert kept(tmp_path) == {"cat.png": PNG}


@pytest.mark.parametrize("content", [b"no picture", b"", PNG[:-4]], ids=["text", "nothing", "cut off"])
async def test_what_only_calls_itself_a_picture_is_a_file(tmp_path: Path, content: bytes) -> None:
    """A broken picture in the history would have each later request refused."""
    message = await made(tmp_path, item("what is it?", picture()), Cupboard(f=content))

    assert images(message) == []
    assert told(message) == [f"[file: cat.png, {len(content)} bytes, in the workspace, which is no whole picture]"]


async def test_a_picture_with_the_type_of_another_is_shown_as_what_it_is(tmp_path: Path) -> None:
    message = await made(tmp_path, item("", file("cat.jpg", mime_type="image/jpeg")), Cupboard(f=PNG))

    assert [image.mime_type for image in images(message)] == ["image/png"]


async def test_who_speaks_and_what_they_show_reach_the_model(wired_bot: StartBot) -> None:  # C-22, S2-15, S2-44
    bot = await wired_bot("A cat.")

    await bot.hears("what is it?", group="team", files={"cat.png": PNG})

    [message] = bot.llm.requests[-1].messages
    assert isinstance(message, UserMessage)
    assert message.source == "Ann"
    assert [image.data for image in images(message)] == [b64encode(PNG).decode()]


async def test_a_model_that_does_not_see_gets_a_note(tmp_path: Path) -> None:  # C-22
    message = await made(tmp_path, item("what is it?", picture()), Cupboard(f=PNG), vision=False)

    assert images(message) == []
    assert told(message) == ["[file: cat.png, 16 bytes, in the workspace]"]


async def test_a_huge_picture_is_a_file(tmp_path: Path) -> None:
    message = await made(tmp_path, item("", picture()), Cupboard(f=b"x" * (LARGEST_IMAGE + 1)))

    assert images(message) == []
    assert "in the workspace" in told(message)[0]


async def test_a_file_that_cannot_be_fetched_is_told_and_the_words_still_count(tmp_path: Path) -> None:
    message = await made(tmp_path, item("read this", file("big.iso", "elsewhere")))

    assert text_of(message.content) == "read this"
    assert told(message) == ["[file: big.iso could not be fetched: too large]"]
    assert message.heard == "> I could not get big.iso: too large."


async def test_a_workspace_that_cannot_be_written_loses_the_file_and_not_the_message(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a file where the folder should be")

    short = await made(tmp_path, item("read this", file("a.txt")))
    long = await made(tmp_path, item("x" * 30_000))

    assert text_of(short.content) == "read this"
    assert told(short)[0].startswith("[file: a.txt could not be kept: ")
    assert "could not be kept" in text_of(long.content)


async def test_more_files_than_fit_are_left_out_with_a_note(tmp_path: Path) -> None:
    message = await made(tmp_path, item("", *[file("a.txt")] * 20))

    assert told(message)[-1] == "[10 more files were left out: at most 10 a message]"
    assert sum("in the workspace" in line for line in told(message)) == MOST_FILES


async def test_a_very_long_message_becomes_a_file_of_which_the_model_sees_the_start(tmp_path: Path) -> None:
    message = await made(tmp_path, item("words " * 20_000))

    text = text_of(message.content)
    assert len(text) < LONGEST_START + 200
    assert "120000 characters, is in the file message-7.txt" in text
    assert kept(tmp_path) == {"message-7.txt": b"words " * 20_000}


async def test_a_long_message_within_bounds_is_left_whole(tmp_path: Path) -> None:
    message = await made(tmp_path, item("x" * LONGEST_TEXT))

    assert text_of(message.content) == "x" * LONGEST_TEXT


KILLED = """
import os, sys
from pathlib import Path
from gateway.chat.attachments import _write

def kill(event, arguments):
    if event == "os.link":
        linked.append(arguments)
    elif linked:
        os._exit(9)

linked = []
sys.addaudithook(kill)
_write(Path(sys.argv[1]), b"content")
"""


async def test_who_is_killed_while_a_file_arrives_leaves_one_that_can_be_read(tmp_path: Path) -> None:
    """The process was killed while the file had both its final and its temporary name."""
    workspace = tmp_path / "w"
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(workspace / "a.txt"), cwd=REPOSITORY
    )
    assert await killed.wait() == 9
    assert (workspace / "a.txt").stat().st_nlink == 2

    await made(tmp_path, item("look", file("a.txt")))

    assert [path.name for path in sorted(workspace.iterdir())] == ["a.txt"]
    assert (workspace / "a.txt").stat().st_nlink == 1


async def test_a_pipe_under_the_name_of_a_file_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    os.mkfifo(tmp_path / "w" / "a.txt")

    message = await made(tmp_path, item("look", file("a.txt")))

    assert "a-2.txt" in str(message)


async def test_a_persons_file_takes_the_name_of_an_untouched_sample(tmp_path: Path) -> None:
    lay_out(SAMPLES, tmp_path / "w")
    message = await made(tmp_path, item("chart it", file("sales.csv")), Cupboard(f=b"month,all\nMay,7\n"))
    assert told(message) == ["[file: sales.csv, 16 bytes, in the workspace]"]
    assert (tmp_path / "w" / "sales.csv").read_bytes() == b"month,all\nMay,7\n"
    assert not (tmp_path / "w" / "sales-2.csv").exists()


async def test_a_sample_that_somebody_has_changed_is_theirs(tmp_path: Path) -> None:
    lay_out(SAMPLES, tmp_path / "w")
    (tmp_path / "w" / "sales.csv").write_text("my own")
    await made(tmp_path, item("chart it", file("sales.csv")))
    assert (tmp_path / "w" / "sales.csv").read_text() == "my own"
    assert (tmp_path / "w" / "sales-2.csv").read_bytes() == b"content"
