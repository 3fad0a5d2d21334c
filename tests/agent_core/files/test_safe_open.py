"""Opening by the kernel and opening step by step accept and refuse the same paths with the same errors."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.tools.files.confined import names_of, open_file, open_folder
from agent_core.tools.tool import ToolFailed
from agent_core.workspace.safe_open import (
    FILE_FLAGS,
    FOLDER_FLAGS,
    Opener,
    best_opener,
    open_by_kernel,
    open_by_walk,
    open_root,
)
from tests.agent_core.files.workspace import OPENERS
from tests.examples import examples
from tests.process import python

pytestmark = pytest.mark.skipif(best_opener() is not open_by_kernel, reason="this kernel has no openat2")

WITHOUT_OPENAT2 = """
import ctypes
from agent_core.workspace.safe_open import best_opener

class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32)]

class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("filters", ctypes.POINTER(Filter))]

# Load the call's number; 437 fails with the given error, everything else passes.
load, compare = Filter(0x20, 0, 0, 0), Filter(0x15, 0, 1, 437)
filters = (Filter * 4)(load, compare, Filter(0x06, 0, 0, 0x50000 | {error}), Filter(0x06, 0, 0, 0x7FFF0000))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(4, filters)), 0, 0) == 0, ctypes.get_errno()
print(best_opener().__name__)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with one path of each kind."""
    folder = tmp_path / "workspace"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "sub" / "file").write_text("text")
    (folder / "sub" / "deep" / "file").write_text("text")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to("sub")
    (folder / "sub" / "out").symlink_to(tmp_path)
    (folder / "absolute").symlink_to("/etc/passwd")
    (folder / "dangling").symlink_to("nothing")
    (folder / "loop").symlink_to("loop")
    (folder / "proc").symlink_to("/proc/self/fd")
    (folder / "twin").hardlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    return folder


NAMES = ("sub", "deep", "file", "link", "out", "absolute", "dangling", "loop", "proc", "twin", "pipe", "none", "secret")
ODD = ("0", "~", "x" * 256, "\udcff", "sub\n", "..sub", "...")


def outcome(opener: Opener, folder: Path, path: str) -> tuple[str, str]:
    """Return what opening the path as a file and as a folder gives."""
    said = []
    for open_it in (open_file, open_folder):
        try:
            handle = open_it(folder, path, opener)
        except ToolFailed as error:
            said.append(error.fact)
        else:
            said.append(f"{os.fstat(handle).st_ino - folder.stat().st_ino}")
            os.close(handle)
    return said[0], said[1]


@settings(
    max_examples=examples(500),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(names=st.lists(st.sampled_from((*NAMES, *ODD)), max_size=5))
def test_both_ways_come_to_the_same(folder: Path, names: list[str]) -> None:
    path = "/".join(names)

    assert outcome(open_by_kernel, folder, path) == outcome(open_by_walk, folder, path)


@pytest.mark.parametrize(
    ("path", "file", "as_folder"),
    [
        ("link", "is a link", "is a link"),
        ("link/file", "leads through one", "leads through one"),
        ("sub/out/secret", "leads through one", "leads through one"),
        ("dangling/file", "leads through one", "leads through one"),
        ("proc/0", "leads through one", "leads through one"),
        ("sub/file/more", "is no folder", "is no folder"),
        ("pipe", "is no regular file", "is no folder"),
        ("twin", "hard link", "is no folder"),
        ("sub", "is a folder", ""),
        ("x" * 256, "too long", "too long"),
        ("sub/" * 1200 + "file", "too long", "too long"),
        ("none/file", "there is no none/file", "there is no none/file"),
    ],
)
def test_each_way_says_why(folder: Path, path: str, file: str, as_folder: str) -> None:
    for opener in (open_by_kernel, open_by_walk):
        said = outcome(opener, folder, path)
        assert file in said[0]
        assert as_folder in said[1]


@pytest.fixture(params=OPENERS)
def opener(request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Each opener, checked to leave no file descriptor open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    found: Opener = request.param
    yield found
    assert len(list(Path("/proc/self/fd").iterdir())) <= before  # those of other tests may be closed meanwhile


def test_no_handle_is_left_open(opener: Opener, folder: Path) -> None:
    for path in ("sub/deep/file", "link/file", "sub/none", "sub/file/x", "twin", "pipe", ".", "sub/deep"):
        outcome(opener, folder, path)


def test_the_opener_itself_climbs_nowhere(folder: Path) -> None:
    """Holds even for a path that got past the check of names."""
    root = open_root(folder)
    try:
        with pytest.raises(OSError, match="cross-device") as refused:
            open_by_kernel(root, ("..", "secret"), FILE_FLAGS)
        assert refused.value.errno == errno.EXDEV
        with pytest.raises(OSError, match="cross-device"):
            open_by_kernel(root, ("/etc",), FOLDER_FLAGS)
    finally:
        os.close(root)
    with pytest.raises(ToolFailed, match="leads out"):
        names_of("sub/../../secret")


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM])
async def test_the_walk_is_taken_where_the_kernel_does_not_know_the_call_or_a_filter_forbids_it(error: int) -> None:
    there = await python("-c", WITHOUT_OPENAT2.replace("{error}", str(error)))

    assert (there.out, there.err) == ("open_by_walk\n", "")
