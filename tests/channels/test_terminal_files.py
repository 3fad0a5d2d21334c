"""Files named in a terminal line: existing ones are attached, anything else stays text."""

import asyncio
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from channels.attachments import Attachment
from channels.base import ChannelError
from channels.capabilities import Downloads
from channels.terminal.adapter import Pipe, TerminalChannel
from channels.terminal.attachments import LARGEST, named_files


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "sales.csv"
    file.write_text("month,north\n")
    return file


async def nothing() -> None:
    """Return at once, as if no run were active."""


@pytest.fixture
def channel() -> Iterator[TerminalChannel]:
    reading, writing = os.pipe()
    try:
        yield TerminalChannel(idle=nothing, screen=Pipe(reading, io.StringIO()))
    finally:
        os.close(writing)
        os.close(reading)


def test_a_named_file_goes_along_under_its_plain_name(table: Path) -> None:
    text, files = named_files(f"chart @{table} for me")

    assert text == "chart sales.csv for me"
    assert files == (Attachment(name="sales.csv", mime_type="text/csv", size=12, reference=str(table)),)


@pytest.mark.parametrize("behind", [".", "?", ", please", "。"])
def test_what_stands_behind_a_name_is_no_part_of_it(table: Path, behind: str) -> None:
    text, files = named_files(f"chart @{table}{behind}")

    assert text == f"chart sales.csv{behind}"
    assert len(files) == 1


def test_a_name_with_spaces_is_quoted_or_has_backslashes(tmp_path: Path) -> None:
    (tmp_path / "my sales.csv").write_text("x")
    escaped = str(tmp_path / "my sales.csv").replace(" ", "\\ ")

    for line in (f'chart @"{tmp_path}/my sales.csv"', f"chart @'{tmp_path}/my sales.csv'", f"chart @{escaped}"):
        text, files = named_files(line)
        assert text == "chart my sales.csv"
        assert len(files) == 1


@pytest.mark.parametrize(
    "line",
    [
        "ask @bob",
        "ann@a.org",
        "@",
        "@/no/such.csv",
        "@/dev/zero",
        "@/tmp",
        "@~nobody-here/x",
        "@a\0b",
        "@" + "x" * 5000,
    ],
)
def test_anything_else_stays_as_it_was_written(line: str) -> None:
    assert named_files(line) == (line, ())


async def test_the_file_is_read_when_it_is_fetched(channel: TerminalChannel, table: Path) -> None:
    assert isinstance(channel, Downloads)
    [file] = named_files(f"@{table}")[1]

    assert await channel.download(file) == b"month,north\n"
    await asyncio.to_thread(table.unlink)
    with pytest.raises(ChannelError, match=r"sales.csv cannot be read: No such file"):
        await channel.download(file)


async def test_a_file_that_is_too_large_is_not_taken(channel: TerminalChannel, tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    large.touch()
    os.truncate(large, LARGEST + 1)
    [named] = named_files(f"@{large}")[1]

    with pytest.raises(ChannelError, match=r"larger than 50 MB"):
        await channel.download(named)
