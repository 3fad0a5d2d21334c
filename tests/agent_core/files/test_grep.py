"""Search finds the same with and without ripgrep, and nothing outside the chat's workspace."""

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.cancel import CancelToken
from agent_core.messages import text_of
from agent_core.tools.files.grep import LINE_CHARS, MOST_HITS, PAGE_CHARS, find_ripgrep, grep_tool
from agent_core.tools.tool import ToolContext, ToolEnvironment, ToolFailed
from agent_core.workspace.safe_open import Opener, best_opener
from tests.agent_core.files.workspace import OPENERS, Workspace, again_and_again, call
from tests.examples import examples

RIPGREP = find_ripgrep()
WAYS = [
    pytest.param(RIPGREP, id="ripgrep", marks=pytest.mark.skipif(RIPGREP is None, reason="there is no ripgrep")),
    pytest.param(None, id="python"),
]
pytestmark = [
    pytest.mark.in_turn("way", WAYS, indirect=True),
    pytest.mark.in_turn("here", OPENERS, indirect=True),
]
both = pytest.mark.skipif(RIPGREP is None, reason="there is no ripgrep")


class Searched(Workspace):
    """A workspace that is searched with or without ripgrep."""

    def __init__(self, place: Path, opener: Opener, ripgrep: str | None, seconds: float = 20) -> None:
        super().__init__(place, opener)
        self.tools["grep"] = grep_tool(opener, ripgrep, seconds)

    async def grep(self, pattern: str, **arguments: str) -> list[str]:
        return (await self.run("grep", pattern=pattern, **arguments)).split("\n")


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str | None:
    found: str | None = request.param
    return found


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path, way: str | None) -> Searched:
    return Searched(tmp_path, request.param, way)


async def test_lines_are_found_in_all_files_in_the_order_of_names(here: Searched) -> None:
    here.put("b.txt", "a needle\nnothing\nneedles and pins\n")
    here.put("a/c.txt", "hay\n\tneedle")
    here.put("a.txt", "needle\n")

    assert await here.grep("needle") == [
        "a.txt:1: needle",
        "b.txt:1: a needle",
        "b.txt:3: needles and pins",
        "a/c.txt:2: \tneedle",
    ]
    assert await here.grep("^needle$", path="a.txt") == ["a.txt:1: needle"]
    assert await here.grep("needle", path="./a/") == ["a/c.txt:2: \tneedle"]
    assert await here.grep("nee?dles?$", glob="*.md") == ["(no match in 0 files)"]
    assert await here.grep("thread") == ["(no match in 3 files)"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/in/c.py"]),
        ("**/*.py", ["a.py", "src/b.py", "src/in/c.py"]),
        ("src/**/*.py", ["src/b.py", "src/in/c.py"]),
        ("src/*", ["src/b.py", "src/d.md", "src/in/c.py"]),
        ("[!ab].*", ["src/d.md", "src/in/c.py"]),
        ("../*", []),
        ("-e*", []),
    ],
)
async def test_a_glob_chooses_files_by_name_or_by_path(here: Searched, glob: str, found: list[str]) -> None:
    for path in ("a.py", "src/b.py", "src/in/c.py", "src/d.md"):
        here.put(path, "needle")

    hits = await here.grep("needle", glob=glob)

    assert [hit.removesuffix(":1: needle") for hit in hits if "no match" not in hit] == found


async def test_hidden_folders_are_searched_only_when_asked_for(here: Searched) -> None:
    here.put(".git/config", "needle")
    here.put(".env", "needle")

    assert await here.grep("needle") == [".env:1: needle"]
    assert await here.grep("needle", path=".git") == [".git/config:1: needle"]


async def test_a_long_line_is_cut_and_windows_line_ends_do_not_count(here: Searched) -> None:
    here.put("long.json", "x" * 5_000_000 + "\nend needle\r\n")

    assert await here.grep("^x") == ["long.json:1: " + "x" * LINE_CHARS + "…"]
    assert await here.grep("needle$") == ["long.json:2: end needle"]


