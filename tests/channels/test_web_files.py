"""Files on the page: attached to a message, and shown in the chat."""

from pathlib import Path

import pytest
from aiohttp import FormData

from channels.attachments import Attachment
from channels.base import ChannelError, MessageReceived, OutboundMessage
from channels.web.adapter import CHAT
from channels.web.conversation import Shown
from tests.page_server import Page, files_in, fresh, history, say, upload

pytestmark = pytest.mark.both_loops


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


async def test_files_go_with_a_message_and_can_be_fetched_by_both_sides(page: Page) -> None:
    async with page.open(), page.browser() as client:
        _, body = await upload(client, {"cat.png": b"meow", "notes.txt": b"milk"})
        references = [file["reference"] for file in body["files"]]
        await say(client, "", files=references)
        shown = (await history(client))["messages"][0]
        async with client.get(shown["attachments"][0]["url"]) as answer:
            assert await answer.read() == b"meow"
            assert answer.headers["Content-Type"] == "image/png"

        event = page.heard[0]
        assert isinstance(event, MessageReceived)
        assert [(file.name, file.size) for file in event.attachments] == [("cat.png", 4), ("notes.txt", 4)]
        assert await page.channel.download(event.attachments[1]) == b"milk"


async def test_twenty_files_are_taken_and_the_next_is_not(page: Page) -> None:
    async with page.open(), page.browser() as client:
        status, body = await upload(client, {f"{number}.txt": b"x" for number in range(20)})
        assert (status, len(body["files"])) == (200, 20)
        assert await upload(client, {f"{number}.txt": b"x" for number in range(21)}) == (
            400,
            "at most 20 files at once",
        )


async def test_a_file_over_the_limit_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    page = Page(tmp_path, max_upload=1024 * 1024)
    async with page.open(), page.browser() as client:
        status, reason = await upload(client, {"big.bin": b"x" * (1024 * 1024 + 1)})
        fits, _ = await upload(client, {"fits.bin": b"x" * 1024 * 1024})

    assert (status, reason) == (413, "big.bin is larger than 1 MB, the limit here")
    assert fits == 200
    assert [each.name for each in files_in(tmp_path)] == ["fits.bin"]


@pytest.mark.parametrize(
    ("name", "kept"), [("../../.env", "env"), ("..", "file"), ("a\\..\\b.txt", "b.txt"), ("/etc/passwd", "passwd")]
)
async def test_a_file_name_leads_nowhere(page: Page, tmp_path: Path, name: str, kept: str) -> None:
    async with page.open(), page.browser() as client:
        status, body = await upload(client, {name: b"x"})

    assert (status, body["files"][0]["name"]) == (200, kept)
    written = files_in(tmp_path)
    assert [each.parent.parent for each in written] == [tmp_path / "uploads"]


async def test_a_page_in_a_file_is_saved_and_never_run(page: Page) -> None:
    async with page.open(), page.browser() as client:
        _, body = await upload(client, {"x.html": b"<script>alert(1)</script>", "x.svg": b"<svg/>"})
        for file in body["files"]:
            async with client.get(f"/api/files/{file['reference']}") as answer:
                assert answer.headers["Content-Type"] == "application/octet-stream"
                assert answer.headers["Content-Disposition"] == "attachment"
                assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("reference", ["..%2f..%2fpage.key", "..", "0" * 32, "%2e%2e%2fpage.key", "x" * 32])
async def test_a_made_up_reference_finds_nothing(page: Page, reference: str) -> None:
    async with page.open(), page.browser() as client:
        async with client.get(f"/api/files/{reference}") as answer:
            assert answer.status in (403, 404)
        async with client.post("/api/messages", json={"id": fresh(), "text": "", "files": [reference]}) as answer:
            assert answer.status == 400
    assert page.heard == []


async def test_a_file_of_ours_is_fetched_even_after_a_restart(page: Page, tmp_path: Path) -> None:
    report = tmp_path / "report.pdf"
    report.write_bytes(b"%PDF")
    message = OutboundMessage(markdown="here", attachments=(Attachment(name="report.pdf", path=str(report)),))
    async with page.open():
        posted = await page.channel.send(CHAT, message, "1")
    report.unlink()

    shown = Shown(who="parley", message_id=posted.message_id, markdown="here", at=1, attachments=message.attachments)
    later = Page(tmp_path, stored=[shown])
    async with later.open(), later.browser() as client:
        url = (await history(client))["messages"][0]["attachments"][0]["url"]
        async with client.get(url) as answer:
            assert await answer.read() == b"%PDF"


async def test_a_file_that_is_not_there_cannot_be_sent(page: Page, tmp_path: Path) -> None:
    gone = OutboundMessage(markdown="", attachments=(Attachment(name="gone", path=str(tmp_path / "gone")),))
    with pytest.raises(ChannelError, match="cannot send gone"):
        await page.channel.send(CHAT, gone, "1")


@pytest.mark.parametrize("path", ["/api/history", "/api/events", f"/api/files/{'0' * 32}"])
async def test_somebody_who_may_not_speak_reads_nothing(tmp_path: Path, path: str) -> None:
    page = Page(tmp_path, permits=False)
    async with page.open(), page.browser() as client, client.get(path) as answer:
        assert (answer.status, await answer.text()) == (403, "you may not speak with Parley here")


async def test_somebody_who_may_not_speak_leaves_no_file(tmp_path: Path) -> None:
    page = Page(tmp_path, permits=False)
    form = FormData()
    form.add_field("file", b"x", filename="x.txt")
    async with page.open(), page.browser() as client, client.post("/api/files", data=form) as answer:
        assert answer.status == 403
    assert not (tmp_path / "uploads").exists()
