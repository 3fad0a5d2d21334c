"""A file is written whole or not at all, and only inside the chat's workspace; tested with both openers."""

import asyncio
import fcntl
import os
from itertools import count
from pathlib import Path

import pytest

from agent_core.tools.files.editing import MOST_BYTES
from agent_core.tools.files.replace import locked
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import open_root
from tests.agent_core.files.workspace import OPENERS, OUTSIDE, Workspace, again_and_again
from tests.process import python

pytestmark = pytest.mark.in_turn("here", OPENERS, indirect=True)


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, request.param)


async def test_a_file_is_created_and_then_replaced(here: Workspace) -> None:
    assert await here.run("write_file", path="plan.md", content="Grüße\n") == "Created plan.md (8 B)."
    assert await here.run("write_file", path="./plan.md", content="") == "Replaced ./plan.md (0 B, was 8 B)."
    assert os.listdir(here.folder) == ["plan.md"]  # noqa: PTH208 - names only
    assert (here.folder / "plan.md").read_bytes() == b""


async def test_folders_are_made_on_the_way_for_nobody_else(here: Workspace) -> None:
    here.folder.rmdir()

    await here.run("write_file", path="a/b/c.txt", content="deep")

    assert (here.folder / "a/b/c.txt").read_text() == "deep"
    modes = [(here.folder / path).stat().st_mode & 0o777 for path in (".", "a", "a/b", "a/b/c.txt")]
    assert modes == [0o700, 0o700, 0o700, 0o600]


async def test_a_program_stays_one_when_it_is_replaced(here: Workspace) -> None:
    here.put("run.sh", "old").chmod(0o4755)

    await here.run("write_file", path="run.sh", content="new")

    assert (here.folder / "run.sh").stat().st_mode & 0o7777 == 0o755


async def test_line_ends_and_odd_characters_are_written_as_they_are(here: Workspace) -> None:
    await here.run("write_file", path="odd", content="a\r\nb\0\u2028\N{GRINNING FACE}")

    assert (here.folder / "odd").read_bytes() == "a\r\nb\0\u2028\N{GRINNING FACE}".encode()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../outside.txt", "leads out"),
        ("sub/../../outside.txt", "leads out"),
        ("/etc/motd", "is absolute"),
        ("a\0b", "no file name"),
        ("\ud800", "no file name"),
        ("", "is a folder"),
        ("./", "is a folder"),
        ("folder", "is a folder"),
        ("file/more", "no folder"),
        ("x" * 256, "too long"),
        ("link", "is a link"),
        ("out/outside.txt", "leads through one"),
        ("out/new/file", "leads through one"),
        ("dangling", "is a link"),
        ("twin", "hard link"),
        ("pipe", "no regular file"),
        ("socket", "no regular file"),
        ("kept", "read-only"),
    ],
)
async def test_other_places_are_refused_and_left_as_they_are(here: Workspace, path: str, words: str) -> None:
    """`edit_file` refuses the same paths as `write_file`."""
    here.put("file", "text")
    here.put("kept", "text").chmod(0o400)
    (here.folder / "folder").mkdir()
    (here.folder / "link").symlink_to(here.outside)
    (here.folder / "out").symlink_to(here.folder.parent)
    (here.folder / "dangling").symlink_to(here.folder.parent / "new")
    (here.folder / "twin").hardlink_to(here.outside)
    os.mkfifo(here.folder / "pipe")
    here.put_socket("socket")
    before = everything(here.folder.parent)

    assert words in await here.refusal("write_file", path=path, content="mine")
    assert words in await here.refusal("edit_file", path=path, old_text="text", new_text="mine")
    assert everything(here.folder.parent) == before


def everything(folder: Path) -> dict[str, object]:
    """Return every path below `folder` with its content, or its mode if it is not a file."""
    return {str(path): path.read_text() if path.is_file() else path.lstat().st_mode for path in folder.rglob("*")}


async def test_a_name_of_255_bytes_is_a_name(here: Workspace) -> None:
    name = "ß" * 127 + "x"

    await here.run("write_file", path=name, content="one")
    await here.run("write_file", path=name, content="two")

    assert {path.name: path.read_text() for path in here.folder.iterdir()} == {name: "two"}


async def test_too_much_is_refused_with_the_limit(here: Workspace) -> None:
    assert "5.0 MB is the most" in await here.refusal("write_file", path="big", content="x" * (MOST_BYTES + 1))
    assert await here.run("write_file", path="big", content="x" * MOST_BYTES) == "Created big (5.0 MB)."


async def test_half_a_character_is_refused(here: Workspace) -> None:
    assert "half a character" in await here.refusal("write_file", path="half", content="\ud800")
    assert list(here.folder.iterdir()) == []


