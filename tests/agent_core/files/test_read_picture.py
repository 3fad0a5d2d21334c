"""A vision model is given the picture; any other model is told what the file is."""

import base64
from pathlib import Path

import pytest

from agent_core.messages import ImageContent, TextContent
from agent_core.tools.files.pictures import PICTURE_BYTES
from agent_core.workspace.safe_open import best_opener
from tests.agent_core.files.workspace import Workspace

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + b"\0" * 50 + b"\xff\xd9"
GIF = base64.b64decode("R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=")
WEBP = b"RIFF" + (20).to_bytes(4, "little") + b"WEBPVP8L" + b"\0" * 12
KINDS = [
    pytest.param(PNG, "image/png", id="png"),
    pytest.param(JPEG, "image/jpeg", id="jpeg"),
    pytest.param(GIF, "image/gif", id="gif"),
    pytest.param(WEBP, "image/webp", id="webp"),
]


@pytest.fixture
def seeing(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, best_opener(), vision=True)


@pytest.mark.parametrize(("content", "kind"), KINDS)
async def test_a_picture_is_told_by_its_first_bytes_and_shown(seeing: Workspace, content: bytes, kind: str) -> None:
    seeing.put("chart.dat", content)

    result = await seeing.result("read_file", path="chart.dat")

    assert result.content == (
        TextContent(text=f"chart.dat ({kind}, {len(content)} B)"),
        ImageContent(data=base64.b64encode(content).decode(), mime_type=kind),
    )


@pytest.mark.parametrize(("content", "kind"), KINDS)
async def test_a_model_without_eyes_is_told_so(tmp_path: Path, content: bytes, kind: str) -> None:
    blind = Workspace(tmp_path, best_opener())
    blind.put("chart", content)

    assert await blind.refusal("read_file", path="chart") == (
        f"chart is a picture ({len(content)} B), which this model cannot see"
    ), kind


@pytest.mark.parametrize(("content", "kind"), KINDS)
async def test_half_a_picture_is_refused_for_it_would_spoil_the_chat(
    seeing: Workspace, content: bytes, kind: str
) -> None:
    seeing.put("half", content[: len(content) // 2])

    assert "whose end is missing" in await seeing.refusal("read_file", path="half"), kind


async def test_a_picture_that_is_too_large_is_refused_with_the_limit(seeing: Workspace) -> None:
    seeing.put("large.jpg", JPEG + b"\0" * PICTURE_BYTES)

    assert await seeing.refusal("read_file", path="large.jpg") == (
        "large.jpg is a picture of 5.0 MB; at most 5.0 MB can be seen"
    )


async def test_other_files_are_read_as_ever(seeing: Workspace) -> None:
    seeing.put("a.png", "just words")
    seeing.put("b.png", b"\x89PNG but not quite\0")

    assert await seeing.run("read_file", path="a.png") == "just words"
    assert "is a binary file" in await seeing.refusal("read_file", path="b.png")