async def test_many_matches_are_cut_and_that_is_told(here: Searched) -> None:
    here.put("short.txt", "needle\n" * (MOST_HITS + 1))
    here.put("wide.txt", ("needle " + "x" * 280 + "\n") * 90)

    short = await here.grep("needle", path="short.txt")
    wide = await here.run("grep", pattern="needle", path="wide.txt")

    assert short[-1] == "[only the first 100 matches; narrow the path, the glob or the pattern]"
    assert len(short) == MOST_HITS + 1
    assert len(wide) < PAGE_CHARS + 100
    assert wide.endswith("[only the first 39 matches; narrow the path, the glob or the pattern]")


async def test_all_that_is_no_text_of_this_workspace_is_left_out(here: Searched) -> None:
    here.put("text.txt", "needle")
    here.put("binary", b"\0needle\n")
    (here.folder / "link").symlink_to(here.outside)
    (here.folder / "folder").symlink_to(here.folder.parent)
    (here.folder / "twin").hardlink_to(here.outside)
    os.mkfifo(here.folder / "pipe")
    with (here.folder / "huge").open("wb") as stream:
        stream.truncate(8_000_001)
    skipped = "[2 files not searched: too large, hard links, or no permission]"

    assert await here.grep("needle|outside") == ["text.txt:1: needle", skipped]
    assert await here.grep("outside", path="twin") == ["(no match in 0 files)", skipped.replace("2 files", "1 file")]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("..", "leads out"),
        ("/etc", "is absolute"),
        ("a\0b", "no file name"),
        ("none", "there is no none"),
        ("link", "is a link"),
        ("folder/outside.txt", "leads through one"),
        ("text.txt/more", "no folder"),
        ("x" * 256, "too long"),
    ],
)
async def test_other_paths_are_refused_in_words(here: Searched, path: str, words: str) -> None:
    here.put("text.txt", "needle")
    (here.folder / "link").symlink_to(here.outside)
    (here.folder / "folder").symlink_to(here.folder.parent)

    assert words in await here.refusal("grep", pattern="x", path=path)


async def test_a_workspace_that_does_not_exist_yet_has_no_match(here: Searched) -> None:
    here.folder.rmdir()

    assert await here.grep("x") == ["(no match in 0 files)"]
    assert "there is no sub" in await here.refusal("grep", pattern="x", path="sub")


async def test_a_name_that_says_it_is_an_option_is_none(here: Searched) -> None:
    here.put("--pre=touch pwned", "needle")
    here.put("-v", "needle")
    here.put("bad\nname\x1b[31m", "needle")

    assert await here.grep("needle") == [
        "--pre=touch pwned:1: needle",
        "-v:1: needle",
        "bad\N{REPLACEMENT CHARACTER}name\N{REPLACEMENT CHARACTER}[31m:1: needle",
    ]
    assert await here.grep("--pre=touch pwned") == ["(no match in 3 files)"]
    assert await here.grep("-f/etc/passwd") == ["(no match in 3 files)"]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "no regular expression"),
        ("[", "no regular expression"),
        ("(" * 500, "no regular expression"),
        ("", "1 to 1000"),
        ("x" * 1001, "1 to 1000"),
        ("(((a{1000}){1000}){1000}){1000}", "repeats too much"),
        ("(?:" + "ab" * 400 + "){99999}", "repeats too much"),
    ],
)
async def test_a_pattern_that_is_none_is_refused(here: Searched, pattern: str, words: str) -> None:
    here.put("text.txt", "aaa")

    assert words in await here.refusal("grep", pattern=pattern)


@pytest.mark.parametrize("pattern", ["a\0b", "\ud800", "a\nb", r"(a)\1x", "(?=zz)z"])
async def test_a_pattern_that_only_python_takes_is_searched_by_python(here: Searched, pattern: str) -> None:
    here.put("text.txt", "a\nb\n")

    assert await here.grep(pattern) == ["(no match in 1 file)"]
    assert await here.grep(r"^(?=a)a") == ["text.txt:1: a"]


async def test_folders_without_end_and_without_files_are_given_up(tmp_path: Path) -> None:
    here = Searched(tmp_path, best_opener(), None, seconds=0.0)
    here.put("folder/text.txt", "a\n")

    assert "took too long" in await here.run("grep", pattern="a")


async def test_a_pattern_that_would_take_for_ever_is_stopped(tmp_path: Path) -> None:
    here = Searched(tmp_path, best_opener(), None, seconds=0.5)
    here.put("text.txt", "a" * 5000 + "b\n")

    said = await here.run("grep", pattern=r"(a|aa)+\1$|(a+)+\2c?$")

    assert "took too long" in said


