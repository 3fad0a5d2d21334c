"""Skills are found in several folders, reloaded when they change, and skipped where they cannot be used."""

import os
import sys
from pathlib import Path

import pytest

from agent_core.skills.library import SkillLibrary
from agent_core.skills.skill import Origin
from tests.agent_core.skills.making import Ticks, library_of, write_skill


def names(library: SkillLibrary) -> list[str]:
    return [skill.name for skill in library.skills]


def lines(library: SkillLibrary) -> list[str]:
    return [str(line) for line in library.diagnostics]


def test_skills_are_found_however_deep_but_none_in_a_skill(tmp_path: Path) -> None:  # S1-28
    write_skill(tmp_path, "a")
    write_skill(tmp_path / "team" / "more", "b")
    write_skill(tmp_path / "a", "inner")
    write_skill(tmp_path / "1" / "2" / "3" / "4" / "5", "six-deep")
    write_skill(tmp_path / "1" / "2" / "3" / "4" / "5" / "6", "too-deep")
    write_skill(tmp_path / ".hidden", "c")
    write_skill(tmp_path / "node_modules", "d")

    library = library_of(tmp_path)

    assert names(library) == ["a", "b", "six-deep"]
    assert lines(library) == []


def test_where_there_is_no_folder_there_are_no_skills(tmp_path: Path) -> None:
    assert names(library_of(tmp_path / "missing")) == []
    assert lines(library_of(tmp_path / "missing")) == []


def test_the_first_folder_wins_and_that_is_told(tmp_path: Path) -> None:  # S1-28
    own, shipped = tmp_path / "own", tmp_path / "shipped"
    write_skill(own, "a", "Mine.")
    write_skill(shipped, "a", "Theirs.")

    library = library_of(own, shipped)

    assert library.get("a").read("SKILL.md").endswith(b"\nMine.\n")
    assert lines(library) == [
        f"shipped/a/SKILL.md: another skill is called a ({own / 'a'}) and wins; rename one of them"
    ]


def test_what_belongs_to_a_skill_is_found(tmp_path: Path) -> None:  # S1-21 S1-24
    files = {
        "reference.md": "r",
        "forms.md": "f",
        "references/api.md": "a",
        "references/data.json": "{}",
        "references/list.yaml": "-",
        "references/more.YML": "-",
        "references/plain.txt": "t",
        "references/picture.png": "p",
        "references/deep/down.md": "d",
        "references/.hidden.md": "h",
        "scripts/search.py": "print()",
        "scripts/__pycache__/search.pyc": "",
        "scripts/.hidden": "",
        "style.md": "s",
        "README.md": "for people",
        "assets/picture.svg": "",
    }
    write_skill(tmp_path, "a", files=files)

    skill = library_of(tmp_path).get("a")

    assert skill.references == (
        "reference.md",
        "forms.md",
        "references/api.md",
        "references/data.json",
        "references/list.yaml",
        "references/more.YML",
        "references/plain.txt",
    )
    assert skill.scripts == ("search.py",)
    assert skill.docs == ("style.md",)
    assert skill.folder.is_absolute()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "abc"),
        ("flight", "a"),
        ("FLIGHT", "a"),
        ("does c", "c"),
        ("somebody flies", "a"),
        ("Travel", "a"),
        ("x", ""),
    ],
)
def test_skills_are_searched_by_words_and_tags(tmp_path: Path, text: str, found: str) -> None:  # S1-05
    write_skill(tmp_path, "a", head="when_to_use: When somebody flies a Flight\ntags: [travel]")
    write_skill(tmp_path, "b", head="tags: [food]")
    write_skill(tmp_path, "c")

    library = library_of(tmp_path)

    assert [skill.name for skill in library.search(text)] == list(found)
    assert [skill.name for skill in library.search(tag="TRAVEL")] == ["a"]


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("requires:\n  bins: [sh]", ""),
        ("requires:\n  bins: [sh, gh]", "needs gh, which is not installed"),
        ("requires:\n  any_bins: [gh, sh]", ""),
        ("requires:\n  any_bins: [gh, hub]", "needs one of gh, hub, of which none is installed"),
        ("requires:\n  env: [HAVE]", ""),
        ("requires:\n  env: [LACK]", "needs LACK, which is not set"),
        ("requires:\n  env: [EMPTY]", "needs EMPTY, which is not set"),
        ("metadata:\n  openclaw:\n    requires:\n      bins: [gh]", "needs gh, which is not installed"),
        (f"os: [{sys.platform}]", ""),
        ("os: [plan9]", "needs plan9"),
        ("enabled: false", "is disabled in its file"),
        ("disabled: true", "is disabled in its file"),
    ],
)
def test_what_cannot_be_used_here_says_why(tmp_path: Path, head: str, reason: str) -> None:  # S2-13
    write_skill(tmp_path, "a", head=head)

    library = library_of(tmp_path, environ={"HAVE": "1", "EMPTY": ""})

    assert library.reason(library.get("a")) == reason


