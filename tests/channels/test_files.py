"""Files to upload are read whole, unless they are too large or missing."""

from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.files import MIB, mime_type_of, read_upload


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