async def test_the_rest_of_the_program_goes_on_meanwhile(tmp_path: Path) -> None:
    """The search of a slow pattern does not hold the GIL."""
    here = Searched(tmp_path, best_opener(), None, seconds=2)
    here.put("text.txt", "a" * 5000 + "b\n")
    tenths = set[int]()
    for _ in range(5):  # the machine itself may stop all of this program for a moment
        tenths.clear()
        with again_and_again(lambda: tenths.add(int(10 * time.monotonic()))):
            assert "took too long" in await here.run("grep", pattern=r"(a|aa)+\1$|(a+)+\2c?$")
        if len(tenths) > 5:
            break

    assert len(tenths) > 5, "tenths of the 2 seconds in which others ran"


async def test_a_search_that_is_cancelled_goes_no_further(here: Searched) -> None:
    here.put("text.txt", "needle")
    cancel = CancelToken()
    cancel.cancel()
    grep = here.tools["grep"]
    context = ToolContext("1", ToolEnvironment("s", here.folder), cancel=cancel)

    result = await grep.execute(grep.validate({"pattern": "needle"}), context)

    assert text_of(result.content) == "(no match in 0 files)"


async def test_a_ripgrep_that_does_not_run_is_done_without(tmp_path: Path) -> None:
    here = Searched(tmp_path, best_opener(), str(tmp_path / "none"))
    here.put("text.txt", "needle")

    assert await here.grep("needle") == ["text.txt:1: needle"]


async def test_a_link_swapped_in_meanwhile_leaks_nothing(here: Searched) -> None:
    here.put("real/outside.txt", "what stands inside")
    (here.folder / "link").symlink_to(here.folder.parent)

    def swap() -> None:
        for name in ("real", "link"):
            os.rename(here.folder / name, here.folder / "door")  # noqa: PTH104 - the bare call is the fastest
            os.rename(here.folder / "door", here.folder / name)  # noqa: PTH104

    with again_and_again(swap):
        seen = {line for _ in range(40) for line in await here.grep("what stands")}

    inside = {f"{folder}/outside.txt:1: what stands inside" for folder in ("real", "door")}
    assert seen <= {*inside, "(no match in 0 files)", "[1 file not searched: too large, hard links, or no permission]"}


CONTENTS = [
    "needle\nother needle\n",
    "Grüße\r\nneedle\r\n",
    b"\xef\xbb\xbfneedle first\n",
    "needle\nzwei\n".encode("utf-16"),
    b"caf\xe9 needle\n",
    b"\0\0needle\n",
    "",
    "\n\n\nneedle",
    "tab\tneedle\x0b\x0c\n\x1b[31m",
    "需要 needle\n",
    "x" * 3000 + "needle\n",
]
PATTERNS = [
    "needle", "^needle", "needle$", "^$", ".", r"\bzwei\b", r"Gr.{2}e", r"\w+ needle", "(?i)NEEDLE", "[^a-z ]", r"\s",
    "needle|zwei", r"^\S+$", "需要", "x{3,}", "(?:a|b)*needle", "", "^first|first$", r"\p{Han}", "-e", "--", "$",
]  # fmt: skip


@both
@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(
    pattern=st.sampled_from(PATTERNS),
    files=st.dictionaries(
        st.sampled_from(["a", "b.txt", "c/d", "c/e.txt", "f/g/h.md", ".i", ".j/k"]), st.sampled_from(CONTENTS)
    ),
    glob=st.sampled_from(["", "*.txt", "c/*", "**/h.md"]),
)
async def test_both_ways_find_the_same(tmp_path: Path, pattern: str, files: dict[str, str | bytes], glob: str) -> None:
    shutil.rmtree(tmp_path / "workspace", ignore_errors=True)
    here = Searched(tmp_path, best_opener(), RIPGREP)
    for path, content in files.items():
        here.put(path, content)
    answers = []
    for ripgrep in (RIPGREP, None):
        try:
            tool = grep_tool(best_opener(), ripgrep)
            result = await call(tool, here.folder, lambda _: None, {"pattern": pattern, "glob": glob})
        except ToolFailed as error:
            answers.append(error.fact)
        else:
            answers.append(text_of(result.content))

    assert answers[0] == answers[1]
