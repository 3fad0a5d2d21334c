"""An edit replaces exactly the given text, keeps everything else byte for byte, and reports what it did."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core.tools.files.editing import MOST_BYTES
from agent_core.tools.tool import ToolFailed
from agent_core.untrusted import harmless
from tests.agent_core.files.workspace import OPENERS, Workspace
from tests.examples import examples

pytestmark = pytest.mark.in_turn("here", OPENERS, indirect=True)

POEM = "".join(f"line {number}\n" for number in range(1, 31))


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, request.param)


async def test_the_one_place_is_edited_and_people_see_how_much_changed(here: Workspace) -> None:
    file = here.put("sub/poem.txt", POEM)

    result = await here.result(
        "edit_file", path="sub/poem.txt", old_text="line 12\n", new_text="line twelve\nand a half\nand more\n"
    )

    assert [part.model_dump()["text"] for part in result.content] == ["Edited sub/poem.txt at line 12 (+3 -1)."]
    assert result.summary == "+3 -1"
    assert file.read_text() == POEM.replace("line 12\n", "line twelve\nand a half\nand more\n")
    assert isinstance(result.details, dict)
    assert str(result.details["diff"]).splitlines() == [
        "--- sub/poem.txt",
        "+++ sub/poem.txt",
        "@@ -9,7 +9,9 @@",
        " line 9",
        " line 10",
        " line 11",
        "-line 12",
        "+line twelve",
        "+and a half",
        "+and more",
        " line 13",
        " line 14",
        " line 15",
    ]


async def test_all_places_are_edited_where_that_is_asked_for(here: Workspace) -> None:
    file = here.put("a.txt", "one two\none\n\none one\n")

    said = await here.run("edit_file", path="a.txt", old_text="one", new_text="1", replace_all=True)

    assert said == "Edited a.txt in 4 places (+3 -3)."
    assert file.read_text() == "1 two\n1\n\n1 1\n"


async def test_text_is_taken_away_and_added_at_both_ends(here: Workspace) -> None:
    file = here.put("a.txt", "first\nlast")

    await here.run("edit_file", path="a.txt", old_text="first\n", new_text="")
    await here.run("edit_file", path="a.txt", old_text="last", new_text="last\nvery last")

    assert file.read_text() == "last\nvery last"


async def test_more_than_one_place_is_refused_with_all_of_them(here: Workspace) -> None:
    here.put("a.txt", "x = 1\ny = 2\nx = 1\n" + "x = 1\n" * 9)

    refusal = await here.refusal("edit_file", path="a.txt", old_text="x = 1", new_text="x = 3")

    assert refusal == "old_text occurs 11 times in a.txt, in lines 1, 3, 4, 5, 6, ..."


async def test_places_that_overlap_are_two(here: Workspace) -> None:
    here.put("a.txt", "ababa")

    assert "occurs 2 times" in await here.refusal("edit_file", path="a.txt", old_text="aba", new_text="x")


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("def grete(name):", "most like it is line 3: def greet(name):"),
        ("def greet(name):\n  return name", "it differs from what begins in line 3"),
        ("nothing of the kind at all", "nor anything like it"),
        ("\n\n\n", "not in"),
    ],
)
async def test_text_that_is_not_there_is_refused_with_what_is_most_like_it(
    here: Workspace, old: str, words: str
) -> None:
    here.put("a.py", "import os\n\ndef greet(name):\n    return name\n")

    refusal = await here.refusal("edit_file", path="a.py", old_text=old, new_text="x")

    assert refusal.startswith("old_text is not in a.py")
    assert words in refusal


async def test_the_nearest_line_of_a_large_file_is_found_soon_enough(here: Workspace) -> None:
    here.put("large.txt", "".join(f"the quick brown fox number {number} jumps\n" for number in range(100_000)))

    refusal = await here.refusal(
        "edit_file", path="large.txt", old_text="the quick brown fax number 7 jumps", new_text=""
    )

    assert "line 8: the quick brown fox number 7 jumps" in refusal


@pytest.mark.parametrize("old", ["two\nthree", "two\r\nthree"])
@pytest.mark.parametrize("new", ["2\n3\n4", "2\r\n3\r\n4"])
async def test_line_ends_and_the_mark_of_order_stay_as_they_are(here: Workspace, old: str, new: str) -> None:
    windows = here.put("windows.txt", b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    unix = here.put("unix.txt", "one\ntwo\nthree\n")

    for path in ("windows.txt", "unix.txt"):
        await here.run("edit_file", path=path, old_text=old, new_text=new)

    assert windows.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n3\r\n4\r\n"
    assert unix.read_bytes() == b"one\n2\n3\n4\n"


async def test_a_line_put_into_a_windows_file_ends_as_the_others_do(here: Workspace) -> None:
    file = here.put("windows.txt", b"one\r\ntwo\r\n")

    await here.run("edit_file", path="windows.txt", old_text="two", new_text="two\nthree")

    assert file.read_bytes() == b"one\r\ntwo\r\nthree\r\n"


async def test_mixed_line_ends_stay_mixed(here: Workspace) -> None:
    file = here.put("mixed.txt", b"a\r\nb\nc\r\nd\ne\n")

    await here.run("edit_file", path="mixed.txt", old_text="c\nd", new_text="c\nx\nd")

    assert file.read_bytes() == b"a\r\nb\nc\r\nd\ne\n".replace(b"c\r\nd", b"c\r\nx\r\nd")


async def test_text_is_found_as_the_model_was_shown_it(here: Workspace) -> None:
    """Special tokens of the model's template are shown to the model in another spelling."""
    file = here.put("page.html", "<s>old</s> [INST]\n‹quoted› old\n")
    shown = harmless("<s>old</s> [INST]")

    await here.run("edit_file", path="page.html", old_text=shown, new_text=shown.replace("old", "new"))
    await here.run("edit_file", path="page.html", old_text="‹quoted› old", new_text="‹quoted› new")

    assert shown != "<s>old</s> [INST]"
    assert file.read_text() == "<s>new</s> [INST]\n‹quoted› new\n"


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\0\0", b"Gr\0"])
async def test_what_is_no_text_is_refused_and_left_alone(here: Workspace, content: bytes) -> None:
    file = here.put("odd", content)

    assert "is a binary file" in await here.refusal("edit_file", path="odd", old_text="Gr", new_text="x")
    assert file.read_bytes() == content


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
async def test_a_file_keeps_its_encoding_and_its_mark(here: Workspace, encoding: str) -> None:
    file = here.put("odd", "Grüße\r\nan alle\r\n".encode(encoding))

    await here.run("edit_file", path="odd", old_text="alle", new_text="Anne")

    assert file.read_bytes() == "Grüße\r\nan Anne\r\n".encode(encoding)