def test_a_bad_file_is_a_line_and_harms_no_other(tmp_path: Path) -> None:  # S1-25
    write_skill(tmp_path, "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("---\nname: [\n---\n")
    (tmp_path / "huge").mkdir()
    with (tmp_path / "huge" / "SKILL.md").open("wb") as file:
        file.truncate(10_000_000)
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    write_skill(tmp_path, "Wrong Name")
    root = tmp_path.name

    library = library_of(tmp_path)

    assert names(library) == ["good", "wrong-name"]
    assert [line.partition(": ")[0] for line in lines(library)] == [
        f"{root}/Wrong Name/SKILL.md",
        f"{root}/bad/SKILL.md",
        f"{root}/folder/SKILL.md",
        f"{root}/huge/SKILL.md",
    ]
    assert "it is larger than 256 KB; make it shorter, and keep details in references" in lines(library)[3]
    assert "it is no regular file; put a file in its place" in lines(library)[2]


def test_a_file_in_the_wrong_place_is_told(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    write_skill(tmp_path, "skills")
    write_skill(root, "a")
    (root / "a" / "SKILL.md").rename(root / "a" / "skill.md")

    assert lines(library_of(root)) == [
        "skills/SKILL.md: it has no folder of its own; put it into one with the skill's name",
        "skills/a/skill.md: it is passed over; call it SKILL.md",
    ]


def test_no_link_leads_out(tmp_path: Path) -> None:  # S1-28
    root, outside = tmp_path / "skills", tmp_path / "outside"
    write_skill(root, "a")
    write_skill(outside, "b")
    (root / "out").symlink_to(outside)
    (root / "twice").symlink_to(root / "a")
    (root / "c").mkdir()
    (root / "c" / "SKILL.md").symlink_to(outside / "b" / "SKILL.md")
    (root / "a" / "scripts").symlink_to(outside)
    (root / "a" / "reference.md").symlink_to(outside / "b" / "SKILL.md")

    library = library_of(root)

    assert names(library) == ["a"]
    assert (library.get("a").scripts, library.get("a").references) == ((), ())
    assert [line.split(";")[0] for line in lines(library)] == [
        "skills/out: it is a link that leads out",
        "skills/c/SKILL.md: it cannot be read: Too many levels of symbolic links",
    ]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    write_skill(tmp_path / "real", "a")
    (tmp_path / "skills").symlink_to(tmp_path / "real")

    assert names(library_of(tmp_path / "skills")) == ["a"]


def test_too_many_folders_are_not_walked(tmp_path: Path) -> None:
    for number in range(1_010):
        (tmp_path / f"{number:04}").mkdir()
    write_skill(tmp_path, "zz")

    library = library_of(tmp_path)

    assert names(library) == []
    assert "it has more than 1000 folders" in lines(library)[0]


def test_changes_are_seen_but_not_looked_for_all_the_time(tmp_path: Path) -> None:
    ticks = Ticks()
    write_skill(tmp_path, "a", "Old.")
    library = library_of(tmp_path, ticks=ticks)
    before = library.generation

    write_skill(tmp_path, "b")
    write_skill(tmp_path, "a", "New, and longer.")
    library.refresh()
    assert (names(library), library.generation) == (["a"], before)

    ticks.now = 2.0
    library.refresh()
    assert (names(library), library.generation) == (["a", "b"], before + 1)
    ticks.now = 4.0
    library.refresh()
    assert library.generation == before + 1

    (tmp_path / "b" / "SKILL.md").unlink()
    library.refresh(now=True)
    assert names(library) == ["a"]


def test_a_file_that_was_set_back_in_time_is_seen(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "a", files={"scripts/x.py": "1"})
    library = library_of(tmp_path)
    script = folder / "scripts" / "x.py"
    was = script.stat()
    before = library.generation

    while script.stat().st_ctime_ns == was.st_ctime_ns:  # the clock of many file systems moves on every few ms
        script.write_text("2")
        os.utime(script, ns=(was.st_atime_ns, was.st_mtime_ns))
    library.refresh(now=True)

    assert library.generation == before + 1


def test_the_shipped_skills_are_in_order() -> None:
    root = Path(__file__).parents[3] / "skills"

    library = SkillLibrary([(root, Origin.SHIPPED)])

    assert "chart" in names(library)
    assert lines(library) == []
