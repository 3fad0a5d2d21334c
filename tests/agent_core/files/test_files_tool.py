"""Reads stay inside the chat's workspace, whatever the path, links and files are; tested with both openers."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.tools.files.reading import LINE_CHARS, MOST_BYTES, PAGE_CHARS
from agent_core.tools.tool import ToolFailed
from tests.agent_core.files.workspace import OPENERS, OUTSIDE, Workspace, again_and_again
from tests.examples import examples

pytestmark = pytest.mark.in_turn("here", OPENERS, indirect=True)


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, request.param)


async def test_a_file_is_read(here: Workspace) -> None:
    (here.folder / "sub").mkdir()
    (here.folder / "sub" / "a b.txt").write_text("Grüße\n你好\n")

    assert await here.run("read_file", path="./sub//a b.txt") == "Grüße\n你好"


async def test_an_empty_file_says_so(here: Workspace) -> None:
    (here.folder / "empty").touch()

    assert await here.run("read_file", path="empty") == "(the file is empty)"


async def test_a_long_file_is_paged(here: Workspace) -> None:
    (here.folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 501)))

    first = await here.run("read_file", path="long.txt")
    middle = await here.run("read_file", path="long.txt", offset=201, limit=2)
    last = await here.run("read_file", path="long.txt", offset=500)

    assert first.startswith("line 1\n")
    assert first.endswith("line 200\n[lines 1-200 of 500; go on with offset=201]")
    assert middle == "line 201\nline 202\n[lines 201-202 of 500; go on with offset=203]"
    assert last == "line 500\n[lines 500-500 of 500]"
    with pytest.raises(ToolFailed, match="has 500 lines"):
        await here.run("read_file", path="long.txt", offset=501)


async def test_foolish_offsets_and_limits_still_give_a_page(here: Workspace) -> None:
    (here.folder / "two.txt").write_text("one\ntwo")

    assert await here.run("read_file", path="two.txt", offset=-5, limit=-1) == (
        "one\n[lines 1-1 of 2; go on with offset=2]"
    )
    assert await here.run("read_file", path="two.txt", limit=10**30) == "one\ntwo"


async def test_a_huge_line_is_cut_and_the_cut_is_told(here: Workspace) -> None:
    (here.folder / "huge.json").write_text("x" * 1_000_000 + "\nend\n")

    page = await here.run("read_file", path="huge.json")

    assert page == "x" * LINE_CHARS + f" [... {1_000_000 - LINE_CHARS} more characters in this line]\nend"


async def test_many_long_lines_stop_at_the_size_of_a_page(here: Workspace) -> None:
    (here.folder / "wide.txt").write_text("\n".join(["y" * 1900] * 50))

    page = await here.run("read_file", path="wide.txt")

    assert len(page) < PAGE_CHARS + 100
    assert page.endswith("[lines 1-6 of 50; go on with offset=7]")


async def test_a_huge_file_is_refused_with_its_limit(here: Workspace) -> None:
    with (here.folder / "huge.bin").open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)

    with pytest.raises(ToolFailed, match=r"huge.bin is larger than 8.0 MB"):
        await here.run("read_file", path="huge.bin")


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", bytes(range(128, 256)) * 4, b"text\0text"])
async def test_a_binary_file_is_named_as_such(here: Workspace, content: bytes) -> None:
    here.put("program", content)

    assert "program is a binary file" in await here.refusal("read_file", path="program")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_text_that_names_its_encoding_is_text(here: Workspace, encoding: str) -> None:
    (here.folder / "windows.txt").write_bytes("Grüße\r\nzwei".encode(encoding))

    assert await here.run("read_file", path="windows.txt") == "Grüße\nzwei"


async def test_text_whose_encoding_is_a_guess_says_so(here: Workspace) -> None:
    (here.folder / "old.csv").write_bytes("日付;商品\n1;りんご\n".encode("cp932"))

    page = await here.run("read_file", path="old.csv")

    assert page == "日付;商品\n1;りんご\n[read as Shift-JIS, which is a guess]"


async def test_what_is_broken_in_a_text_is_counted(here: Workspace) -> None:
    (here.folder / "odd.txt").write_bytes("Grüße an äöü und ß".encode() + b"\xff")

    page = await here.run("read_file", path="odd.txt")

    assert page.endswith("\ufffd\n[1 broken character shown as \ufffd]")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../outside.txt", "leads out"),
        ("sub/../../outside.txt", "leads out"),
        ("/etc/passwd", "is absolute"),
        ("..", "leads out"),
        ("a\0b", "no file name"),
        ("\ud800", "no file name"),
        ("missing.txt", "there is no missing.txt"),
        ("", "is a folder"),
        (".", "is a folder"),
        ("x" * 300, "too long"),
        ("bad\nname\x1b[31m", "there is no bad�name�"),
    ],
)
async def test_other_paths_are_refused_in_words(here: Workspace, path: str, words: str) -> None:  # S2-35
    with pytest.raises(ToolFailed, match=words):
        await here.run("read_file", path=path)


async def test_links_are_not_followed(here: Workspace) -> None:  # S2-35
    (here.folder / "file").symlink_to(here.outside)
    (here.folder / "folder").symlink_to(here.folder.parent)
    (here.folder / "loop").symlink_to("loop")

    for path in ("file", "folder/outside.txt", "folder", "loop"):
        with pytest.raises(ToolFailed, match="link"):
            await here.run("read_file", path=path)
    with pytest.raises(ToolFailed, match="link"):
        await here.run("list_dir", path="folder")


async def test_a_link_swapped_in_meanwhile_leaks_nothing(here: Workspace) -> None:
    """Swap a folder with a link to the outside in a loop while its file is read. `bench` does 60,000 reads."""
    here.put("real/outside.txt", "inside")
    (here.folder / "link").symlink_to(here.folder.parent)

    def swap() -> None:
        for name in ("real", "link"):
            os.rename(here.folder / name, here.folder / "door")  # noqa: PTH104 - the bare call is the fastest
            os.rename(here.folder / "door", here.folder / name)  # noqa: PTH104

    with again_and_again(swap):
        seen = {await _outcome(here, "door/outside.txt") for _ in range(300)}

    assert OUTSIDE not in seen
    assert seen <= {"inside", "refused"}


async def _outcome(here: Workspace, path: str) -> str:
    try:
        return await here.run("read_file", path=path)
    except ToolFailed:
        return "refused"


async def test_a_second_name_of_a_file_outside_is_refused(here: Workspace) -> None:
    (here.folder / "mine.txt").hardlink_to(here.outside)

    assert "hard link" in await here.refusal("read_file", path="mine.txt")


async def test_what_is_no_file_is_refused_without_waiting_for_it(here: Workspace) -> None:
    os.mkfifo(here.folder / "pipe")
    here.put_socket("socket")

    for path in ("pipe", "socket"):
        assert "is no regular file" in await here.refusal("read_file", path=path)


async def test_a_device_is_refused(here: Workspace) -> None:
    try:
        os.mknod(here.folder / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root may make devices")

    assert await here.refusal("read_file", path="zero")


async def test_a_file_that_may_not_be_read_is_refused(here: Workspace) -> None:
    here.put("shut.txt", "shut").chmod(0)
    if os.access(here.folder / "shut.txt", os.R_OK):
        pytest.skip("root may read everything")

    assert await here.refusal("read_file", path="shut.txt") == "there is no permission for shut.txt"


async def test_a_file_that_grows_meanwhile_is_read_to_some_end(here: Workspace) -> None:
    file = here.put("log.txt", "a line\n" * 100)

    def grow() -> None:
        with file.open("ab") as log:
            log.write(b"a line\n" * 1000)

    with again_and_again(grow):
        outcome = await _outcome(here, "log.txt")

    assert outcome == "refused" or outcome.startswith("a line\n")


async def test_a_line_of_five_megabytes_is_read(here: Workspace) -> None:
    here.put("one.json", "x" * 5_000_000)

    page = await here.run("read_file", path="one.json")

    assert page == "x" * LINE_CHARS + f" [... {5_000_000 - LINE_CHARS} more characters in this line]"


async def test_a_file_is_no_folder_on_the_way(here: Workspace) -> None:
    (here.folder / "file").write_text("text")

    with pytest.raises(ToolFailed, match="no folder"):
        await here.run("read_file", path="file/more")
    with pytest.raises(ToolFailed, match="no folder"):
        await here.run("list_dir", path="file")


async def test_a_workspace_that_does_not_exist_yet_is_empty(here: Workspace) -> None:
    here.folder.rmdir()

    assert await here.run("list_dir") == "(the workspace is empty)"
    assert await here.refusal("read_file", path="welcome.txt") == "there is no welcome.txt in the workspace"


async def test_a_folder_is_listed(here: Workspace) -> None:
    (here.folder / "b.txt").write_bytes(b"x" * 1500)
    (here.folder / "a").mkdir()
    (here.folder / "evil\nname").touch()
    (here.folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(here.folder / "pipe")

    assert (await here.run("list_dir")).split("\n") == [
        "a/",
        "b.txt (1.5 kB)",
        "evil�name (0 B)",
        "link (a link, not followed)",
        "pipe (no regular file)",
    ]
    assert await here.run("list_dir", path="a") == "(empty)"


async def test_a_crowded_folder_is_cut_and_the_cut_is_told(here: Workspace) -> None:
    for number in range(205):
        (here.folder / f"{number:03}").touch()

    assert (await here.run("list_dir")).split("\n")[-2:] == ["199 (0 B)", "[5 more]"]


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(path=st.text(max_size=30) | st.lists(st.sampled_from(["..", ".", "", "sub", "outside.txt", "~"])).map("/".join))
async def test_no_path_at_all_leads_outside(here: Workspace, path: str) -> None:
    assert await _outcome(here, path) == "refused"
