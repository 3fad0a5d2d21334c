"""Reading stays inside the chat's workspace, whatever the path, the links and the files are."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.builtin.files import LINE_CHARS, MOST_BYTES, PAGE_CHARS, list_dir, read_file
from agent_core.cancel import CancelToken
from agent_core.messages import JsonObject, text_of
from agent_core.tools import Tool, ToolContext, ToolFailed

OUTSIDE = "what stands outside"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text(OUTSIDE)
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def run(tool: Tool, workspace: Path, **arguments: str | int) -> str:
    context = ToolContext(
        call_id="1", session_id="s", workspace=workspace, cancel=CancelToken(), on_update=lambda _: None
    )
    given_arguments: JsonObject = dict(arguments)
    return text_of((await tool.execute(tool.validate(given_arguments), context)).content)


async def test_a_file_is_read(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "a b.txt").write_text("Grüße\n你好\n")

    assert await run(read_file, workspace, path="./sub//a b.txt") == "Grüße\n你好"


async def test_an_empty_file_says_so(workspace: Path) -> None:
    (workspace / "empty").touch()

    assert await run(read_file, workspace, path="empty") == "(the file is empty)"


async def test_a_long_file_is_paged(workspace: Path) -> None:
    (workspace / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 501)))

    first = await run(read_file, workspace, path="long.txt")
    middle = await run(read_file, workspace, path="long.txt", offset=201, limit=2)
    last = await run(read_file, workspace, path="long.txt", offset=500)

    assert first.startswith("line 1\n")
    assert first.endswith("line 200\n[lines 1-200 of 500; go on with offset=201]")
    assert middle == "line 201\nline 202\n[lines 201-202 of 500; go on with offset=203]"
    assert last == "line 500\n[lines 500-500 of 500]"
    with pytest.raises(ToolFailed, match="has 500 lines"):
        await run(read_file, workspace, path="long.txt", offset=501)


async def test_foolish_offsets_and_limits_still_give_a_page(workspace: Path) -> None:
    (workspace / "two.txt").write_text("one\ntwo")

    assert await run(read_file, workspace, path="two.txt", offset=-5, limit=-1) == (
        "one\n[lines 1-1 of 2; go on with offset=2]"
    )
    assert await run(read_file, workspace, path="two.txt", limit=10**30) == "one\ntwo"


async def test_a_huge_line_is_cut_and_the_cut_is_told(workspace: Path) -> None:
    (workspace / "huge.json").write_text("x" * 1_000_000 + "\nend\n")

    page = await run(read_file, workspace, path="huge.json")

    assert page == "x" * LINE_CHARS + f" [... {1_000_000 - LINE_CHARS} more characters in this line]\nend"


async def test_many_long_lines_stop_at_the_size_of_a_page(workspace: Path) -> None:
    (workspace / "wide.txt").write_text("\n".join(["y" * 1900] * 50))

    page = await run(read_file, workspace, path="wide.txt")

    assert len(page) < PAGE_CHARS + 100
    assert page.endswith("[lines 1-6 of 50; go on with offset=7]")


async def test_a_huge_file_is_refused_with_its_limit(workspace: Path) -> None:
    with (workspace / "huge.bin").open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)

    with pytest.raises(ToolFailed, match=r"huge.bin is larger than 8.0 MB"):
        await run(read_file, workspace, path="huge.bin")


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(128, 256)) * 4, b"text\0text"])
async def test_a_binary_file_is_named_as_such(workspace: Path, content: bytes) -> None:
    (workspace / "picture.png").write_bytes(content)

    with pytest.raises(ToolFailed, match=r"picture.png is a binary file"):
        await run(read_file, workspace, path="picture.png")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
async def test_text_that_names_its_encoding_is_text(workspace: Path, encoding: str) -> None:
    (workspace / "windows.txt").write_bytes("Grüße\r\nzwei".encode(encoding))

    assert await run(read_file, workspace, path="windows.txt") == "Grüße\nzwei"


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
async def test_other_paths_are_refused_in_words(workspace: Path, path: str, words: str) -> None:
    with pytest.raises(ToolFailed, match=words):
        await run(read_file, workspace, path=path)


async def test_links_are_not_followed(workspace: Path) -> None:
    (workspace / "file").symlink_to(workspace.parent / "outside.txt")
    (workspace / "folder").symlink_to(workspace.parent)
    (workspace / "loop").symlink_to("loop")

    for path in ("file", "folder/outside.txt", "folder", "loop"):
        with pytest.raises(ToolFailed, match="link"):
            await run(read_file, workspace, path=path)
    with pytest.raises(ToolFailed, match="link"):
        await run(list_dir, workspace, path="folder")


async def test_a_link_swapped_in_meanwhile_leaks_nothing(workspace: Path) -> None:
    """A folder changes places with a link to the outside as fast as it can, while its file is read."""
    (workspace / "real").mkdir()
    (workspace / "real" / "outside.txt").write_text("inside")
    (workspace / "link").symlink_to(workspace.parent)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for name in ("real", "link"):
                os.rename(workspace / name, workspace / "door")  # noqa: PTH104 - the bare call is the fastest
                os.rename(workspace / "door", workspace / name)  # noqa: PTH104

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = {await _outcome(workspace, "door/outside.txt") for _ in range(300)}
    finally:
        done.set()
        swapper.join()

    assert OUTSIDE not in seen
    assert seen <= {"inside", "refused"}


async def _outcome(workspace: Path, path: str) -> str:
    try:
        return await run(read_file, workspace, path=path)
    except ToolFailed:
        return "refused"


async def test_a_pipe_is_refused_without_waiting_for_it(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")

    with pytest.raises(ToolFailed, match="no regular file"):
        await run(read_file, workspace, path="pipe")


async def test_a_file_is_no_folder_on_the_way(workspace: Path) -> None:
    (workspace / "file").write_text("text")

    with pytest.raises(ToolFailed, match="no folder"):
        await run(read_file, workspace, path="file/more")
    with pytest.raises(ToolFailed, match="no folder"):
        await run(list_dir, workspace, path="file")


async def test_a_workspace_that_does_not_exist_yet_is_empty(tmp_path: Path) -> None:
    assert await run(list_dir, tmp_path / "none") == "(the workspace is empty)"
    with pytest.raises(ToolFailed, match=r"there is no welcome.txt"):
        await run(read_file, tmp_path / "none", path="welcome.txt")


async def test_a_folder_is_listed(workspace: Path) -> None:
    (workspace / "b.txt").write_bytes(b"x" * 1500)
    (workspace / "a").mkdir()
    (workspace / "evil\nname").touch()
    (workspace / "link").symlink_to("/etc/passwd")
    os.mkfifo(workspace / "pipe")

    assert (await run(list_dir, workspace)).split("\n") == [
        "a/",
        "b.txt (1.5 kB)",
        "evil�name (0 B)",
        "link (a link, not followed)",
        "pipe (no regular file)",
    ]
    assert await run(list_dir, workspace, path="a") == "(empty)"


async def test_a_crowded_folder_is_cut_and_the_cut_is_told(workspace: Path) -> None:
    for number in range(205):
        (workspace / f"{number:03}").touch()

    assert (await run(list_dir, workspace)).split("\n")[-2:] == ["199 (0 B)", "[5 more]"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(max_size=30) | st.lists(st.sampled_from(["..", ".", "", "sub", "outside.txt", "~"])).map("/".join))
async def test_no_path_at_all_leads_outside(workspace: Path, path: str) -> None:
    assert await _outcome(workspace, path) == "refused"