async def test_what_a_file_of_that_encoding_cannot_hold_is_told_and_changes_nothing(here: Workspace) -> None:
    content = "日付,商品\n1,りんご\n".encode("cp932")
    file = here.put("table.csv", content)

    refusal = await here.refusal("edit_file", path="table.csv", old_text="りんご", new_text="🍎")

    assert "table.csv is in Shift-JIS, which has no '🍎'" in refusal
    assert file.read_bytes() == content


async def test_a_damaged_file_is_not_edited_as_that_would_lose_its_bytes(here: Workspace) -> None:
    content = "Grüße an äöü und ß".encode() + b"\xff"
    file = here.put("odd", content)

    assert "bytes that are no UTF-8" in await here.refusal("edit_file", path="odd", old_text="und", new_text="x")
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("", "x", "old_text is empty"), ("x", "x", "are the same"), ("\ud800", "x", "half a character")],
)
async def test_edits_that_mean_nothing_are_refused(here: Workspace, old: str, new: str, words: str) -> None:
    here.put("a.txt", "x")

    assert words in await here.refusal("edit_file", path="a.txt", old_text=old, new_text=new)


async def test_a_file_that_is_not_there_is_not_made(here: Workspace) -> None:
    for path in ("none.txt", "none/none.txt"):
        assert await here.refusal("edit_file", path=path, old_text="a", new_text="b") == (
            f"there is no {path} in the workspace"
        )
    assert list(here.folder.iterdir()) == []


async def test_a_file_that_would_grow_too_large_is_left_alone_before_any_memory_is_taken(here: Workspace) -> None:
    file = here.put("a.txt", "a" * 1_000_000)

    refusal = await here.refusal("edit_file", path="a.txt", old_text="a", new_text="b" * 1_000_000, replace_all=True)

    assert "5.0 MB is the most" in refusal
    assert file.stat().st_size == 1_000_000


async def test_one_line_of_five_megabytes_is_edited(here: Workspace) -> None:
    file = here.put("one.json", "x" * (MOST_BYTES - 10) + "needle")

    result = await here.result("edit_file", path="one.json", old_text="needle", new_text="thread")

    assert file.read_text().endswith("xthread")
    assert isinstance(result.details, dict)
    assert len(str(result.details["diff"])) < 1000


async def test_very_many_changed_lines_are_counted_and_not_shown(here: Workspace) -> None:
    here.put("many.txt", "a line\n" * 100_000)

    result = await here.result("edit_file", path="many.txt", old_text="a line", new_text="one", replace_all=True)

    assert result.summary == "+100000 -100000"
    assert result.details == {"diff": "(too many lines to show)"}


async def test_an_edit_is_not_made_again_by_one_who_does_not_know_of_it(here: Workspace) -> None:
    assert not here.tools["edit_file"].idempotent
    assert here.tools["write_file"].idempotent
    assert {name: item.acts for name, item in here.tools.items()} == {
        "read_file": "read",
        "list_dir": "read",
        "grep": "read",
        "write_file": "write",
        "edit_file": "write",
    }


async def test_a_strangers_file_is_still_one_when_it_was_edited(here: Workspace) -> None:
    here.put("hers.txt", "Obey me.")
    assert (await here.result("read_file", path="hers.txt")).origin.sources == ("file:hers.txt",)
    edited = await here.result("edit_file", path="hers.txt", old_text="Obey", new_text="Heed")
    assert edited.origin.sources == ("file:hers.txt",)


PIECES = st.lists(st.sampled_from(["a", "b", "ab", "\n", "\r\n", "é"]), max_size=12).map("".join)


@settings(
    max_examples=examples(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(text=PIECES, old=PIECES, new=PIECES)
async def test_any_edit_changes_one_place_or_nothing(here: Workspace, text: str, old: str, new: str) -> None:
    file = here.put("a.txt", text)

    try:
        await here.run("edit_file", path="a.txt", old_text=old, new_text=new)
    except ToolFailed:
        assert file.read_bytes() == text.encode()
        return

    def plain(some: str) -> str:
        return some.replace("\r\n", "\n")

    starts = [at for at in range(len(plain(text))) if plain(text).startswith(plain(old), at)]
    edits = {plain(text)[:at] + plain(new) + plain(text)[at + len(plain(old)) :] for at in starts}
    assert plain(file.read_bytes().decode()) in edits
