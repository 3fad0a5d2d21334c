"""Files of odd names and wrong types are kept under safe names, and what fails is told in the person's language."""

import asyncio
import errno
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.origin import CLEAN
from agent_core.workspace.provenance import FileSources
from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, MessageReceived, Sender
from channels.files import MIB, FileRefused, FileTrouble, too_large
from channels.memory import MemoryChannel
from gateway.chat.attachments import Attachments, Fetched
from gateway.texts.say import LANGUAGES, Language
from tests.agent_core.files.unseen_pictures import UNSEEN

ANN = Sender(id="ann", name="Ann")
CHAT = ChatKey(platform="memory", account="here", chat="ann")
NAMES = st.text(st.sampled_from("aB .\\/\n\x1b\u202e👩\u200d💻猫[]`*_")) | st.sampled_from(["CON", "..", "", "n" * 400])
TYPES = st.sampled_from(["", "image/png", "text/html\r\nX: y", "audio", "application/pdf", "🙂"])


class Shelf(MemoryChannel):
    """Gives each file the content that its reference says, or refuses it."""

    def __init__(self, refusal: ChannelError | None = None) -> None:
        super().__init__()
        self.refusal = refusal

    async def download(self, attachment: Attachment) -> bytes:
        if self.refusal:
            raise self.refusal
        return attachment.reference.encode()


async def fetched(home: Path, channel: MemoryChannel, *files: Attachment, language: Language = "en") -> Fetched:
    attachments = Attachments(channel, home, vision=True, sources=FileSources(home), language=language)
    event = MessageReceived(event_id="e", chat=CHAT, sender=ANN, at=5.0, text="", message_id="m", attachments=files)
    return await attachments.fetch(event)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(st.tuples(NAMES, TYPES), min_size=1, max_size=5))
async def test_files_of_any_names_and_types_are_all_kept_and_told(
    tmp_path_factory: pytest.TempPathFactory, odd: list[tuple[str, str]]
) -> None:
    home = tmp_path_factory.mktemp("odd")
    files = [Attachment(name=name, mime_type=kind, reference=f"{n}") for n, (name, kind) in enumerate(odd)]

    told = await fetched(home, Shelf(), *files)

    assert sorted(path.read_text() for path in home.iterdir() if path.is_file()) == [each.reference for each in files]
    assert len(told.notes) == len(files)
    assert all(note.isprintable() and note.startswith("[file: ") for note in told.notes)
    assert told.shown == []


async def test_the_same_file_in_messages_of_the_same_moment_is_kept_once_and_whole(tmp_path: Path) -> None:
    content = b"a" * 4 * MIB
    for number in range(5):
        home = tmp_path / str(number)
        attachments = Attachments(Shelf(), home, vision=True, sources=FileSources(home))
        keep = partial(attachments.keep, "sales.csv", content, CLEAN)

        kept = await asyncio.gather(*(asyncio.to_thread(keep) for _ in range(8)))

        assert {*kept} == {*home.iterdir()} == {home / "sales.csv"}
        assert kept[0].read_bytes() == content
        assert kept[0].stat().st_nlink == 1  # no tool opens a file of two names


async def test_an_empty_file_is_named_to_the_person(tmp_path: Path) -> None:
    told = await fetched(tmp_path, Shelf(), Attachment(name="empty.csv"))

    assert told.shown == ["> empty.csv is empty (0 bytes)."]
    assert told.notes == ["[file: empty.csv, 0 bytes, in the workspace]"]


class Album(MemoryChannel):
    """Has a picture for each format that no model sees."""

    async def download(self, attachment: Attachment) -> bytes:
        return UNSEEN.get(attachment.reference, b"II\xbc\x01 of a camera")


@pytest.mark.parametrize("kind", UNSEEN)
@pytest.mark.parametrize("declared", ["application/octet-stream", "image/jpeg", "image/heic"])
async def test_a_picture_that_nobody_sees_is_told_to_the_person_and_the_model(
    tmp_path: Path, kind: str, declared: str
) -> None:
    told = await fetched(tmp_path, Album(), Attachment(name="photo", reference=kind, mime_type=declared))

    assert told.images == []
    [line] = told.shown
    assert line.startswith("> I cannot see photo: I see pictures only as PNG, JPEG, GIF or WebP.")
    [note] = told.notes
    assert note.endswith(f"in the workspace, a picture whose format ({kind}) no model can see]")
    assert (tmp_path / "photo").read_bytes() == UNSEEN[kind]


async def test_many_pictures_that_nobody_sees_are_told_in_one_line(tmp_path: Path) -> None:
    photos = [Attachment(name=f"{kind}.x", reference=kind) for kind in ("HEIC", "TIFF")]

    told = await fetched(tmp_path, Album(), *photos, language="zh")

    assert told.shown == ["> 我看不到 HEIC.x, TIFF.x：图片仅支持 PNG、JPEG、GIF 和 WebP。文件已保存，可供程序使用。"]


async def test_a_picture_of_an_unknown_format_is_told_as_well(tmp_path: Path) -> None:
    told = await fetched(tmp_path, Album(), Attachment(name="raw", reference="raw", mime_type="image/x-raw"))

    assert told.notes == ["[file: raw, 16 bytes, in the workspace, a picture that no model can see]"]
    assert len(told.shown) == 1


TROUBLES: list[tuple[FileTrouble, str]] = [
    ("gone", "> 无法获取 a.txt：文件已不存在，请重新发送。"),
    ("kept_back", "> 无法获取 a.txt：平台没有把它交给我，请直接发给我。"),
    ("unreachable", "> 无法获取 a.txt：暂时无法取得，请稍后重新发送。"),
]


@pytest.mark.parametrize(("why", "line"), TROUBLES)
async def test_the_reason_is_told_in_the_person_s_language(tmp_path: Path, why: FileTrouble, line: str) -> None:
    told = await fetched(tmp_path, Shelf(FileRefused("no such thing", why)), Attachment(name="a.txt"), language="zh")

    assert told.shown == [line]
    assert told.notes == ["[file: a.txt could not be fetched: no such thing]"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_file_that_is_too_large_is_told_with_the_limit(tmp_path: Path, language: Language) -> None:
    file = Attachment(name="a.iso")
    told = await fetched(tmp_path, Shelf(too_large(file, "Parley reads", 20 * MIB)), file, language=language)

    lines = {
        "en": "> I could not get a.iso: it is too large; at most 20 MB arrive here.",
        "zh": "> 无法获取 a.iso：文件过大，这里最多 20 MB。",
    }
    assert told.shown == [lines[language]]


async def test_a_rare_reason_is_quoted(tmp_path: Path) -> None:
    told = await fetched(tmp_path, Shelf(ChannelError("moon eclipse")), Attachment(name="a.txt"), language="zh")

    assert told.shown == ["> 无法获取 a.txt：原因是“moon eclipse”。"]


def test_a_full_disk_is_told_in_the_person_s_language() -> None:
    told = Fetched()
    told.lacks("a.txt", "kept", OSError(errno.ENOSPC, "No space left on device"), "zh")

    assert told.shown == ["> 无法保存 a.txt：磁盘已满。"]
