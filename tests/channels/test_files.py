"""Files to upload are read whole, unless they are too large or missing."""

import asyncio
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.files import MIB, delete_whole, mime_type_of, read_upload


async def test_a_file_up_to_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x" * MIB)

    assert len(await read_upload(Attachment(name="a.bin", path=str(tmp_path / "a.bin")), "Slack takes", MIB)) == MIB


@pytest.mark.parametrize(
    ("size", "reason"),
    [(MIB + 1, r"a\.bin is too large: Slack takes files of at most 1 MB"), (None, r"a\.bin cannot be read: No such")],
)
async def test_a_file_that_cannot_be_sent_is_a_permanent_error(tmp_path: Path, size: int | None, reason: str) -> None:
    if size is not None:
        (tmp_path / "a.bin").write_bytes(b"x" * size)

    with pytest.raises(ChannelError, match=reason) as refused:
        await read_upload(Attachment(name="a.bin", path=str(tmp_path / "a.bin")), "Slack takes", MIB)

    assert refused.value.permanent


def test_the_type_follows_from_the_name() -> None:
    assert (mime_type_of("a.png"), mime_type_of("a.unknown")) == ("image/png", "application/octet-stream")


async def test_two_may_delete_a_folder_at_the_same_time(tmp_path: Path) -> None:
    for folder in range(30):
        (tmp_path / "chat" / str(folder)).mkdir(parents=True)
        for name in range(10):
            (tmp_path / "chat" / str(folder) / str(name)).touch()

    await asyncio.gather(*(asyncio.to_thread(delete_whole, tmp_path / "chat") for _ in range(4)))

    assert not (tmp_path / "chat").exists()