async def test_a_link_swapped_in_meanwhile_leads_no_write_outside(here: Workspace) -> None:
    """Swap a folder with a link to the outside while a file is written into it."""
    (here.folder / "real").mkdir()
    (here.folder / "link").symlink_to(here.folder.parent)
    aside = (here.folder / f"made{number}" for number in count())

    def swap() -> None:
        for name in ("real", "link"):
            try:
                os.rename(here.folder / name, here.folder / "door")  # noqa: PTH104 - the bare call is the fastest
            except OSError:  # the write has created a folder there
                (here.folder / "door").rename(next(aside))
            else:
                os.rename(here.folder / "door", here.folder / name)  # noqa: PTH104

    with again_and_again(swap):
        for number in range(100):
            await here.refusal("write_file", path=f"door/{number}/outside.txt", content="mine")
            await here.refusal("write_file", path="door/outside.txt", content="mine")

    assert here.outside.read_text() == OUTSIDE
    assert {path.name for path in here.folder.parent.iterdir()} == {"outside.txt", "workspace"}


async def test_readers_see_the_old_content_or_the_new_and_never_half_of_it(here: Workspace) -> None:
    contents = ["a" * 200_000, "b" * 300_000]
    file = here.put("file", contents[0])
    seen: set[str] = set()

    with again_and_again(lambda: seen.add(file.read_text())):
        for number in range(40):
            await here.run("write_file", path="file", content=contents[number % 2])

    assert seen <= set(contents)


async def test_writes_at_the_same_time_leave_one_of_them(here: Workspace) -> None:
    texts = [f"{number}" * 10_000 for number in range(10)]

    await asyncio.gather(*(here.run("write_file", path="file", content=text) for text in texts))

    assert (here.folder / "file").read_text() in texts
    assert [path.name for path in here.folder.iterdir()] == ["file"]


def test_a_lock_that_somebody_keeps_is_waited_for_and_then_given_up(here: Workspace) -> None:
    """A program started by the model could hold the lock forever."""
    first, second = open_root(here.folder), open_root(here.folder)
    try:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(ToolFailed, match="something else is writing"), locked(second, wait_s=0.05):
            pass
        fcntl.flock(first, fcntl.LOCK_UN)
        with locked(second):
            pass
    finally:
        os.close(first)
        os.close(second)


async def test_what_a_killed_writer_left_behind_does_no_harm(here: Workspace) -> None:
    here.put("file", "old")
    here.put(".file.new", "hal")

    await here.run("write_file", path="file", content="new")

    assert {path.name: path.read_text() for path in here.folder.iterdir()} == {"file": "new"}


FULL = """
import asyncio, os, pathlib, resource, sys
from agent_core.workspace.safe_open import open_by_kernel, open_by_walk
from tests.agent_core.files.workspace import Workspace

here = Workspace(pathlib.Path(sys.argv[1]), {"kernel": open_by_kernel, "walk": open_by_walk}[sys.argv[2]])
here.put("file", "old text")
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
print(asyncio.run(here.refusal("write_file", path="file", content="x" * 20_000)))
print(asyncio.run(here.refusal("edit_file", path="file", old_text="old", new_text="x" * 20_000)))
print(asyncio.run(here.refusal("write_file", path="sub/file", content="x" * 20_000)))
print({str(path.relative_to(here.folder)): path.read_text() for path in here.folder.rglob("*") if path.is_file()})
"""


@pytest.mark.parametrize("way", OPENERS)
async def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(way: object, tmp_path: Path) -> None:
    there = await python("-c", FULL, str(tmp_path), getattr(way, "__name__", "").removeprefix("open_by_"))

    assert there.out.splitlines() == [
        *["there is no room left for file"] * 2,
        "there is no room left for sub/file",
        "{'file': 'old text'}",
    ]


NOBODY = """
import asyncio, os, pathlib, tempfile
from agent_core.workspace.safe_open import best_opener, open_by_walk
from tests.agent_core.files.workspace import Workspace

async def said(opener):
    with tempfile.TemporaryDirectory() as place:
        here = Workspace(pathlib.Path(place), opener)
        here.put("shut/file", "text")
        here.put("unreadable", "text").chmod(0o200)
        (here.folder / "shut").chmod(0o500)
        yield await here.refusal("write_file", path="shut/new", content="mine")
        yield await here.refusal("edit_file", path="shut/file", old_text="text", new_text="mine")
        yield await here.refusal("read_file", path="unreadable")
        yield await here.run("grep", pattern="text")
        (here.folder / "shut").chmod(0)
        yield await here.refusal("list_dir", path="shut")
        (here.folder / "shut").chmod(0o700)

async def main():
    for opener in (open_by_walk, best_opener()):
        [line async for line in said(opener)]  # imports what nobody may read
    os.setgid(65534), os.setuid(65534)
    for opener in (open_by_walk, best_opener()):
        print(*[line async for line in said(opener)], sep="\\n")

asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
async def test_what_is_not_permitted_is_refused_in_words(tmp_path: Path) -> None:
    there = await python("-c", NOBODY, environ={"TMPDIR": "/tmp"})  # noqa: S108 - a folder that everybody can enter

    once = [
        "there is no permission for shut/new",
        "there is no permission for shut/file",
        "there is no permission for unreadable",
        "shut/file:1: text",
        "[1 file not searched: too large, hard links, or no permission]",
        "there is no permission for shut",
    ]
    assert there.out.splitlines() == [*once, *once], there.err
